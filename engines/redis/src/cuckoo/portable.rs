//! The bytes of filters that remove and count.

use std::ffi::CStr;
use std::io::{self, Read, Write};

use pds_formats::redis::{Chunk, RdbVersion, RedisCuckooFilter};
use quotient::CountingQuotientFilter;

use super::{Cuckoo, Options, Quotient};
use crate::chunks::Chunked;
use crate::foreign::Recorder;
use crate::record::{self, ANY_LENGTH, Streamed};
use crate::server::TypeName;

/// Ours, and that of RedisBloom, whose snapshots the module reads and writes.
static TYPES: [TypeName; 2] = [TypeName::new("pds-cucko", 0), TypeName::new("MBbloomCF", 4)];

/// The numbers of the layouts in the stream.
const COUNTING_QUOTIENT: u8 = 1;
const REDIS_BLOOM: u8 = 2;

/// The length of the first chunk of RedisBloom.
const FIRST_BYTES: usize = 38;

impl Streamed for Cuckoo {
    fn write_stream<W: Write>(&self, mut out: W) -> io::Result<()> {
        match self {
            Self::Quotient(Quotient { filter, items, deleted, options }) => {
                let Options { bucket_size, max_iterations, expansion } = *options;
                let numbers = [*items, *deleted, bucket_size, max_iterations, expansion];
                record::write_head(&mut out, COUNTING_QUOTIENT, &numbers)?;
                ANY_LENGTH.write_to(filter, out)
            }
            Self::Redis(filter) => {
                record::write_bytes(out, REDIS_BLOOM, &[], &filter.to_dump(RdbVersion::default()))
            }
        }
    }

    fn read_stream<R: Read>(mut input: R) -> Result<Self, String> {
        let (layout, numbers) = record::read_head(&mut input)?;
        match (layout, numbers.as_slice()) {
            (COUNTING_QUOTIENT, &[items, deleted, bucket_size, max_iterations, expansion]) => {
                let filter: CountingQuotientFilter =
                    ANY_LENGTH.read_from(input).map_err(|error| error.to_string())?;
                // A copy is removed only if the filter has one, and none may be left uncounted then.
                if items < filter.len() {
                    return Err("fewer items than differ from each other".into());
                }
                let options = Options { bucket_size, max_iterations, expansion };
                Ok(Self::Quotient(Quotient { filter, items, deleted, options }))
            }
            (REDIS_BLOOM, &[length, sum]) => {
                let bytes = record::read_bytes(input, length, sum)?;
                let filter = RedisCuckooFilter::from_dump(&bytes);
                filter.map(Self::Redis).map_err(|error| error.to_string())
            }
            _ => Err("an unknown layout of a cuckoo filter".into()),
        }
    }
}

impl Chunked for Cuckoo {
    const FAMILY: u64 = 2;
    const LOADER: &'static CStr = c"CF.LOADCHUNK";
    const BAD: &'static str = "Invalid header";
    const IS_STRICT: bool = true;

    fn type_names() -> &'static [TypeName] {
        &TYPES
    }

    fn copy(&self) -> Option<Self> {
        Some(match self {
            Self::Quotient(Quotient { filter, items, deleted, options }) => {
                let (filter, items, deleted) = (filter.try_clone().ok()?, *items, *deleted);
                Self::Quotient(Quotient { filter, items, deleted, options: *options })
            }
            Self::Redis(filter) => Self::Redis(filter.clone()),
        })
    }

    fn is_foreign(&self) -> bool {
        matches!(self, Self::Redis(_))
    }

    fn payload(&self) -> Option<Vec<u8>> {
        let Self::Redis(filter) = self else { return None };
        Some(filter.to_dump(RdbVersion::default()))
    }

    fn read_foreign(mut fields: Recorder<'_, '_>) -> Result<Self, String> {
        let tables = fields.unsigned()?;
        for _ in 0..6 {
            fields.unsigned()?;
        }
        for _ in 0..tables {
            fields.unsigned()?;
            fields.bytes()?;
        }
        let filter = RedisCuckooFilter::from_dump(&fields.end());
        filter.map(Self::Redis).map_err(|error| error.to_string())
    }

    fn foreign_length(first: &[u8]) -> Option<u64> {
        if first.len() != FIRST_BYTES {
            return None;
        }
        let number = |at: usize| first[at..at + 8].try_into().ok().map(u64::from_le_bytes);
        let short = |at: usize| first[at..at + 2].try_into().ok().map(u16::from_le_bytes);
        let (buckets, tables) = (number(8)?, number(24)?);
        let (bucket_size, expansion) = (short(32)?, short(36)?);
        let mut table = buckets.checked_mul(bucket_size.into())?;
        let mut length = 0_u64;
        for _ in 0..tables.min(64) {
            length = length.checked_add(table)?;
            table = table.checked_mul(expansion.into())?;
        }
        (length > 0).then_some(length)
    }

    fn from_foreign(first: &[u8], rest: &[u8]) -> Option<Self> {
        let iterator = i64::try_from(rest.len()).ok()?.checked_add(1)?;
        let chunks = [Chunk { iterator: 1, data: first }, Chunk { iterator, data: rest }];
        RedisCuckooFilter::from_chunks(&chunks).ok().map(Self::Redis)
    }

    /// Filters of RedisBloom are dumped in its own chunks, so that it can load them, too. Those without
    /// items have none.
    fn foreign_chunks(&self) -> Option<Vec<(i64, Vec<u8>)>> {
        let Self::Redis(filter) = self else { return None };
        let chunks: Vec<_> =
            filter.to_chunks().into_iter().map(|chunk| (chunk.iterator, chunk.data)).collect();
        (!chunks.is_empty()).then_some(chunks)
    }
}
