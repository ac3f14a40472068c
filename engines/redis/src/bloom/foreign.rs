//! Filters in the layouts of RedisBloom and valkey-bloom: loaded, asked, and extended as they are.

use pds_core::error::InsertError;
use pds_formats::redis::{Chunk, RedisBloomFilter, ValkeyBloomFilter};

use super::{Added, Information, Layout, Refusal};
use crate::quality::Quality;
use crate::server::{Load, Save};

/// Bytes of the first chunk of RedisBloom before the layers, and for each layer.
const HEAD_BYTES: usize = 20;
const LAYER_BYTES: usize = 53;

/// The fields of a layer in the first chunk.
struct Layer {
    bytes: u64,
    bits: u64,
    items: u64,
    rate: f64,
    bits_per_item: f64,
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
            bits_per_item: f64::from_bits(number(32)),
            hashes: u32::from_le_bytes(hashes),
            capacity: number(44),
        }
    }

    fn write(&self, chunk: &mut Vec<u8>) {
        for number in
            [self.bytes, self.bits, self.items, self.rate.to_bits(), self.bits_per_item.to_bits()]
        {
            chunk.extend(number.to_le_bytes());
        }
        chunk.extend(self.hashes.to_le_bytes());
        chunk.extend(self.capacity.to_le_bytes());
        chunk.push(0);
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

/// Writes a filter into a snapshot, as RedisBloom does.
pub(super) fn save(filter: &RedisBloomFilter, file: &mut Save<'_>) {
    let chunks = filter.to_chunks();
    let Some((first, mut rest)) = chunks.split_first() else { return };
    let layers = layers(&first.data).unwrap_or_default();
    let number =
        |at: usize| u32::from_le_bytes(first.data[at..at + 4].try_into().unwrap_or_default());
    file.unsigned(filter.len());
    file.unsigned(layers.len() as u64);
    file.unsigned(number(12).into());
    file.unsigned(number(16).into());
    for layer in &layers {
        file.unsigned(layer.capacity);
        file.double(layer.rate);
        file.unsigned(layer.hashes.into());
        file.double(layer.bits_per_item);
        file.unsigned(layer.bits);
        file.unsigned(0);
        // No chunk has bytes of two layers.
        let mut bits = Vec::new();
        while (bits.len() as u64) < layer.bytes
            && let Some((piece, others)) = rest.split_first()
        {
            bits.extend_from_slice(&piece.data);
            rest = others;
        }
        file.bytes(&bits);
        file.unsigned(layer.items);
    }
}

/// Reads a filter from a snapshot of RedisBloom.
pub(super) fn load(file: &mut Load<'_>) -> Result<RedisBloomFilter, String> {
    let items = file.unsigned()?;
    let count = u32::try_from(file.unsigned()?).map_err(|_| "too many layers")?;
    let mut first = items.to_le_bytes().to_vec();
    first.extend(count.to_le_bytes());
    for name in ["options", "growth"] {
        let number =
            u32::try_from(file.unsigned()?).map_err(|_| format!("{name} of more than 32 bits"))?;
        first.extend(number.to_le_bytes());
    }
    let mut rest = Vec::new();
    for _ in 0..count {
        let capacity = file.unsigned()?;
        let rate = file.double()?;
        let hashes = u32::try_from(file.unsigned()?).map_err(|_| "too many hash functions")?;
        let bits_per_item = file.double()?;
        let bits = file.unsigned()?;
        if file.unsigned()? != 0 {
            return Err("sizes of a power of two are not supported".into());
        }
        let stored = file.bytes()?;
        let (bytes, items) = (stored.len() as u64, file.unsigned()?);
        Layer { bytes, bits, items, rate, bits_per_item, hashes, capacity }.write(&mut first);
        rest.try_reserve(stored.len()).map_err(|_| "no memory for a layer")?;
        rest.extend_from_slice(&stored);
    }
    read(&first, &rest).ok_or_else(|| "a damaged filter of RedisBloom".into())
}

impl Layout for RedisBloomFilter {
    fn add(&mut self, item: &[u8]) -> Added {
        self.insert(item).map_err(|error| refusal(&error, self.growth()))
    }

    fn contains(&self, item: &[u8]) -> bool {
        self.contains(item)
    }

    fn information(&self) -> Information {
        Information {
            layout: "RedisBloom",
            capacity: self.capacity(),
            layers: self.num_layers() as u64,
            items: self.len(),
            growth: self.growth().map(u64::from),
        }
    }

    fn quality(&self) -> Quality {
        Quality::without_promise(self.false_positive_rate())
    }

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
    fn add(&mut self, item: &[u8]) -> Added {
        self.insert(item).map_err(|error| refusal(&error, self.growth()))
    }

    fn contains(&self, item: &[u8]) -> bool {
        self.contains(item)
    }

    fn information(&self) -> Information {
        Information {
            layout: "valkey-bloom",
            capacity: self.capacity(),
            layers: self.num_layers() as u64,
            items: self.len(),
            growth: self.growth().map(u64::from),
        }
    }

    fn quality(&self) -> Quality {
        Quality::without_promise(self.false_positive_rate())
    }

    fn lines(&self) -> Vec<String> {
        vec![format!("layers:{} capacity:{}", self.num_layers(), self.capacity())]
    }
}
