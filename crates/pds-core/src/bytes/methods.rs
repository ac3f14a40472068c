/// Gives a [`Portable`](crate::bytes::Portable) structure the methods that users see.
///
/// One definition, so that all structures store, send and read themselves alike. The crate that calls
/// it has the features `std` and `serde` of its own. The method `peek` is
/// [`Header::peek`](crate::bytes::Header::peek).
///
/// A structure with other parameters than its hasher `S` names all of them, and the bounds of the others:
/// `portable_methods!(Sketch<S, C>, C: Counter)`.
#[macro_export]
macro_rules! portable_methods {
    ($structure:ident) => {
        $crate::portable_methods!($structure<S>,);
    };
    ($structure:ident<$($parameter:ident),+>, $($other:ident: $bound:path),*) => {
        impl<S: $crate::PortableHasher, $($other: $bound),*> $structure<$($parameter),+> {
            /// Returns the portable bytes; a secret key of the hasher is left out.
            ///
            /// # Complexity
            /// O(size); allocates the bytes.
            #[must_use]
            pub fn to_bytes(&self) -> ::alloc::vec::Vec<u8> {
                $crate::bytes::to_vec(self, $crate::bytes::SecretKey::LeaveOut)
            }

            /// Returns a wrapper whose `to_bytes`, `write_to`, `save` and serde forms hold the secret key in clear.
            #[must_use]
            pub const fn with_key(&self) -> $crate::bytes::WithKey<'_, Self> {
                $crate::bytes::WithKey::new(self)
            }

            /// Reads portable bytes that hold this structure and nothing else.
            ///
            /// # Errors
            /// [`DecodeError`]($crate::DecodeError) says what is wrong and where;
            /// [`KeyMissing`]($crate::DecodeError::KeyMissing) when a secret key was left out.
            ///
            /// # Complexity
            /// O(length of the bytes); never allocates more than they justify.
            pub fn from_bytes(bytes: &[u8]) -> Result<Self, $crate::DecodeError> {
                $crate::bytes::from_slice(bytes, None)
            }

            /// Reads portable bytes from which the secret key of `hasher` was left out.
            ///
            /// # Errors
            /// As [`from_bytes`](Self::from_bytes), and
            /// [`KeyMismatch`]($crate::DecodeError::KeyMismatch) when `hasher` is not the one that built it.
            pub fn from_bytes_with_hasher(
                bytes: &[u8],
                hasher: S,
            ) -> Result<Self, $crate::DecodeError> {
                $crate::bytes::from_slice(bytes, Some(hasher))
            }

            /// Reads the header of portable bytes: what they hold, without looking at the payload.
            ///
            /// # Errors
            /// [`DecodeError`]($crate::DecodeError) says what is wrong and where.
            pub fn peek(bytes: &[u8]) -> Result<$crate::bytes::Header, $crate::DecodeError> {
                $crate::bytes::Header::peek(bytes)
            }

            /// Writes the portable bytes, 16 KiB at a time; a secret key of the hasher is left out.
            ///
            /// # Errors
            /// Those of the writer.
            #[cfg(feature = "std")]
            pub fn write_to(&self, writer: impl ::std::io::Write) -> ::std::io::Result<()> {
                $crate::bytes::write_to(self, $crate::bytes::SecretKey::LeaveOut, writer)
            }

            /// Reads exactly one structure from a stream; what follows it stays in the reader.
            ///
            /// Allocates once, lazily zeroed, and no more than `limits` allow.
            ///
            /// # Errors
            /// [`ReadError`]($crate::ReadError): reading failed, or what was read is wrong.
            #[cfg(feature = "std")]
            pub fn read_from(
                reader: impl ::std::io::Read,
                limits: $crate::bytes::ReadLimits,
            ) -> Result<Self, $crate::ReadError> {
                $crate::bytes::read_from(reader, limits, None)
            }

            /// Reads one structure from which the secret key of `hasher` was left out.
            ///
            /// # Errors
            /// As [`read_from`](Self::read_from) and
            /// [`from_bytes_with_hasher`](Self::from_bytes_with_hasher).
            #[cfg(feature = "std")]
            pub fn read_from_with_hasher(
                reader: impl ::std::io::Read,
                limits: $crate::bytes::ReadLimits,
                hasher: S,
            ) -> Result<Self, $crate::ReadError> {
                $crate::bytes::read_from(reader, limits, Some(hasher))
            }

            /// Saves the portable bytes to a file so that a crash leaves the old file or the new one, whole.
            ///
            /// They are written to a temporary file beside it, which is synced and renamed; then the
            /// folder is synced. A secret key of the hasher is left out.
            ///
            /// # Errors
            /// Those of the file system; before the rename the old file is untouched, and the temporary
            /// one is removed.
            #[cfg(feature = "std")]
            pub fn save(&self, path: impl AsRef<::std::path::Path>) -> ::std::io::Result<()> {
                $crate::bytes::save(self, $crate::bytes::SecretKey::LeaveOut, path.as_ref())
            }

            /// Loads a file that holds this structure and nothing else.
            ///
            /// # Errors
            /// [`ReadError`]($crate::ReadError): reading failed, or the file is wrong.
            #[cfg(feature = "std")]
            pub fn load(path: impl AsRef<::std::path::Path>) -> Result<Self, $crate::ReadError> {
                $crate::bytes::load(path.as_ref(), None)
            }

            /// Loads a file from which the secret key of `hasher` was left out.
            ///
            /// # Errors
            /// As [`load`](Self::load) and [`from_bytes_with_hasher`](Self::from_bytes_with_hasher).
            #[cfg(feature = "std")]
            pub fn load_with_hasher(
                path: impl AsRef<::std::path::Path>,
                hasher: S,
            ) -> Result<Self, $crate::ReadError> {
                $crate::bytes::load(path.as_ref(), Some(hasher))
            }
        }

        #[cfg(feature = "serde")]
        impl<S: $crate::PortableHasher, $($other: $bound),*> $crate::bytes::serde::Serialize
            for $structure<$($parameter),+>
        {
            fn serialize<T: $crate::bytes::serde::Serializer>(
                &self,
                serializer: T,
            ) -> Result<T::Ok, T::Error> {
                $crate::bytes::serde::serialize(self, serializer)
            }
        }

        #[cfg(feature = "serde")]
        impl<'de, S: $crate::PortableHasher, $($other: $bound),*> $crate::bytes::serde::Deserialize<'de>
            for $structure<$($parameter),+>
        {
            fn deserialize<D: $crate::bytes::serde::Deserializer<'de>>(
                deserializer: D,
            ) -> Result<Self, D::Error> {
                $crate::bytes::serde::deserialize(deserializer)
            }
        }
    };
}
