//! Which format bytes are of.

/// Declares the formats in the order in which they are tried, each with its feature, its type, its name and its reader.
macro_rules! formats {
    ($($feature:literal $variant:ident($type:ty) = $name:literal, $read:ident($($kind:expr)?);)*) => {
        /// A value whose format was recognised by its bytes.
        #[derive(Clone, Debug, PartialEq)]
        #[non_exhaustive]
        pub enum Recognised {
            $(
                #[doc = concat!("A ", $name, ".")]
                #[cfg(feature = $feature)]
                $variant($type),
            )*
        }

        impl Recognised {
            /// Returns the name of the format, as in `docs/formats.md` and in errors.
            #[must_use]
            pub const fn format(&self) -> &'static str {
                match *self {
                    $(
                        #[cfg(feature = $feature)]
                        Self::$variant(_) => $name,
                    )*
                }
            }
        }

        /// Reads a value of any format of the features that are on. `None` if it is of none, or damaged.
        ///
        /// Few formats begin with a magic number. So every reader is asked, those with a magic number or a checksum first, and the
        /// first that takes the bytes from their beginning to their end wins. Bytes of a format that consists of a size and bits
        /// may, by chance, be a value of two formats. To know why bytes are refused, call the reader of the format that they should be of.
        ///
        /// Dumps of `RedisBloom` in chunks are no single byte string: use `RESTORE`'s.
        ///
        /// # Complexity
        /// Linear in the input. Most formats are refused by their first bytes.
        ///
        /// # Examples
        /// ```
        /// # #[cfg(feature = "redis")] {
        /// use pds_formats::{Recognised, recognise};
        ///
        /// let value = b"HYLL\x01\0\0\0\0\0\0\0\0\0\0\x80\x7f\xff";
        /// let Some(Recognised::RedisHyperLogLog(sketch)) = recognise(value) else { panic!("a sketch") };
        /// assert!(sketch.is_empty());
        /// assert_eq!(recognise(b"something else"), None);
        /// # }
        /// ```
        #[must_use]
        #[allow(unused_variables, reason = "without a format")]
        pub fn recognise(bytes: &[u8]) -> Option<Recognised> {
            $(
                #[cfg(feature = $feature)]
                if let Ok(value) = <$type>::$read($($kind,)? bytes) {
                    return Some(Recognised::$variant(value));
                }
            )*
            None
        }
    };
}

#[cfg(feature = "xorf")]
use crate::xorf::{XorFilter, XorKind};

formats! {
    // With a magic number or a checksum.
    "redis" RedisHyperLogLog(crate::redis::RedisHyperLogLog) = "Redis HyperLogLog", from_bytes();
    "redis" RedisBloomFilter(crate::redis::RedisBloomFilter) = "RedisBloom Bloom filter", from_dump();
    "redis" RedisCuckooFilter(crate::redis::RedisCuckooFilter) = "RedisBloom cuckoo filter", from_dump();
    "redis" RedisCountMinSketch(crate::redis::RedisCountMinSketch) = "RedisBloom count-min sketch", from_dump();
    "redis" RedisTopK(crate::redis::RedisTopK) = "RedisBloom top-k list", from_dump();
    "parquet" MilvusBloomFilter(crate::milvus::MilvusBloomFilter) = "Milvus Bloom filter", from_bytes();
    "parquet" ParquetBloomFilter(crate::parquet::ParquetBloomFilter) = "Parquet Bloom filter", from_bytes();
    // With the number of a family.
    "datasketches" DataSketchesTheta(theta::CompactThetaSketch) = "DataSketches theta sketch", from_bytes();
    "datasketches" DataSketchesHll(crate::datasketches::DataSketchesHll) = "DataSketches HLL sketch", from_bytes();
    "datasketches" DataSketchesCpc(crate::datasketches::DataSketchesCpc) = "DataSketches CPC sketch", from_bytes();
    "datasketches" DataSketchesCountMin(crate::datasketches::DataSketchesCountMin) = "DataSketches count-min sketch", from_bytes();
    "datasketches" DataSketchesBloomFilter(crate::datasketches::DataSketchesBloomFilter) = "DataSketches Bloom filter", from_bytes();
    "datasketches" DataSketchesFrequentStrings(crate::datasketches::DataSketchesFrequentItems<alloc::string::String>) = "DataSketches frequent items sketch", from_bytes();
    "datasketches" DataSketchesFrequentNumbers(crate::datasketches::DataSketchesFrequentItems<i64>) = "DataSketches frequent items sketch", from_bytes();
    // With a version and sizes that fit the length.
    "redis" ValkeyBloomFilter(crate::redis::ValkeyBloomFilter) = "valkey-bloom filter", from_bytes();
    "spark" SparkBloomFilter(crate::spark::SparkBloomFilter) = "Spark Bloom filter", from_bytes();
    "spark" SparkCountMin(crate::spark::SparkCountMin) = "Spark count-min sketch", from_bytes();
    "postgres" PostgresHll(crate::postgres::PostgresHll) = "postgresql-hll value", from_bytes();
    // With sizes only.
    "guava" GuavaBloomFilter(crate::guava::GuavaBloomFilter) = "Guava Bloom filter", from_bytes();
    "presto" PrestoHll(crate::presto::PrestoHll) = "Presto HyperLogLog", from_bytes();
    "xorf" Xor8(XorFilter) = "xor_singleheader xor8 filter", from_bytes(XorKind::Xor8);
    "xorf" Xor16(XorFilter) = "xor_singleheader xor16 filter", from_bytes(XorKind::Xor16);
    "xorf" BinaryFuse8(XorFilter) = "xor_singleheader binary_fuse8 filter", from_bytes(XorKind::BinaryFuse8);
    "xorf" BinaryFuse16(XorFilter) = "xor_singleheader binary_fuse16 filter", from_bytes(XorKind::BinaryFuse16);
    // Any data may follow its bits.
    "dcso" DcsoBloomFilter(crate::dcso::DcsoBloomFilter) = "DCSO Bloom filter", from_bytes();
}
