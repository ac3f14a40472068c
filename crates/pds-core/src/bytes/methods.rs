/// Gives a [`Portable`](crate::bytes::Portable) structure the methods that users see.
///
/// One definition, so that all structures store, send and read themselves alike. The crate that calls
/// it has the features `std` and `serde` of its own.
///
/// The readers exist for the default hasher only, as `new` does, so that `BloomFilter::from_bytes(&bytes)` needs no
/// type to be named. `ByteOptions` serve other hashers.
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
                $crate::bytes::ByteOptions::new().from_bytes(bytes)
            }

            /// Reads one structure from a stream. Leaves what follows it in the reader.
            ///
            /// Reads at most 1 GiB. For another limit use [`ByteOptions`]($crate::bytes::ByteOptions).
            ///
            /// # Errors
            /// [`ReadError`]($crate::ReadError) if reading fails, or if the bytes are wrong.
            #[cfg(feature = "std")]
            pub fn read_from(reader: impl ::std::io::Read) -> Result<Self, $crate::ReadError> {
                $crate::bytes::ByteOptions::new().read_from(reader)
            }
        }

        impl<S: $crate::PortableHasher, $($other: $bound),*> $structure {
            /// Returns the portable bytes, which contain the seed of the hasher.
            ///
            /// For a hasher with a secret key, and for files, use [`ByteOptions`]($crate::bytes::ByteOptions).
            ///
            /// # Complexity
            /// O(size); allocates the bytes.
            #[must_use]
            pub fn to_bytes(&self) -> ::alloc::vec::Vec<u8>
            where
                S: $crate::hash::PublicSeed,
            {
                $crate::bytes::ByteOptions::new().to_bytes(self)
            }

            /// Writes the portable bytes, 16 KiB at a time.
            ///
            /// # Errors
            /// Those of the writer.
            #[cfg(feature = "std")]
            pub fn write_to(&self, writer: impl ::std::io::Write) -> ::std::io::Result<()>
            where
                S: $crate::hash::PublicSeed,
            {
                $crate::bytes::ByteOptions::new().write_to(self, writer)
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
