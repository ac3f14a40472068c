//! Bytes that lie allocate a constant, whatever they claim. A build needs little beyond its hashes and its result. A lookup needs
//! nothing.
//!
//! One test only: what is measured is the process's.
#![cfg(feature = "std")]

use fuse::{
    ExactFilter, ExactFilterView, FuseFilter, FuseFilterView, RetrievalMap, RetrievalMapView,
    RibbonFilter, RibbonFilterView, UpdatableMap, UpdatableMapView,
};
use pds_core::bytes::Portable;
use pds_params::fuse::FuseShape;
use pds_testkit::allocation::{CONSTANT, PeakAlloc, peak_of};
use pds_testkit::{envelope, keys, portable};

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

/// Reads bytes in every way.
macro_rules! refuse {
    ($structure:ty, $view:ty, $bytes:expr) => {{
        portable::refuse::<$structure>($bytes);
        assert!(<$view>::open($bytes).is_err());
        #[cfg(feature = "serde")]
        pds_testkit::format::refuse_claims::<$structure>($bytes);
    }};
}

/// Returns bytes that claim as many keys.
fn claim(structure: &impl Portable, keys: u64) -> Vec<u8> {
    let bytes = pds_core::bytes::ByteOptions::new().with_key().to_bytes(structure);
    envelope::claiming(&bytes, keys, keys)
}

/// Returns the length of a payload with cells of these widths, in a table and for the values of a map.
fn bytes_of_graph(keys: u64, width: u64, value_bits: u64) -> u64 {
    let Ok(shape) = FuseShape::new(keys, 0) else { return keys };
    let table = ((shape.slots_per_shard() * width).div_ceil(64) + 1) * shape.shards();
    8 * (table + (shape.num_slots() * value_bits).div_ceil(64))
}

/// Returns by how many bytes per key the peak of a build exceeds the size of its result.
fn scratch<T>(keys: usize, build: impl FnOnce() -> T, size: impl Fn(&T) -> u64) -> f64 {
    let (built, peak) = peak_of(&ALLOCATOR, build);
    (peak as f64 - size(&built) as f64) / keys as f64
}

/// Asks for keys in every way, and returns how much it allocates.
macro_rules! peak_of_lookups {
    ($filter:expr, $hashes:expr) => {{
        let keys: Vec<u64> = (0..$hashes.len() as u64).collect();
        let mut answers = vec![false; keys.len()];
        let ((), peak) = peak_of(&ALLOCATOR, || {
            $filter.contains_hash_batch($hashes, &mut answers);
            assert!($hashes.iter().zip(&answers).all(|(&h, &has)| $filter.contains_hash(h) == has));
            $filter.contains_batch(&keys, &mut answers);
            assert!(keys.iter().zip(&answers).all(|(key, &has)| $filter.contains(key) == has));
        });
        peak
    }};
}

/// The same for maps.
macro_rules! peak_of_map_lookups {
    ($map:expr, $hashes:expr) => {{
        let keys: Vec<u64> = (0..$hashes.len() as u64).collect();
        let mut answers = vec![None; keys.len()];
        let ((), peak) = peak_of(&ALLOCATOR, || {
            $map.get_hash_batch($hashes, &mut answers);
            assert!($hashes.iter().zip(&answers).all(|(&h, &value)| $map.get_hash(h) == value));
            $map.get_batch(&keys, &mut answers);
            assert!(keys.iter().zip(&answers).all(|(key, &value)| $map.get(key) == value));
        });
        peak
    }};
}

#[test]
fn case_17_a_claim_and_a_lookup_allocate_nothing_and_a_build_little() {
    claims_allocate_nothing();
    builds_allocate_little();
    lookups_allocate_nothing();
}

fn claims_allocate_nothing() {
    let filter = RibbonFilter::new([1], 0.01).unwrap();
    let map = RetrievalMap::new([(1, 1)], 8).unwrap();
    let exact = ExactFilter::new([1], [2, 3]).unwrap();
    let fuse = FuseFilter::new([1], 0.01).unwrap();
    let updatable = UpdatableMap::new([(1, 1)], 8).unwrap();
    for keys in [1 << 16, 1 << 24, 1 << 32, 1 << 60] {
        let claims = [claim(&filter, keys), claim(&map, keys), claim(&exact, keys)];
        // These have a length that follows from the number of keys: the claim agrees with itself.
        let of_graphs = [
            envelope::claiming(&fuse.to_bytes(), keys, bytes_of_graph(keys, 7, 0)),
            envelope::claiming(&updatable.to_bytes(), keys, bytes_of_graph(keys, 10, 1)),
        ];
        let ((), peak) = peak_of(&ALLOCATOR, || {
            refuse!(RibbonFilter, RibbonFilterView<&[u8]>, claims[0].as_slice());
            refuse!(RetrievalMap, RetrievalMapView<&[u8]>, claims[1].as_slice());
            refuse!(ExactFilter, ExactFilterView<&[u8]>, claims[2].as_slice());
            refuse!(FuseFilter, FuseFilterView<&[u8]>, of_graphs[0].as_slice());
            refuse!(UpdatableMap, UpdatableMapView<&[u8]>, of_graphs[1].as_slice());
        });
        assert!(peak < CONSTANT, "{keys} keys claimed: {peak} bytes");
    }
}

/// The documented peak of each builder, in bytes per key without the hashes.
fn builds_allocate_little() {
    let hashes = |keys: usize| keys::random(1).take(keys).collect::<Vec<u64>>();
    let given = hashes(4_000_000);
    let build = || RibbonFilter::builder().columns(8.0).build_hashes(given).unwrap();
    // The rest is the rows of one segment, and the bumped keys.
    let ribbon = scratch(4_000_000, build, RibbonFilter::size_in_bytes);
    assert!(ribbon < 2.0, "{ribbon} bytes per key");
    let given = hashes(1_000_000);
    let build = || FuseFilter::builder().fingerprint_bits(8).build_hashes(given).unwrap();
    let fuse = scratch(1_000_000, build, FuseFilter::size_in_bytes);
    assert!(fuse < 15.0, "{fuse} bytes per key");
    // Small sets need most per key.
    let given = hashes(20_000);
    let build = || FuseFilter::builder().fingerprint_bits(8).build_hashes(given).unwrap();
    let fuse = scratch(20_000, build, FuseFilter::size_in_bytes);
    assert!(fuse < 16.0, "{fuse} bytes per key");
    for (include, exclude) in [(100_000, 0), (100_000, 200_000), (20_000, 300_000)] {
        let (given, others) = (hashes(include), keys::random(2).take(exclude).collect());
        let build = || ExactFilter::builder().build_hashes(given, others).unwrap();
        let exact = scratch(include, build, ExactFilter::size_in_bytes);
        assert!(exact < 49.0, "{exact} bytes per key to include, {include} and {exclude}");
    }
    let entries: Vec<(u64, u64)> = hashes(4_000_000).into_iter().map(|hash| (hash, 1)).collect();
    let build = || RetrievalMap::builder().check_bits(7).build_hashes(entries).unwrap();
    let retrieval = scratch(4_000_000, build, RetrievalMap::size_in_bytes);
    assert!(retrieval < 2.0, "{retrieval} bytes per key");
    // A wrong rate is found before the keys are sorted.
    let given = hashes(20_000);
    let (refused, peak) = peak_of(&ALLOCATOR, || {
        RibbonFilter::builder().false_positive_rate(2.0).build_hashes(given)
    });
    assert!(refused.is_err() && peak == 0, "{peak} bytes for an error");
    let entries: Vec<(u64, u64)> = hashes(1_000_000).into_iter().map(|hash| (hash, 1)).collect();
    let build = || UpdatableMap::builder().check_bits(8).build_hashes(entries).unwrap();
    let updatable = scratch(1_000_000, build, UpdatableMap::size_in_bytes);
    assert!(updatable < 8.0 + 15.0, "{updatable} bytes per key");
}

fn lookups_allocate_nothing() {
    // More than 1 MiB each, so that batches prefetch.
    let hashes: Vec<u64> = keys::random(2).take(1_200_000).collect();
    let entries: Vec<(u64, u64)> = hashes.iter().map(|&hash| (hash, hash % 2)).collect();
    let asked = &hashes[..10_000];
    let ribbon = RibbonFilter::builder().columns(8.0).build_hashes(hashes.clone()).unwrap();
    assert_eq!(peak_of_lookups!(ribbon, asked), 0);
    let fuse = FuseFilter::builder().fingerprint_bits(8).build_hashes(hashes.clone()).unwrap();
    assert_eq!(peak_of_lookups!(fuse, asked), 0);
    let map = RetrievalMap::builder().check_bits(7).build_hashes(entries.clone()).unwrap();
    assert_eq!(peak_of_map_lookups!(map, asked), 0);
    let mut map = UpdatableMap::builder().check_bits(5).build_hashes(entries).unwrap();
    assert_eq!(peak_of_map_lookups!(map, asked), 0);
    let ((), peak) = peak_of(&ALLOCATOR, || {
        asked.iter().for_each(|&hash| assert_eq!(map.set_hash(hash, 1), Ok(true)));
    });
    assert_eq!(peak, 0, "changes of values");
    let exact = ExactFilter::builder()
        .build_hashes(hashes[..400_000].to_vec(), hashes[400_000..].to_vec())
        .unwrap();
    assert_eq!(peak_of_lookups!(exact, asked), 0);
}
