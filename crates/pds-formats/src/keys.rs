//! Conversions into the keys of owners who hash by types.

/// Converts values into a key with a variant `Bytes`.
macro_rules! conversions {
    ($key:ident: $($value:ident: $type:ty => $made:expr;)*) => {
        $(
            impl<'a> From<$type> for $key<'a> {
                fn from($value: $type) -> Self {
                    $made
                }
            }
        )*

        impl<'a> From<&'a [u8]> for $key<'a> {
            fn from(bytes: &'a [u8]) -> Self {
                Self::Bytes(bytes)
            }
        }

        impl<'a, const N: usize> From<&'a [u8; N]> for $key<'a> {
            fn from(bytes: &'a [u8; N]) -> Self {
                Self::Bytes(bytes)
            }
        }
    };
}
pub(crate) use conversions;
