//! Filters in the layouts of RedisBloom and valkey-bloom: loaded, asked, and extended as they are.

use pds_core::error::InsertError;
use pds_formats::redis::{Chunk, RedisBloomFilter, ValkeyBloomFilter};

use super::{Added, Information, Layout, Refusal};
use crate::foreign::Recorder;
use crate::quality::Quality;

/// Bytes of the first chunk of RedisBloom before the layers, and for each layer.
const HEAD_BYTES: usize = 20;
const LAYER_BYTES: usize = 53;

/// The fields of a layer in the first chunk.
struct Layer {
    bytes: u64,
    bits: u64,
    items: u64,
    rate: f64,
    hashes: u32,
    capacity: u64,
}

impl Layer {
    fn read(chunk: &[u8; LAYER_BYTES]) -> Self {
        let number = |at: usize| {
            let mut bytes = [0; 8];
            bytes.copy_from_slice(&chunk[at..at + 8]);
            u64::from_le_bytes(bytes)
        };
        let mut hashes = [0; 4];
        hashes.copy_from_slice(&chunk[40..44]);
        Self {
            bytes: number(0),
            bits: number(8),
            items: number(16),
            rate: f64::from_bits(number(24)),
            hashes: u32::from_le_bytes(hashes),
            capacity: number(44),
        }
    }
}

/// Returns the layers of a first chunk. `None` if it is none.
fn layers(first: &[u8]) -> Option<Vec<Layer>> {
    let (head, rest) = first.split_at_checked(HEAD_BYTES)?;
    let count = u32::from_le_bytes(head[8..12].try_into().ok()?);
    let (chunks, end) = rest.as_chunks::<LAYER_BYTES>();
    (end.is_empty() && count > 0 && u64::from(count) == chunks.len() as u64)
        .then(|| chunks.iter().map(Layer::read).collect())
}

/// Returns the number of bytes that follow a first chunk of RedisBloom. `None` if it is none.
pub(super) fn length(first: &[u8]) -> Option<u64> {
    layers(first)?.iter().try_fold(0, |sum: u64, layer| sum.checked_add(layer.bytes))
}

/// Reads a filter of RedisBloom from its first chunk, and all others joined.
pub(super) fn read(first: &[u8], rest: &[u8]) -> Option<RedisBloomFilter> {
    let iterator = i64::try_from(rest.len()).ok()?.checked_add(1)?;
    let chunks = [Chunk { iterator: 1, data: first }, Chunk { iterator, data: rest }];
    RedisBloomFilter::from_chunks(&chunks).ok()
}

/// Reads a filter from a snapshot of RedisBloom.
pub(super) fn load(mut recorder: Recorder<'_, '_>) -> Result<RedisBloomFilter, String> {
    recorder.unsigned()?;
    let layers = recorder.unsigned()?;
    recorder.unsigned()?;
    recorder.unsigned()?;
    for _ in 0..layers {
        recorder.unsigned()?;
        recorder.double()?;
        recorder.unsigned()?;
        recorder.double()?;
        recorder.unsigned()?;
        recorder.unsigned()?;
        recorder.bytes()?;
        recorder.unsigned()?;
    }
    RedisBloomFilter::from_dump(&recorder.end()).map_err(|error| error.to_string())
}

/// The common part of both systems' filters: everything but their lines.
macro_rules! of_layers {
    ($layout:literal) => {
        fn add(&mut self, item: &[u8]) -> Added {
            self.insert(item).map_err(|error| refusal(&error, self.growth()))
        }

        fn contains(&self, item: &[u8]) -> bool {
            self.contains(item)
        }

        fn information(&self) -> Information {
            Information {
                layout: $layout,
                capacity: self.capacity(),
                layers: self.num_layers() as u64,
                items: self.len(),
                growth: self.growth().map(u64::from),
            }
        }

        fn quality(&self) -> Quality {
            Quality::without_promise(self.false_positive_rate())
        }
    };
}

impl Layout for RedisBloomFilter {
    of_layers!("RedisBloom");

    fn lines(&self) -> Vec<String> {
        let chunks = self.to_chunks();
        let layers = chunks.first().and_then(|first| layers(&first.data)).unwrap_or_default();
        let line = |layer: &Layer| {
            let Layer { bytes, bits, items, rate, hashes, capacity, .. } = layer;
            format!(
                "bytes:{bytes} bits:{bits} hashes:{hashes} hashwidth:64 capacity:{capacity} size:{items} ratio:{rate}"
            )
        };
        layers.iter().map(line).collect()
    }
}

fn refusal(error: &InsertError, growth: Option<u32>) -> Refusal {
    match error {
        InsertError::Full { .. } if growth.is_none() => Refusal::Full,
        error => Refusal::of(error),
    }
}

impl Layout for ValkeyBloomFilter {
    of_layers!("valkey-bloom");

    fn lines(&self) -> Vec<String> {
        vec![format!("layers:{} capacity:{}", self.num_layers(), self.capacity())]
    }
}
