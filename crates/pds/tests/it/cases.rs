//! The cases of `docs/cases.md` that several structures share.
#![cfg(all(
    feature = "std",
    feature = "blocked",
    feature = "bloom",
    feature = "cms",
    feature = "counting",
    feature = "cuckoo",
    feature = "fuse",
    feature = "heavy-hitters",
    feature = "hll",
    feature = "quotient"
))]

use std::fs;

use pds::bytes::{ByteOptions, Portable};
use pds::counting::Bits8;
use pds::error::DecodeError;
use pds::hash::SipHashBuilder;
use pds::params::{CountMinParams, CountSketchParams, HeavyHittersParams, HllParams};
use pds::{
    AtomicBlockedBloomFilter, AtomicBloomFilter, AtomicHyperLogLog, BlockedBloomFilter,
    BlockedCountingBloomFilter, BloomFilter, CountMinSketch, CountSketch, CountingBloomFilter,
    CuckooFilter, HeavyHitters, HyperLogLog, SketchedHeavyHitters, TopK, UltraLogLog,
};
use pds_core::internal::DecodeFault;

/// Bytes with the key open by themselves, those without it need the hasher, and a file holds what the bytes do.
fn comes_back<P: Portable<Hasher = SipHashBuilder>>(structure: &P, hasher: SipHashBuilder) {
    let with_key = ByteOptions::new().with_key().to_bytes(structure);
    let without_key = ByteOptions::new().without_key().to_bytes(structure);
    let key = hasher.key();
    assert!(with_key.windows(16).any(|window| window == key), "{}", P::KIND);
    assert!(!without_key.windows(16).any(|window| window == key), "{}", P::KIND);

    let path = std::env::temp_dir().join(format!("pds-{}-case-41", std::process::id()));
    let check = |read: P| assert_eq!(ByteOptions::new().with_key().to_bytes(&read), with_key);
    ByteOptions::new().with_key().save(structure, &path).unwrap();
    check(ByteOptions::new().load(&path).unwrap());
    check(ByteOptions::new().from_bytes(&with_key).unwrap());
    ByteOptions::new().without_key().save(structure, &path).unwrap();
    check(ByteOptions::new().hasher(hasher).load(&path).unwrap());
    check(ByteOptions::new().hasher(hasher).from_bytes(&without_key).unwrap());
    fs::remove_file(&path).unwrap();
    assert_eq!(
        ByteOptions::new().from_bytes::<P>(&without_key).err(),
        Some(DecodeError(DecodeFault::KeyMissing { offset: 48 }))
    );
}

/// Every structure with a secret key is stored in both ways; `docs/security.md` shows that there is no third.
#[test]
fn case_41_a_structure_with_a_secret_key_is_stored_by_choice_and_comes_back() {
    let hasher = SipHashBuilder::random();
    let mut bloom = BloomFilter::builder().expected_items(9).hasher(hasher).build().unwrap();
    let mut blocked =
        BlockedBloomFilter::builder().expected_items(9).hasher(hasher).build().unwrap();
    let mut counting =
        CountingBloomFilter::builder().expected_items(9).hasher(hasher).build().unwrap();
    let wide = CountingBloomFilter::builder().expected_items(9).wide_counters().hasher(hasher);
    let mut wide: CountingBloomFilter<_, Bits8> = wide.build().unwrap();
    let mut lines =
        BlockedCountingBloomFilter::builder().expected_items(9).hasher(hasher).build().unwrap();
    let mut cuckoo = CuckooFilter::builder().expected_items(9).hasher(hasher).build().unwrap();
    let rows = CountMinParams::new(0.05, 0.1).unwrap();
    let mut count_min = CountMinSketch::builder().params(rows).hasher(hasher).build().unwrap();
    let shape = CountSketchParams::new(0.5, 0.1).unwrap();
    let mut count = CountSketch::from_params(shape, hasher).unwrap();
    let mut heavy =
        HeavyHitters::<u64, _>::from_params(HeavyHittersParams::new(0.1).unwrap(), hasher).unwrap();
    let mut sketched = SketchedHeavyHitters::<u64>::builder()
        .phi(0.1)
        .params(rows)
        .hasher(hasher)
        .build()
        .unwrap();
    let mut top = TopK::<u64>::builder().k(3).hasher(hasher).build().unwrap();
    let params = HllParams::new(4).unwrap();
    let mut plain = HyperLogLog::from_params(params, hasher);
    let mut ultra = UltraLogLog::from_params(params, hasher);
    for key in 0..9u64 {
        bloom.insert(&key);
        blocked.insert(&key);
        counting.insert(&key);
        wide.insert(&key);
        lines.insert(&key);
        cuckoo.insert(&key).unwrap();
        count_min.insert(&key);
        count.insert(&key);
        heavy.insert(&key);
        sketched.insert(&key);
        top.insert(&key);
        plain.insert(&key);
        ultra.insert(&key);
    }
    comes_back(&bloom, hasher);
    comes_back(&blocked, hasher);
    comes_back(&counting, hasher);
    comes_back(&wide, hasher);
    comes_back(&lines, hasher);
    comes_back(&cuckoo, hasher);
    comes_back(&count_min, hasher);
    comes_back(&count, hasher);
    comes_back(&heavy, hasher);
    comes_back(&sketched, hasher);
    comes_back(&top, hasher);
    comes_back(&plain, hasher);
    comes_back(&ultra, hasher);
    comes_back(&AtomicBloomFilter::from(bloom), hasher);
    comes_back(&AtomicBlockedBloomFilter::from(blocked), hasher);
    let shared = CountMinSketch::builder()
        .params(rows)
        .counters::<u8>()
        .hasher(hasher)
        .build_atomic()
        .unwrap();
    comes_back(&shared, hasher);
    comes_back(&AtomicHyperLogLog::from(plain), hasher);
}
