//! Reads and writes values whose form in a file differs from serde's form. serde's derives handle all other values.
//!
//! Decided here: the form of a duration, a score, a path and each list of words, and that a section is a table. Not
//! here: which keys exist (`settings.rs`), and the errors for wrong values (`read.rs`).

use std::{fmt, marker::PhantomData, path::PathBuf, time::Duration};

use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, Visitor, value::MapAccessDeserializer},
};
use toml::Value;

use crate::{
    elections::bully::Preemption,
    protocol::{Score, Timings},
    remote::MayBe,
    store::OpenStore,
};

use super::duration;

/// A type of value whose form in a file is not the form of serde.
pub(super) trait Leaf: Sized {
    /// The expected values, in words for an error.
    const WANTED: &'static str;
    fn read(value: &Value) -> Option<Self>;
    /// Returns the value in the form of a file; `None` for a key that is not set.
    fn write(&self) -> Option<Value>;
}

impl<T: Leaf> Leaf for Option<T> {
    const WANTED: &'static str = T::WANTED;
    fn read(value: &Value) -> Option<Self> {
        T::read(value).map(Some)
    }
    fn write(&self) -> Option<Value> {
        self.as_ref().and_then(Leaf::write)
    }
}

/// The functions by which the derives of serde read and write a [`Leaf`].
pub(super) mod leaf {
    use serde::{
        Deserialize, Deserializer, Serialize, Serializer,
        de::{Error, Unexpected},
    };

    use super::{Leaf, Value};

    pub(in crate::config) fn deserialize<'de, T: Leaf, D: Deserializer<'de>>(
        from: D,
    ) -> Result<T, D::Error> {
        let refused = || D::Error::invalid_value(Unexpected::Other("another value"), &T::WANTED);
        T::read(&Value::deserialize(from)?).ok_or_else(refused)
    }

    pub(in crate::config) fn serialize<T: Leaf, S: Serializer>(
        value: &T,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        value.write().serialize(to)
    }
}

/// Returns whether a key has the default value of its type, so that it need not be written.
pub(super) fn unset<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Reads a section, from a table only. The derive alone would also accept a list of the values without their keys.
pub(super) fn section<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    from: D,
) -> Result<T, D::Error> {
    Section::deserialize(from).map(|Section(read)| read)
}

/// Reads a list of sections.
pub(super) fn sections<'de, T, L, D>(from: D) -> Result<L, D::Error>
where
    T: Deserialize<'de>,
    L: From<Vec<T>>,
    D: Deserializer<'de>,
{
    let read = Vec::<Section<T>>::deserialize(from)?;
    let list: Vec<T> = read.into_iter().map(|Section(read)| read).collect();
    Ok(list.into())
}

struct Section<T>(T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Section<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_map(SectionReading(PhantomData))
    }
}

struct SectionReading<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for SectionReading<T> {
    type Value = Section<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a section of its own")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Section<T>, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map)).map(Section)
    }
}

impl Leaf for PathBuf {
    const WANTED: &'static str = "the path of a file, in quotes";
    fn read(value: &Value) -> Option<Self> {
        let text = value.as_str().filter(|text| !text.is_empty());
        text.map(Self::from)
    }
    fn write(&self) -> Option<Value> {
        Some(self.to_string_lossy().as_ref().into())
    }
}

impl Leaf for Duration {
    const WANTED: &'static str =
        "a duration in quotes: a whole number and ns, us, ms, s, min or h, such as \"40ms\"";
    fn read(value: &Value) -> Option<Self> {
        duration::parse(value.as_str()?)
    }
    fn write(&self) -> Option<Value> {
        Some(duration::show(*self).into())
    }
}

impl Leaf for Score {
    const WANTED: &'static str = "a whole number, or a list of one to four of them";
    fn read(value: &Value) -> Option<Self> {
        let one = std::slice::from_ref(value);
        let parts = value.as_array().map_or(one, Vec::as_slice);
        let parts: Option<Vec<i64>> = parts.iter().map(Value::as_integer).collect();
        match *parts? {
            [a] => Some(Self::from(a)),
            [a, b] => Some(Self::from((a, b))),
            [a, b, c] => Some(Self::from((a, b, c))),
            [a, b, c, d] => Some(Self::from((a, b, c, d))),
            _ => None,
        }
    }
    fn write(&self) -> Option<Value> {
        Some(match self.parts() {
            [part, 0, 0, 0] => part.into(),
            parts => parts.to_vec().into(),
        })
    }
}

impl Leaf for Preemption {
    const WANTED: &'static str = "\"immediately\", \"never\" or a duration such as \"10s\"";
    fn read(value: &Value) -> Option<Self> {
        match value.as_str()? {
            "immediately" => Some(Self::Immediately),
            "never" => Some(Self::Never),
            after => duration::parse(after).map(Self::After),
        }
    }
    fn write(&self) -> Option<Value> {
        Some(match self {
            Self::Immediately => "immediately".into(),
            Self::Never => "never".into(),
            Self::After(after) => duration::show(*after).into(),
        })
    }
}

/// The presets of [`Timings`] that have a failure detector.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum TimingsPreset {
    /// [`Timings::default`].
    #[default]
    Default,
    /// [`Timings::lan`].
    Lan,
    /// [`Timings::fast`].
    Fast,
    /// [`Timings::wan`].
    Wan,
    /// [`Timings::in_process`].
    InProcess,
}

impl TimingsPreset {
    pub(super) fn timings(self) -> Timings {
        match self {
            Self::Default => Timings::default(),
            Self::Lan => Timings::lan(),
            Self::Fast => Timings::fast(),
            Self::Wan => Timings::wan(),
            Self::InProcess => Timings::in_process(),
        }
    }
}

/// Implements [`Leaf`] for types whose values are a few words.
macro_rules! words {
    ($($type:ty, $wanted:literal: $($word:literal $variant:ident)*;)*) => { $(
        impl Leaf for $type {
            const WANTED: &'static str = $wanted;
            fn read(value: &Value) -> Option<Self> {
                match value.as_str()? {
                    $($word => Some(Self::$variant),)*
                    _ => None,
                }
            }
            fn write(&self) -> Option<Value> {
                Some(match self { $(Self::$variant => $word.into(),)* })
            }
        }
    )* };
}
words! {
    MayBe, "\"leader\", \"voter\" or \"observer\"":
        "leader" Leader "voter" Voter "observer" Observer;
    OpenStore, "\"open\", \"create\" or \"open-or-create\"":
        "open" Open "create" Create "open-or-create" OpenOrCreate;
    TimingsPreset, "\"default\", \"lan\", \"fast\", \"wan\" or \"in_process\"":
        "default" Default "lan" Lan "fast" Fast "wan" Wan "in_process" InProcess;
}
