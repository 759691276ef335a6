//! Decodes serde's types from MessagePack, in one spelling only.
//!
//! Decided here: the one spelling. `rmp-serde` writes it: the shortest numbers, lengths and texts; a struct as the
//! array of its fields; a variant as its name, or as a map from its name to its content.
//!
//! # Why `rmp-serde` is used to write only
//! - A peer could end this process with one byte: if a type contains itself in an option or a newtype, the decoder
//!   of `rmp-serde` recurses without reading anything, and overflows the stack whatever its limit of depth is. Here
//!   every level of the *type* counts.
//! - It also accepts longer numbers, structs as maps, variants by number, and bytes that remain. Then one message
//!   has many spellings, and two releases may read the same bytes as two messages.
//!
//! | type | bytes |
//! |---|---|
//! | integer | the shortest of the 10 forms; a signed form only for a number below zero |
//! | text, `char` | UTF-8, within the bounds |
//! | `None`, `()` | nil |
//! | `Some(x)`, a newtype | as `x` |
//! | struct, tuple | an array of exactly as many items as it has |
//! | sequence | an array; memory is reserved for items that were read, not for the announced number |
//! | `Variant` | its name |
//! | `Variant(x)`, `Variant { .. }` | a map of one entry: the name, then `x`, or an array |
//! | map; types that ask for the kind of the next value | refused: the same value has many spellings |
//!
//! Depth counts every level of the *type*, so that no type can recurse without an end.

use serde::{
    Deserializer,
    de::{DeserializeOwned, DeserializeSeed, EnumAccess, SeqAccess, VariantAccess, Visitor},
};

use super::{
    Bounds, WireError,
    read::{Cursor, Integer},
};

type DecodeResult<T> = Result<T, WireError>;

/// Reads one value and nothing else.
#[inline]
pub(super) fn decode<T: DeserializeOwned>(bytes: &[u8], bounds: Bounds) -> DecodeResult<T> {
    let mut strict = Strict {
        cursor: Cursor::new(bytes, bounds),
        depth: bounds.depth,
        items: bounds.items,
    };
    let value = T::deserialize(&mut strict)?;
    strict.cursor.end()?;
    Ok(value)
}

struct Strict<'de> {
    cursor: Cursor<'de>,
    /// Number of levels of nesting that may still follow.
    depth: u8,
    /// Number of array items that may still follow, in all arrays of the message together.
    items: usize,
}

impl<'de> Strict<'de> {
    /// Goes one level down, and up again afterwards.
    #[inline]
    fn deeper<T>(&mut self, inside: impl FnOnce(&mut Self) -> DecodeResult<T>) -> DecodeResult<T> {
        self.depth = self.depth.checked_sub(1).ok_or(WireError::Depth)?;
        let value = inside(self)?;
        self.depth = self.depth.saturating_add(1);
        Ok(value)
    }

    /// Reads an array, all of whose items have to be read.
    #[inline]
    fn array<V: Visitor<'de>>(&mut self, len: usize, visitor: V) -> DecodeResult<V::Value> {
        // The bound is for all arrays together: otherwise nested arrays would multiply it.
        self.items = self.items.checked_sub(len).ok_or(WireError::Items)?;
        self.deeper(|strict| {
            let mut items = Items { strict, left: len };
            let value = visitor.visit_seq(&mut items)?;
            if items.left == 0 {
                Ok(value)
            } else {
                Err(WireError::Type)
            }
        })
    }

    #[inline]
    fn array_of<V: Visitor<'de>>(&mut self, len: usize, visitor: V) -> DecodeResult<V::Value> {
        self.cursor.array_of(len)?;
        self.array(len, visitor)
    }

    #[inline]
    fn integer<V: Visitor<'de>>(&mut self, visitor: V) -> DecodeResult<V::Value> {
        match self.cursor.integer()? {
            Integer::Unsigned(value) => visitor.visit_u64(value),
            Integer::Negative(value) => visitor.visit_i64(value),
        }
    }

    fn nil(&mut self) -> DecodeResult<()> {
        if self.cursor.nil() {
            Ok(())
        } else {
            Err(self.cursor.peek().err().unwrap_or(WireError::Type))
        }
    }
}

macro_rules! integers {
    ($($method:ident)*) => { $(
        #[inline]
        fn $method<V: Visitor<'de>>(self, visitor: V) -> DecodeResult<V::Value> {
            self.integer(visitor)
        }
    )* };
}

macro_rules! texts {
    ($($method:ident)*) => { $(
        #[inline]
        fn $method<V: Visitor<'de>>(self, visitor: V) -> DecodeResult<V::Value> {
            visitor.visit_borrowed_str(self.cursor.text()?)
        }
    )* };
}

macro_rules! refused {
    ($($method:ident)*) => { $(
        fn $method<V: Visitor<'de>>(self, _visitor: V) -> DecodeResult<V::Value> {
            Err(WireError::Type)
        }
    )* };
}

impl<'de> Deserializer<'de> for &mut Strict<'de> {
    type Error = WireError;

    integers! {
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64
    }

    texts! { deserialize_str deserialize_string deserialize_identifier }

    refused! { deserialize_any deserialize_ignored_any deserialize_map }

    #[inline]
    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> DecodeResult<V::Value> {
        visitor.visit_bool(self.cursor.boolean()?)
    }

    fn deserialize_f32<V: Visitor<'de>>(self, visitor: V) -> DecodeResult<V::Value> {
        visitor.visit_f32(self.cursor.float32()?)
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> DecodeResult<V::Value> {
        visitor.visit_f64(self.cursor.float64()?)
    }

    fn deserialize_char<V: Visitor<'de>>(self, visitor: V) -> DecodeResult<V::Value> {
        let mut chars = self.cursor.text()?.chars();
        match (chars.next(), chars.next()) {
            (Some(one), None) => visitor.visit_char(one),
            _ => Err(WireError::Value),
        }
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> DecodeResult<V::Value> {
        visitor.visit_borrowed_bytes(self.cursor.bytes()?)
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> DecodeResult<V::Value> {
        self.deserialize_bytes(visitor)
    }

    #[inline]
    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> DecodeResult<V::Value> {
        if self.cursor.nil() {
            return visitor.visit_none();
        }
        self.deeper(|strict| visitor.visit_some(strict))
    }

    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> DecodeResult<V::Value> {
        self.nil()?;
        visitor.visit_unit()
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> DecodeResult<V::Value> {
        self.cursor.array_of(0)?;
        visitor.visit_unit()
    }

    #[inline]
    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> DecodeResult<V::Value> {
        self.deeper(|strict| visitor.visit_newtype_struct(strict))
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> DecodeResult<V::Value> {
        let len = self.cursor.array()?;
        self.array(len, visitor)
    }

    #[inline]
    fn deserialize_tuple<V: Visitor<'de>>(self, len: usize, visitor: V) -> DecodeResult<V::Value> {
        self.array_of(len, visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        len: usize,
        visitor: V,
    ) -> DecodeResult<V::Value> {
        self.array_of(len, visitor)
    }

    #[inline]
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> DecodeResult<V::Value> {
        self.array_of(fields.len(), visitor)
    }

    #[inline]
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> DecodeResult<V::Value> {
        let has_content = self.cursor.single_entry();
        self.deeper(|strict| {
            visitor.visit_enum(Variant {
                strict,
                has_content,
            })
        })
    }

    fn is_human_readable(&self) -> bool {
        // The writer has the same setting. The setting matters because some types are written in another form for
        // people.
        false
    }
}

/// The items of an array. Serde gets no hint of their number, so that a type reserves memory only for items that were
/// read.
struct Items<'a, 'de> {
    strict: &'a mut Strict<'de>,
    left: usize,
}

impl<'de> SeqAccess<'de> for &mut Items<'_, 'de> {
    type Error = WireError;

    #[inline]
    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> DecodeResult<Option<T::Value>> {
        let Some(left) = self.left.checked_sub(1) else {
            return Ok(None);
        };
        self.left = left;
        seed.deserialize(&mut *self.strict).map(Some)
    }
}

/// A variant: its name, and its content if the name is in a map.
struct Variant<'a, 'de> {
    strict: &'a mut Strict<'de>,
    has_content: bool,
}

impl Variant<'_, '_> {
    #[inline]
    fn content(&self, is_expected: bool) -> DecodeResult<()> {
        if self.has_content == is_expected {
            Ok(())
        } else {
            Err(WireError::Type)
        }
    }
}

impl<'de> EnumAccess<'de> for Variant<'_, 'de> {
    type Error = WireError;
    type Variant = Self;

    #[inline]
    fn variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> DecodeResult<(T::Value, Self)> {
        let name = seed.deserialize(&mut *self.strict)?;
        Ok((name, self))
    }
}

impl<'de> VariantAccess<'de> for Variant<'_, 'de> {
    type Error = WireError;

    fn unit_variant(self) -> DecodeResult<()> {
        self.content(false)
    }

    #[inline]
    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> DecodeResult<T::Value> {
        self.content(true)?;
        seed.deserialize(self.strict)
    }

    fn tuple_variant<V: Visitor<'de>>(self, len: usize, visitor: V) -> DecodeResult<V::Value> {
        self.content(true)?;
        self.strict.array_of(len, visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> DecodeResult<V::Value> {
        self.content(true)?;
        self.strict.array_of(fields.len(), visitor)
    }
}
