//! Thousands of random incarnations, nonsense included: nothing panics, and the contract holds.

use super::*;

#[test]
fn any_incarnation_keeps_the_contract() {
    keeps_the_contract::<Bully>(1_500, &lan());
}

#[test]
fn any_incarnation_without_preemption_keeps_the_contract() {
    keeps_the_contract::<Bully>(800, &never());
}

#[test]
fn any_incarnation_with_patient_preemption_keeps_the_contract() {
    keeps_the_contract::<Bully>(800, &after_a_second());
}

#[test]
fn any_incarnation_with_a_margin_keeps_the_contract() {
    keeps_the_contract::<Bully>(500, &with(|config| config.margin = Some(3.into())));
}

#[test]
fn any_incarnation_without_a_detector_keeps_the_contract() {
    keeps_the_contract::<Bully>(500, &with(|config| config.timings = Timings::astra()));
}
