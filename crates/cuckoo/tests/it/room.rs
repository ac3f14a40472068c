//! An insert fails only where no arrangement of all fingerprints has a place for one more.
#![cfg(feature = "std")]

use core::mem;

use cuckoo::CuckooFilter;
use pds_testkit::keys;

/// Keys in buckets of four, moved along augmenting paths: the textbook's way to a greatest matching, depth first and
/// apart from the crate's search.
struct Arrangement {
    buckets: Vec<Vec<[usize; 2]>>,
}

impl Arrangement {
    fn insert(&mut self, places: [usize; 2]) -> bool {
        let mut seen = vec![false; self.buckets.len()];
        let free = places.into_iter().find(|&bucket| self.make_room(bucket, &mut seen));
        free.inspect(|&bucket| self.buckets[bucket].push(places)).is_some()
    }

    fn make_room(&mut self, bucket: usize, seen: &mut [bool]) -> bool {
        if self.buckets[bucket].len() < 4 {
            return true;
        }
        if mem::replace(&mut seen[bucket], true) {
            return false;
        }
        let other = |[first, second]: [usize; 2]| first + second - bucket;
        let moved = (0..4).find(|&i| self.make_room(other(self.buckets[bucket][i]), seen));
        moved.is_some_and(|index| {
            let places = self.buckets[bucket].swap_remove(index);
            self.buckets[other(places)].push(places);
            true
        })
    }
}

fn shaped(buckets: u64, bits: u32) -> CuckooFilter {
    CuckooFilter::builder().buckets(buckets).fingerprint_bits(bits).build().unwrap()
}

/// The two buckets of a hash: after four copies the first is full, and a fifth lies in the other.
fn places(probe: &mut CuckooFilter, hash: u64) -> [usize; 2] {
    probe.clear();
    while probe.len() < 5 && probe.insert_hash(hash).is_ok() {}
    let mut buckets = probe.fingerprints().map(|(bucket, _)| usize::try_from(bucket).unwrap());
    let first = buckets.next().unwrap();
    [first, buckets.last().unwrap()]
}

/// Every insert of a history agrees with the matching: until the filter is full, beyond, and with copies.
fn check(buckets: u64, bits: u32, seed: u64) -> u64 {
    let (mut filter, mut probe) = (shaped(buckets, bits), shaped(buckets, bits));
    let mut arrangement =
        Arrangement { buckets: vec![Vec::new(); usize::try_from(buckets).unwrap()] };
    let mut failures = 0;
    for (number, hash) in keys::random(seed).take(usize::try_from(6 * buckets).unwrap()).enumerate()
    {
        for _ in 0..1 + number % 7 / 6 {
            let fits = arrangement.insert(places(&mut probe, hash));
            let inserted = filter.insert_hash(hash).is_ok();
            assert_eq!(inserted, fits, "{buckets} x {bits}, seed {seed}, key {number}");
            failures += u64::from(!inserted);
        }
    }
    failures
}

#[test]
fn an_insert_fails_only_without_any_arrangement() {
    for buckets in 1..40 {
        for bits in [4, 5, 8, 13, 17, 32] {
            for seed in 0..8 {
                assert!(check(buckets, bits, seed) >= buckets, "not filled");
            }
        }
    }
}

/// As many buckets as the search can visit. The first search, of the nearest buckets, has not found what the second does.
#[test]
fn the_search_visits_every_bucket_of_larger_filters_too() {
    for (buckets, bits) in [(130, 8), (1_021, 6), (2_048, 12)] {
        assert!(check(buckets, bits, buckets) >= buckets, "not filled");
    }
}

/// Two searches, both in vain, and not a byte has changed.
#[test]
fn a_failed_insert_changes_nothing() {
    for (buckets, bits) in [(1, 8), (50, 8), (501, 5), (5_000, 12)] {
        let mut filter = shaped(buckets, bits);
        let mut failures = 0;
        for hash in keys::random(bits.into()) {
            let before = if filter.load_factor() > 0.9 { Some(filter.clone()) } else { None };
            if filter.insert_hash(hash).is_err() {
                assert!(before.is_none_or(|before| before == filter), "{buckets} x {bits}");
                failures += 1;
            }
            if failures == 5 {
                break;
            }
        }
    }
}
