//! The bytes of Bloom filters.

use std::ffi::CStr;
use std::io::{self, Read, Write};

use pds_formats::redis::{RdbVersion, ValkeyBloomFilter};

use super::Bloom;
use super::foreign;
use super::growing::{Fixed, Growing};
use super::window::{LastKeys, LastTime};
use crate::chunks::Chunked;
use crate::foreign::Recorder;
use crate::record::{self, ANY_LENGTH, Streamed};
use crate::server::TypeName;

/// Ours, and that of RedisBloom, whose snapshots the module reads and writes.
static TYPES: [TypeName; 2] = [TypeName::new("pds-bloom", 0), TypeName::new("MBbloom--", 4)];

/// The numbers of the layouts in the stream.
const GROWING: u8 = 1;
const FIXED: u8 = 2;
const LAST_KEYS: u8 = 3;
const LAST_TIME: u8 = 4;
const VALKEY: u8 = 5;
const REDIS_BLOOM: u8 = 6;

impl Streamed for Bloom {
    fn write_stream<W: Write>(&self, mut out: W) -> io::Result<()> {
        match self {
            Self::Growing(filter) => {
                record::write_head(&mut out, GROWING, &[filter.items])?;
                ANY_LENGTH.write_to(&filter.filter, out)
            }
            Self::Fixed(filter) => {
                record::write_head(&mut out, FIXED, &[filter.items])?;
                ANY_LENGTH.write_to(&filter.filter, out)
            }
            Self::LastKeys(filter) => {
                record::write_head(&mut out, LAST_KEYS, &[])?;
                ANY_LENGTH.write_to(&filter.0, out)
            }
            Self::LastTime(filter) => {
                record::write_head(&mut out, LAST_TIME, &[])?;
                ANY_LENGTH.write_to(&filter.0, out)
            }
            Self::Valkey(filter) => record::write_bytes(out, VALKEY, &[], &filter.to_bytes()),
            Self::Redis(filter) => {
                let chunks = filter.to_chunks();
                let first = chunks.first().map_or(0, |first| first.data.len() as u64);
                let bytes: Vec<u8> = chunks.into_iter().flat_map(|chunk| chunk.data).collect();
                record::write_bytes(out, REDIS_BLOOM, &[first], &bytes)
            }
        }
    }

    fn read_stream<R: Read>(mut input: R) -> Result<Self, String> {
        let (layout, numbers) = record::read_head(&mut input)?;
        let text = |error: pds_core::error::ReadError| error.to_string();
        match (layout, numbers.as_slice()) {
            (GROWING, &[items]) => {
                let filter = ANY_LENGTH.read_from(input).map_err(text)?;
                Ok(Self::Growing(Growing { filter, items }))
            }
            (FIXED, &[items]) => {
                let filter = ANY_LENGTH.read_from(input).map_err(text)?;
                Ok(Self::Fixed(Fixed { filter, items }))
            }
            (LAST_KEYS, []) => {
                ANY_LENGTH.read_from(input).map(LastKeys).map(Self::LastKeys).map_err(text)
            }
            (LAST_TIME, []) => {
                ANY_LENGTH.read_from(input).map(LastTime).map(Self::LastTime).map_err(text)
            }
            (VALKEY, &[length, sum]) => {
                let bytes = record::read_bytes(input, length, sum)?;
                ValkeyBloomFilter::from_bytes(&bytes)
                    .map(Self::Valkey)
                    .map_err(|error| error.to_string())
            }
            (REDIS_BLOOM, &[first, length, sum]) => {
                let bytes = record::read_bytes(input, length, sum)?;
                let cut =
                    usize::try_from(first).ok().and_then(|first| bytes.split_at_checked(first));
                let filter = cut.and_then(|(first, rest)| foreign::read(first, rest));
                filter.map(Self::Redis).ok_or_else(|| "a damaged filter of RedisBloom".into())
            }
            _ => Err("an unknown layout of a Bloom filter".into()),
        }
    }
}

impl Chunked for Bloom {
    const FAMILY: u64 = 1;
    const LOADER: &'static CStr = c"BF.LOADCHUNK";
    const EXISTS: &'static str = "ERR received bad data";
    const NO_CHUNKS: &'static str = "ERR invalid offset - no link found";

    fn type_names() -> &'static [TypeName] {
        &TYPES
    }

    fn copy(&self) -> Option<Self> {
        Some(match self {
            Self::Growing(Growing { filter, items }) => {
                Self::Growing(Growing { filter: filter.try_clone().ok()?, items: *items })
            }
            Self::Fixed(Fixed { filter, items }) => {
                Self::Fixed(Fixed { filter: filter.try_clone().ok()?, items: *items })
            }
            Self::LastKeys(filter) => Self::LastKeys(LastKeys(filter.0.try_clone().ok()?)),
            Self::LastTime(filter) => Self::LastTime(LastTime(filter.0.try_clone().ok()?)),
            Self::Redis(filter) => Self::Redis(filter.clone()),
            Self::Valkey(filter) => Self::Valkey(filter.clone()),
        })
    }

    fn is_foreign(&self) -> bool {
        matches!(self, Self::Redis(_))
    }

    fn payload(&self) -> Option<Vec<u8>> {
        let Self::Redis(filter) = self else { return None };
        Some(filter.to_dump(RdbVersion::default()))
    }

    fn read_foreign(fields: Recorder<'_, '_>) -> Result<Self, String> {
        foreign::load(fields).map(Self::Redis)
    }

    fn foreign_length(first: &[u8]) -> Option<u64> {
        foreign::length(first)
    }

    fn from_foreign(first: &[u8], rest: &[u8]) -> Option<Self> {
        foreign::read(first, rest).map(Self::Redis)
    }

    /// Filters of RedisBloom are dumped in its own chunks, so that it can load them, too.
    fn foreign_chunks(&self) -> Option<Vec<(i64, Vec<u8>)>> {
        let Self::Redis(filter) = self else { return None };
        Some(filter.to_chunks().into_iter().map(|chunk| (chunk.iterator, chunk.data)).collect())
    }
}
