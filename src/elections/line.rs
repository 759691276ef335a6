//! The names by which some machines still call the [slots](super::shared::slot).

pub(in crate::elections) use super::shared::slot::{LAST, behind as place, delay as wait};
