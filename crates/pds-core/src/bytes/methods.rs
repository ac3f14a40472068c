/// Gives a [`Portable`](crate::bytes::Portable) structure the methods that users see.
///
/// One definition, so that all structures store, send and read themselves alike. The crate that calls
/// it has the features `std` and `serde` of its own.
///
/// The readers without a suffix exist for the default hasher only, as `new` does, so that
/// `BloomFilter::from_bytes(&bytes)` needs no type to be named. For other hashers there are
/// `..._with_hasher`, which is given the hasher, and `..._with_key`, which takes it from the bytes.
///
/// A structure with more parameters than its hasher `S` states their bounds, its type, and its type with the
/// default hasher: `portable_methods!([C: Counter] Sketch<S, C>, Sketch<DefaultHashBuilder, C>)`.
#[doc(hidden)]
#[macro_export]
macro_rules! portable_methods {
    ($structure:ident) => {
        $crate::portable_methods!([] $structure<S>, $structure<$crate::DefaultHashBuilder>);
    };
    ([$($other:ident: $bound:path),*] $structure:ty, $default:ty) => {
        impl<$($other: $bound),*> $default {
            /// Reads portable bytes that hold this structure and nothing else.
            ///
            /// # Errors
            /// [`DecodeError`]($crate::DecodeError) says what is wrong and where.
            ///
            /// # Complexity
            /// O(length of the bytes); never allocates more than they justify.
            pub fn from_bytes(bytes: &[u8]) -> Result<Self, $crate::DecodeError> {
                $crate::bytes::from_slice(bytes, None)
            }

            /// Reads the header of portable bytes: what they hold, without looking at the payload.
            ///
            /// # Errors
            /// [`DecodeError`]($crate::DecodeError) says what is wrong and where.
            pub fn peek(bytes: &[u8]) -> Result<$crate::bytes::Header, $crate::DecodeError> {
                $crate::bytes::Header::peek(bytes)
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

            /// Loads a file that holds this structure and nothing else.
            ///
            /// # Errors
            /// [`ReadError`]($crate::ReadError): reading failed, or the file is wrong.
            #[cfg(feature = "std")]
            pub fn load(path: impl AsRef<::std::path::Path>) -> Result<Self, $crate::ReadError> {
                $crate::bytes::load(path.as_ref(), None)
            }
        }

        impl<S: $crate::PortableHasher, $($other: $bound),*> $structure {
            /// Returns the portable bytes.
            ///
            /// The seed of the hasher is one of them. For a hasher with a secret key this method does not exist: call
            /// it on [`with_key()`](Self::with_key) or [`without_key()`](Self::without_key).
            ///
            /// # Complexity
            /// O(size); allocates the bytes.
            #[must_use]
            pub fn to_bytes(&self) -> ::alloc::vec::Vec<u8>
            where
                S: $crate::hash::PublicSeed,
            {
                self.with_key().to_bytes()
            }

            /// Writes the portable bytes, 16 KiB at a time.
            ///
            /// Not for a hasher with a secret key, as [`to_bytes`](Self::to_bytes).
            ///
            /// # Errors
            /// Those of the writer.
            #[cfg(feature = "std")]
            pub fn write_to(&self, writer: impl ::std::io::Write) -> ::std::io::Result<()>
            where
                S: $crate::hash::PublicSeed,
            {
                self.with_key().write_to(writer)
            }

            /// Saves the portable bytes to a file so that a crash leaves the old file or the new one, whole.
            ///
            /// They are written to a temporary file beside it, which is synced and renamed; then the
            /// folder is synced. Not for a hasher with a secret key, as [`to_bytes`](Self::to_bytes).
            ///
            /// # Errors
            /// Those of the file system; before the rename the old file is untouched, and the temporary
            /// one is removed.
            #[cfg(feature = "std")]
            pub fn save(&self, path: impl AsRef<::std::path::Path>) -> ::std::io::Result<()>
            where
                S: $crate::hash::PublicSeed,
            {
                self.with_key().save(path)
            }

            /// Returns a wrapper whose `to_bytes`, `write_to`, `save` and serde forms hold the hasher's key in clear.
            ///
            /// Read them back with [`from_bytes_with_key`](Self::from_bytes_with_key). Whoever can read them can craft keys.
            #[must_use]
            pub const fn with_key(&self) -> $crate::bytes::WithKey<'_, Self> {
                $crate::bytes::WithKey::new(self)
            }

            /// Returns a wrapper whose `to_bytes`, `write_to` and `save` do not write the hasher's secret key.
            ///
            /// Keep the key elsewhere: [`from_bytes_with_hasher`](Self::from_bytes_with_hasher) needs it, and without it
            /// the bytes are lost. For a hasher without a secret this changes nothing.
            #[must_use]
            pub const fn without_key(&self) -> $crate::bytes::WithoutKey<'_, Self> {
                $crate::bytes::WithoutKey::new(self)
            }

            /// Reads portable bytes with this hasher: for those from which a secret key was left out.
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

            /// Reads portable bytes that hold the hasher's key or seed, as [`with_key`](Self::with_key) writes them.
            ///
            /// # Errors
            /// As [`from_bytes`](Self::from_bytes), and
            /// [`KeyMissing`]($crate::DecodeError::KeyMissing) when the key was left out.
            pub fn from_bytes_with_key(bytes: &[u8]) -> Result<Self, $crate::DecodeError> {
                $crate::bytes::from_slice(bytes, None)
            }

            /// Reads one structure from a stream with this hasher; see
            /// [`from_bytes_with_hasher`](Self::from_bytes_with_hasher).
            ///
            /// # Errors
            /// [`ReadError`]($crate::ReadError): reading failed, or what was read is wrong.
            #[cfg(feature = "std")]
            pub fn read_from_with_hasher(
                reader: impl ::std::io::Read,
                limits: $crate::bytes::ReadLimits,
                hasher: S,
            ) -> Result<Self, $crate::ReadError> {
                $crate::bytes::read_from(reader, limits, Some(hasher))
            }

            /// Reads one structure and its hasher's key from a stream; see
            /// [`from_bytes_with_key`](Self::from_bytes_with_key).
            ///
            /// # Errors
            /// [`ReadError`]($crate::ReadError): reading failed, or what was read is wrong.
            #[cfg(feature = "std")]
            pub fn read_from_with_key(
                reader: impl ::std::io::Read,
                limits: $crate::bytes::ReadLimits,
            ) -> Result<Self, $crate::ReadError> {
                $crate::bytes::read_from(reader, limits, None)
            }

            /// Loads a file with this hasher; see [`from_bytes_with_hasher`](Self::from_bytes_with_hasher).
            ///
            /// # Errors
            /// [`ReadError`]($crate::ReadError): reading failed, or the file is wrong.
            #[cfg(feature = "std")]
            pub fn load_with_hasher(
                path: impl AsRef<::std::path::Path>,
                hasher: S,
            ) -> Result<Self, $crate::ReadError> {
                $crate::bytes::load(path.as_ref(), Some(hasher))
            }

            /// Loads a file that holds the hasher's key; see [`from_bytes_with_key`](Self::from_bytes_with_key).
            ///
            /// # Errors
            /// [`ReadError`]($crate::ReadError): reading failed, or the file is wrong.
            #[cfg(feature = "std")]
            pub fn load_with_key(
                path: impl AsRef<::std::path::Path>,
            ) -> Result<Self, $crate::ReadError> {
                $crate::bytes::load(path.as_ref(), None)
            }
        }

        #[cfg(feature = "serde")]
        impl<S: $crate::hash::PublicSeed, $($other: $bound),*> $crate::internal::serde::Serialize for $structure {
            fn serialize<Z: $crate::internal::serde::Serializer>(
                &self,
                serializer: Z,
            ) -> Result<Z::Ok, Z::Error> {
                $crate::internal::serde::serialize(self, serializer)
            }
        }

        #[cfg(feature = "serde")]
        impl<'de, S: $crate::PortableHasher, $($other: $bound),*> $crate::internal::serde::Deserialize<'de>
            for $structure
        {
            fn deserialize<Z: $crate::internal::serde::Deserializer<'de>>(
                deserializer: Z,
            ) -> Result<Self, Z::Error> {
                $crate::internal::serde::deserialize(deserializer)
            }
        }
    };
}
