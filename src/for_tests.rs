//! What only tests name: public with the feature `testkit`, and of the crate itself without it.

/// Gives an item that only tests name, or each of several methods, its visibility: `pub` with the feature
/// `testkit`, else `pub(crate)`. Tests, benchmarks, fuzz targets and the model checker look at what an
/// application has no use for, and the face of the crate stays small.
macro_rules! for_tests {
    ($($(#[$meta:meta])* fn $name:ident $arguments:tt $(-> $result:ty)? $body:block)+) => {
        $(
            #[cfg(feature = "testkit")]
            $(#[$meta])*
            pub fn $name $arguments $(-> $result)? $body

            #[cfg(not(feature = "testkit"))]
            $(#[$meta])*
            pub(crate) fn $name $arguments $(-> $result)? $body
        )+
    };
    (use $($path:tt)+) => {
        #[cfg(feature = "testkit")]
        pub use $($path)+

        #[cfg(not(feature = "testkit"))]
        #[allow(unused_imports, reason = "some are for tests alone")]
        pub(crate) use $($path)+
    };
    ($(#[$meta:meta])* const $($item:tt)+) => {
        #[cfg(feature = "testkit")]
        $(#[$meta])*
        pub const $($item)+

        #[cfg(not(feature = "testkit"))]
        $(#[$meta])*
        pub(crate) const $($item)+
    };
}
