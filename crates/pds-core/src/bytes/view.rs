use super::{Envelope, MaybeHasher};
use crate::error::DecodeError;

/// A view of portable bytes of the type `B`: a structure that answers from them without a copy.
///
/// [`ByteOptions::open`](crate::bytes::ByteOptions::open) calls it.
pub trait OpenView<B>: Sized {
    /// The hasher of the structure.
    type Hasher: MaybeHasher;

    /// Opens an envelope with `hasher`, or with the one in the bytes.
    ///
    /// # Errors
    /// [`DecodeError`] says what is wrong, and at which offset.
    fn open_view(envelope: Envelope<B>, hasher: Option<Self::Hasher>) -> Result<Self, DecodeError>;
}

/// Gives a view of portable bytes the methods that users see: opening, verifying, copying out.
///
/// One definition for all views. A view has the fields `hasher` and `envelope`
/// ([`Envelope`](crate::bytes::Envelope) of borrowed bytes), and a function
/// `of_envelope(envelope, hasher) -> Result<Self, DecodeError>`, which is given an envelope that holds the
/// structure by its header.
///
/// `view_methods!(FilterView of Filter, to_filter)` names the method that copies the structure out; a fourth
/// name, `view_methods!(FilterView of Filter, to_filter, check)`, is that of a method that `verify` asks beside the
/// checksum. Where they have more parameters than a
/// hasher, as in [`portable_methods`](crate::portable_methods):
/// `view_methods!([C: Counter] View<'a, S, C>, View<'a, DefaultHashBuilder, C>, Sketch<S, C>, to_sketch)`.
#[doc(hidden)]
#[macro_export]
macro_rules! view_methods {
    ($view:ident of $owned:ident, $to_owned:ident $(, $check:ident)?) => {
        $crate::view_methods!(
            [] $view<'a, S>, $view<'a, $crate::DefaultHashBuilder>, $owned<S>, $to_owned $(, $check)?
        );
    };
    (
        [$($other:ident: $bound:path),*] $view:ty, $default:ty, $owned:ty, $to_owned:ident
        $(, $check:ident)?
    ) => {
        impl<'a, $($other: $bound),*> $default {
            /// Opens portable bytes that hold the structure and nothing else.
            ///
            /// # Errors
            /// [`DecodeError`]($crate::DecodeError) says what is wrong and where.
            ///
            /// # Complexity
            /// Constant.
            pub fn open(bytes: &'a [u8]) -> Result<Self, $crate::DecodeError> {
                $crate::bytes::ByteOptions::new().open(bytes)
            }
        }

        impl<'a, S: $crate::PortableHasher, $($other: $bound),*> $crate::bytes::OpenView<&'a [u8]> for $view {
            type Hasher = S;

            fn open_view(
                envelope: $crate::bytes::Envelope<&'a [u8]>,
                hasher: Option<S>,
            ) -> Result<Self, $crate::DecodeError> {
                envelope.expect::<$owned>()?;
                let hasher = $crate::bytes::MaybeHasher::of_header(envelope.header(), hasher)?;
                Self::of_envelope(envelope, hasher)
            }
        }

        impl<'a, S: $crate::PortableHasher, $($other: $bound),*> $view {
            /// Verifies the payload: its checksum, and what else can be told to be wrong with it.
            ///
            /// # Errors
            /// [`DecodeError`]($crate::DecodeError) says what is wrong and where.
            ///
            /// # Complexity
            /// O(size): every byte is read.
            pub fn verify(&self) -> Result<(), $crate::DecodeError> {
                self.envelope.verify()?;
                $(self.$check()?;)?
                Ok(())
            }

            /// Copies the structure out of the bytes, which are verified.
            ///
            /// # Errors
            /// As [`verify`](Self::verify), and [`Alloc`]($crate::DecodeError::Alloc) when memory is
            /// refused.
            pub fn $to_owned(&self) -> Result<$owned, $crate::DecodeError>
            where
                S: Clone,
            {
                self.envelope.decode(Some(self.hasher.clone()))
            }
        }
    };
}
