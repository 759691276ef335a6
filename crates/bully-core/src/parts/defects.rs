//! One way to list the rules of an election that can be broken on purpose.
//!
//! [`defects!`](defects!) takes the election's configuration and a line for each rule. It makes the list,
//! and the question `has` that the rules ask the configuration. Nothing of it can be switched on in a build
//! without the feature `planted`, which is never enabled by default: there the answer is a constant `false`.

#[doc(hidden)]
#[macro_export]
macro_rules! defects {
    ($config:ident: $($(#[$doc:meta])* $name:ident,)+) => {
        /// One rule, broken on purpose, to prove that the tests would find it.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        #[cfg_attr(
            not(feature = "planted"),
            allow(
                dead_code,
                unreachable_pub,
                unnameable_types,
                reason = "only builds with that feature plant any"
            )
        )]
        pub enum Defect {
            $($(#[$doc])* $name,)+
        }

        #[cfg(feature = "planted")]
        impl Defect {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$name,)+];
        }

        impl $config {
            /// Whether that rule is broken on purpose: never, but in tests of the tests.
            #[cfg(any(test, feature = "planted"))]
            pub(super) fn has(&self, defect: Defect) -> bool {
                self.defect == Some(defect)
            }

            /// Nothing is planted here.
            #[cfg(not(any(test, feature = "planted")))]
            pub(super) const fn has(&self, _: Defect) -> bool {
                false
            }
        }
    };
}

pub use crate::defects;
