//! Our own filters: layers that grow, and one layer that does not.

use bloom_blocked::BlockedBloomFilter;
use bloom_scalable::{ScalableBlockedBloomFilter, ScalableBloomFilter};
use pds_core::error::{BuildError, MergeError};
use pds_core::hash::{KeyHasher, Raw};

use super::{Added, Design, Information, Layout, Refusal, take_answers};
use crate::quality::Quality;

/// A filter that grows, with the number of items that were new.
#[derive(Debug)]
pub(crate) struct Growing {
    pub(super) filter: ScalableBlockedBloomFilter,
    pub(super) items: u64,
}

/// A filter that does not grow, with the number of items that were new.
#[derive(Debug)]
pub(crate) struct Fixed {
    pub(super) filter: BlockedBloomFilter,
    pub(super) items: u64,
}

fn hashes_of(hasher: &impl KeyHasher, items: &[&[u8]]) -> Vec<u64> {
    items.iter().map(|item| hasher.hash_key(&Raw(item))).collect()
}

/// Returns an estimate as a number of items.
#[expect(clippy::cast_possible_truncation, reason = "it saturates")]
#[expect(clippy::cast_sign_loss, reason = "it is not negative")]
pub(super) fn rounded(items: f64) -> u64 {
    items.round() as u64
}

fn line_of(layer: &BlockedBloomFilter) -> String {
    let (bytes, capacity) = (layer.size_in_bytes(), layer.expected_items().unwrap_or(0));
    let (bits, hashes) = (layer.num_bits(), layer.num_hashes());
    let (items, rate) = (rounded(layer.approx_len().value), layer.promised_rate().unwrap_or(0.0));
    format!(
        "bytes:{bytes} bits:{bits} hashes:{hashes} hashwidth:64 capacity:{capacity} size:{items} ratio:{rate}"
    )
}

impl Growing {
    pub(super) fn new(design: Design, growth: u32) -> Result<Self, BuildError> {
        let builder = ScalableBloomFilter::builder()
            .expected_items(design.capacity)
            .false_positive_rate(design.rate)
            .growth(growth);
        Ok(Self { filter: builder.build_blocked()?, items: 0 })
    }

    #[inline]
    fn add_hash(&mut self, hash: u64) -> Added {
        let is_new = self.filter.insert_hash(hash).map_err(|error| Refusal::of(&error))?;
        self.items += u64::from(is_new);
        Ok(is_new)
    }

    /// Takes the layers of another filter. The number of items is estimated afterwards.
    pub(super) fn merge(&mut self, other: &Self) -> Result<(), MergeError> {
        self.filter.merge(&other.filter)?;
        self.items = rounded(self.filter.approx_len().value);
        Ok(())
    }
}

impl Layout for Growing {
    #[inline]
    fn add(&mut self, item: &[u8]) -> Added {
        self.add_hash(self.filter.hasher().hash_key(&Raw(item)))
    }

    #[inline]
    fn contains(&self, item: &[u8]) -> bool {
        self.filter.contains_hash(self.filter.hasher().hash_key(&Raw(item)))
    }

    fn add_each(&mut self, items: &[&[u8]], answers: &mut Vec<Added>) {
        let hashes = hashes_of(self.filter.hasher(), items);
        // Lookups in batches wait for many cache lines at once. The inserts after them find the lines in the cache.
        let mut known = vec![false; hashes.len()];
        self.filter.contains_hash_batch(&hashes, &mut known);
        let add = |(&hash, known)| if known { Ok(false) } else { self.add_hash(hash) };
        take_answers(answers, hashes.iter().zip(known).map(add));
    }

    fn contains_each(&self, items: &[&[u8]]) -> Vec<bool> {
        let hashes = hashes_of(self.filter.hasher(), items);
        let mut known = vec![false; hashes.len()];
        self.filter.contains_hash_batch(&hashes, &mut known);
        known
    }

    fn information(&self) -> Information {
        Information {
            layout: "blocked layers that grow",
            capacity: self.filter.capacity(),
            layers: self.filter.num_layers() as u64,
            items: self.items,
            growth: Some(self.filter.params().growth().into()),
        }
    }

    fn quality(&self) -> Quality {
        Quality::of(&self.filter.health())
    }

    fn lines(&self) -> Vec<String> {
        self.filter.layers().iter().map(line_of).collect()
    }
}

impl Fixed {
    pub(super) fn new(design: Design) -> Result<Self, BuildError> {
        let builder = BlockedBloomFilter::builder()
            .expected_items(design.capacity)
            .false_positive_rate(design.rate);
        Ok(Self { filter: builder.build()?, items: 0 })
    }

    fn capacity(&self) -> u64 {
        self.filter.expected_items().unwrap_or(0)
    }

    #[inline]
    fn add_hash(&mut self, hash: u64) -> Added {
        if self.items >= self.capacity() {
            return if self.filter.contains_hash(hash) { Ok(false) } else { Err(Refusal::Full) };
        }
        let is_new = self.filter.insert_hash(hash);
        self.items += u64::from(is_new);
        Ok(is_new)
    }

    /// Adds the items of a filter of the same shape. The number of items is estimated afterwards.
    pub(super) fn merge(&mut self, other: &Self) -> Result<(), MergeError> {
        self.filter.union_with(&other.filter).map_err(MergeError::Incompatible)?;
        self.items = rounded(self.filter.approx_len().value);
        Ok(())
    }
}

impl Layout for Fixed {
    #[inline]
    fn add(&mut self, item: &[u8]) -> Added {
        self.add_hash(self.filter.hash_key(&Raw(item)))
    }

    #[inline]
    fn contains(&self, item: &[u8]) -> bool {
        self.filter.contains_hash(self.filter.hash_key(&Raw(item)))
    }

    fn add_each(&mut self, items: &[&[u8]], answers: &mut Vec<Added>) {
        let hashes = hashes_of(&self.filter, items);
        let mut known = vec![false; hashes.len()];
        self.filter.contains_hash_batch(&hashes, &mut known);
        let add = |(&hash, known)| if known { Ok(false) } else { self.add_hash(hash) };
        take_answers(answers, hashes.iter().zip(known).map(add));
    }

    fn contains_each(&self, items: &[&[u8]]) -> Vec<bool> {
        let hashes = hashes_of(&self.filter, items);
        let mut known = vec![false; hashes.len()];
        self.filter.contains_hash_batch(&hashes, &mut known);
        known
    }

    fn information(&self) -> Information {
        Information {
            layout: "one blocked filter",
            capacity: self.capacity(),
            layers: 1,
            items: self.items,
            growth: None,
        }
    }

    fn quality(&self) -> Quality {
        Quality::of(&self.filter.health())
    }

    fn lines(&self) -> Vec<String> {
        vec![line_of(&self.filter)]
    }
}
