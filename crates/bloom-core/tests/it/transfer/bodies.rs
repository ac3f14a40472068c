//! The bodies of the fuzz targets, which ordinary tests run, too.

use bloom_core::BloomFilter;
use pds_core::bytes::{ByteOptions, Compressed, Delta};
use pds_testkit::mutate::{Choices, mutate as change};

/// Longest envelope that a test unpacks: a claim in few bytes can be great.
const MOST: u64 = 1 << 22;

/// Decodes bytes as each of the two. What is accepted is written back as it was, and what it holds is compressed to it.
pub(crate) fn decode(bytes: &[u8]) {
    if let Ok(compressed) = Compressed::from_bytes(bytes) {
        assert_eq!(compressed.to_bytes(), bytes);
        let chunks = (0..compressed.num_chunks().min(100)).map(|i| compressed.chunk(i));
        let is_valid = chunks.fold(true, |all, chunk| all & chunk.is_ok());
        let options = ByteOptions::new().max_bytes(MOST);
        if let Ok(filter) = options.decompress::<BloomFilter>(&compressed) {
            assert!(is_valid);
            assert_eq!(
                Compressed::new(&filter).to_bytes(),
                bytes,
                "equal filters have equal bytes"
            );
        }
    }
    if let Ok(delta) = Delta::from_bytes(bytes) {
        assert_eq!(delta.to_bytes(), bytes);
        let mut filter = BloomFilter::new(1, 0.01).unwrap();
        let before = filter.to_bytes();
        if delta.apply(&mut filter).is_err() {
            assert_eq!(filter.to_bytes(), before);
        }
    }
}

/// Changes the bytes of a compressed filter and of a delta, with checksums that fit again, and reads them.
pub(crate) fn mutate(input: &[u8]) {
    let mut choices = Choices::new(input);
    let bits = 1 + choices.below(1_000) as u64;
    let mut old = BloomFilter::builder().bits(bits).hashes(2).build().unwrap();
    old.extend(0..choices.byte() % 64);
    let mut new = old.clone();
    new.extend(0..choices.byte());
    let delta = Delta::between(&old, &new).unwrap();
    let mut bytes = Compressed::new(&new).to_bytes();
    change(&mut bytes, &mut choices);
    decode(&bytes);
    let mut bytes = delta.to_bytes();
    change(&mut bytes, &mut choices);
    decode(&bytes);
    if let Ok(forged) = Delta::from_bytes(&bytes) {
        let mut filter = old.clone();
        match forged.apply(&mut filter) {
            // The checksum of the newer state is part of its fingerprint.
            Ok(()) => assert!(forged != delta || filter == new),
            Err(_) => assert_eq!(filter.to_bytes(), old.to_bytes(), "nothing is changed"),
        }
    }
}
