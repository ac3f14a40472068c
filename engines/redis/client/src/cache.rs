//! Local memory of keys that are known to be contained.

/// The hashes of keys that a server recently said to contain, a bounded number of them.
///
/// A filter sees nothing of a key but its 64-bit hash. A key whose hash is here is therefore, for the filter, the very key that it
/// contains: the filter would answer *present*, too. So the cache adds no false positive. A filter as a cache would
/// add its own.
// Direct-mapped: a new hash replaces the one that shares its place. 0 marks an empty place, so the hash 0 is never kept.
#[derive(Debug)]
pub(crate) struct Recent {
    hashes: Box<[u64]>,
    /// Number of keys that were found.
    hits: u64,
}

impl Recent {
    /// Creates a cache for at least this number of hashes, 8 bytes each. 0 switches it off.
    pub(crate) fn new(entries: usize) -> Self {
        let places = if entries == 0 { 0 } else { entries.next_power_of_two() };
        Self { hashes: vec![0; places].into(), hits: 0 }
    }

    #[expect(clippy::cast_possible_truncation, reason = "the low bits are taken")]
    fn place(&self, hash: u64) -> Option<usize> {
        (hash != 0 && !self.hashes.is_empty()).then(|| hash as usize & (self.hashes.len() - 1))
    }

    pub(crate) fn insert(&mut self, hash: u64) {
        if let Some(place) = self.place(hash) {
            self.hashes[place] = hash;
        }
    }

    pub(crate) fn contains(&mut self, hash: u64) -> bool {
        let found = self.place(hash).is_some_and(|place| self.hashes[place] == hash);
        self.hits += u64::from(found);
        found
    }

    pub(crate) fn clear(&mut self) {
        self.hashes.fill(0);
    }

    pub(crate) const fn hits(&self) -> u64 {
        self.hits
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pds_core::hash::finalize;

    #[test]
    fn only_what_was_inserted_is_contained() {
        let mut recent = Recent::new(1_000);
        (1..=10_000).map(finalize).for_each(|hash| recent.insert(hash));
        assert!((10_001..=1_000_000).map(finalize).all(|hash| !recent.contains(hash)));
        assert!(recent.contains(finalize(10_000)));
        let kept = (1..=10_000).filter(|&number| recent.contains(finalize(number))).count();
        assert!((900..=1_024).contains(&kept), "{kept}");
        assert_eq!(recent.hits(), 1 + kept as u64);
        recent.clear();
        assert!(!recent.contains(finalize(10_000)));
    }

    #[test]
    fn without_entries_nothing_is_contained() {
        let mut recent = Recent::new(0);
        recent.insert(7);
        recent.insert(0);
        assert!(!recent.contains(7) && !recent.contains(0));
        let mut one = Recent::new(1);
        one.insert(0);
        assert!(!one.contains(0));
    }
}
