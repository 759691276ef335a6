//! A list in a message, of at most [`MOST`] items, also if another host made it.
//!
//! A peer sends the number of items before the items. A wrong number or too many items must not cost memory beyond the
//! limit. So the list is read item by item, and refused at the first item beyond the limit.

use std::{fmt, marker::PhantomData};

use serde::{
    Deserialize, Deserializer, Serialize,
    de::{Error, SeqAccess, Visitor},
};

/// Largest number of members that one lap can list. A member with a score takes nine items of a message, and a bridge
/// accepts 1,024 items by default, so it would refuse a longer list. In a larger ring, the members without a place in
/// the list can still follow a leader and challenge it.
pub const MOST: usize = 100;

/// At most [`MOST`] items, in the order in which they were added.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(transparent)]
pub struct Bounded<T>(Vec<T>);

impl<T> Bounded<T> {
    /// Returns a list with one item.
    pub fn of(item: T) -> Self {
        Self(vec![item])
    }

    /// Adds an item at the end. Returns whether there was room for it.
    pub fn push(&mut self, item: T) -> bool {
        let has_room = self.0.len() < MOST;
        if has_room {
            self.0.push(item);
        }
        has_room
    }

    /// Returns the items, in order.
    pub fn as_slice(&self) -> &[T] {
        &self.0
    }
}

impl<T> Default for Bounded<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Bounded<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(Reader(PhantomData))
    }
}

struct Reader<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for Reader<T> {
    type Value = Bounded<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a list of at most {MOST} items")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut list = Bounded::default(); // the announced number of items reserves no memory
        while let Some(item) = seq.next_element()? {
            if !list.push(item) {
                return Err(A::Error::invalid_length(MOST + 1, &self));
            }
        }
        Ok(list)
    }
}
