//! Memory that is refused while compressed filters and deltas are read is an error. One test: the limit is that of the process.
#![cfg(feature = "std")]

use std::alloc::System;

use bloom_core::BloomFilter;
use pds_core::bytes::{Compressed, Delta};
use pds_core::error::{DecodeError, DecodeErrorKind};
use pds_testkit::allocation::{Cap, with_at_most};

#[global_allocator]
static ALLOCATOR: Cap<System> = Cap::new(System, usize::MAX);

/// Reads with more and more memory, until it is enough. Returns the most with which memory was refused.
fn too_little(read: impl Fn() -> Result<(), DecodeError>) -> usize {
    let mut refused = 0;
    for more in (0..28).map(|i| 1 << i) {
        match with_at_most(&ALLOCATOR, more, &read) {
            Ok(()) => break,
            Err(error) => assert_eq!(error.kind(), DecodeErrorKind::Alloc, "{more}: {error}"),
        }
        refused = more;
    }
    refused
}

#[test]
fn refused_memory_is_an_error() {
    let mut filter = BloomFilter::builder().bits(4_000_000).hashes(1).build().unwrap();
    let (empty, unchanged) = (filter.clone(), Compressed::new(&filter).to_bytes());
    filter.extend(0..20_000);
    let compressed = Compressed::new(&filter).to_bytes();
    let delta = Delta::between(&empty, &filter).unwrap().to_bytes();
    for bytes in [&unchanged, &compressed] {
        let read = Compressed::from_bytes(bytes).unwrap();
        assert!(too_little(|| Compressed::from_bytes(bytes).map(drop)) >= 128);
        assert!(too_little(|| read.decompress::<BloomFilter>().map(drop)) >= 1 << 18);
        assert!(too_little(|| read.chunk(0).map(drop)) >= 1 << 12);
    }
    assert!(too_little(|| Delta::from_bytes(&delta).map(drop)) >= 1 << 13);
}
