//! Allocations of reading and writing: the filter and a constant. Forged bytes get only the constant.
#![cfg(feature = "std")]

use std::fs::{self, File};
use std::io;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use bloom_core::{AtomicBloomFilter, BloomFilter, BloomFilterView};
use pds_core::bytes::{ByteOptions, Compressed, Delta};
use pds_testkit::allocation::{CONSTANT, PeakAlloc, peak_of};

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

const MIB: u64 = 1 << 20;

/// Runs the tests of this file one at a time.
fn alone() -> impl Drop {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn path(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("pds-{name}-{}.pds", std::process::id()))
}

/// Returns a header that claims a filter of `bits` bits, with a correct checksum and 8 bytes of payload.
fn claiming(bits: u64) -> Vec<u8> {
    let one = BloomFilter::builder().bits(1).hashes(1).build().unwrap().to_bytes();
    pds_testkit::envelope::claiming(&one, bits, bits.div_ceil(64) * 8)
}

/// Returns a compressed filter and a delta with this index and no bodies.
fn with_index(index: &[u8]) -> [Vec<u8>; 2] {
    use pds_testkit::envelope::{claiming, with_number, with_payload};
    let payload_bytes = index.len() as u64 / 2 * 4096;
    let one = BloomFilter::builder().bits(1).hashes(1).build().unwrap();
    let head = &claiming(&one.to_bytes(), 8 * payload_bytes, payload_bytes)[..128];
    let coded = [head, &[0; 8], index].concat();
    let compressed = with_payload(&Compressed::new(&one).to_bytes(), &coded);
    let delta = Delta::between(&one, &one).unwrap().to_bytes();
    let delta = with_payload(&delta, &[&[0; 8], coded.as_slice()].concat());
    [compressed, delta].map(|bytes| with_number(&bytes, 0, payload_bytes))
}

#[test]
fn case_17_a_claim_allocates_nothing() {
    let _alone = alone();
    let path = path("claim");
    for bits in [65, 1 << 23, 1 << 33, 1 << 45, 1 << 63] {
        let bytes = claiming(bits);
        fs::write(&path, &bytes).unwrap();
        let ((), peak) = peak_of(&ALLOCATOR, || {
            assert!(BloomFilter::from_bytes(&bytes).is_err());
            assert!(ByteOptions::new().from_bytes::<AtomicBloomFilter>(&bytes).is_err());
            assert!(BloomFilterView::open(&bytes).is_err());
            assert!(ByteOptions::new().load::<BloomFilter>(&path).is_err());
        });
        assert!(peak < CONSTANT, "{bits} bits claimed: {peak} bytes");
    }
    fs::remove_file(path).unwrap();
}

#[test]
fn case_17_a_stream_that_lies_allocates_its_limit_at_the_most() {
    let _alone = alone();
    for (bits, limit) in [(1u64 << 23, MIB), (1 << 33, MIB), (1 << 33, 0), (1 << 63, 1 << 30)] {
        let bytes = claiming(bits);
        let limits = limit;
        let (read, peak) = peak_of(&ALLOCATOR, || {
            ByteOptions::new().max_bytes(limits).read_from::<BloomFilter>(bytes.as_slice())
        });
        assert!(read.is_err());
        let allowed = if bits / 8 + 136 > limit { 0 } else { usize::try_from(limit).unwrap() };
        assert!(peak < allowed + CONSTANT, "{bits} bits claimed, {limit} allowed: {peak} bytes");
    }
}

/// An entry of the index is two bytes, whatever it claims: no bits, or a chunk that is not there.
#[test]
fn case_17_an_index_allocates_no_more_than_its_bytes() {
    let _alone = alone();
    let chunks = 1 << 18;
    for length in [0_u16, 1, 4096] {
        let index = length.to_le_bytes().repeat(chunks);
        let inputs = with_index(&index);
        for bytes in &inputs {
            let (is_read, peak) = peak_of(&ALLOCATOR, || {
                let compressed = Compressed::from_bytes(bytes).is_ok();
                let options = ByteOptions::new().max_bytes(bytes.len() as u64);
                let streamed = options.read_from::<Delta>(bytes.as_slice()).is_ok();
                assert!(options.read_from::<Compressed>(bytes.as_slice()).is_ok() == compressed);
                assert!(Delta::from_bytes(bytes).is_ok() == streamed);
                compressed || streamed
            });
            assert_eq!(is_read, length == 0);
            assert!(peak < bytes.len() + CONSTANT, "{length}: {peak} of {} bytes", bytes.len());
        }
    }
}

/// A length before bytes is a claim, too.
#[cfg(feature = "serde")]
#[test]
fn case_18_a_length_that_lies_allocates_nothing() {
    use pds_testkit::format::claiming as claiming_length;

    let _alone = alone();
    let valid = BloomFilter::builder().bits(1).hashes(1).build().unwrap().to_bytes();
    for length in [1u64 << 20, 1 << 32, 1 << 40, 1 << 62, u64::MAX] {
        let claims = claiming_length(length, &valid);
        let ((), peak) = peak_of(&ALLOCATOR, || {
            for (format, claim) in &claims {
                assert!(format.read::<BloomFilter>(claim).is_err(), "{format:?}");
            }
            let (config, bincode) = (bincode::config::standard(), &claims[0].1);
            let read: Result<BloomFilter, _> =
                bincode::serde::decode_from_std_read(&mut bincode.as_slice(), config);
            assert!(read.is_err());
        });
        assert!(peak < CONSTANT, "a length of {length}: {peak} bytes");
    }
}

/// Writes a filter of this number of bytes and reads it again. Returns the memory of both beyond the filter.
fn stream(bytes: u64) -> [usize; 2] {
    let path = path("stream");
    let hashes: Vec<u64> = pds_testkit::keys::random(1).take(1_000_000).collect();
    let mut filter = BloomFilter::builder().bits(8 * bytes).hashes(8).build().unwrap();
    filter.insert_hash_batch(&hashes);
    let touched = peak_touched();
    let start = Instant::now();
    let (written, peak_writing) = peak_of(&ALLOCATOR, || filter.write_to(File::create(&path)?));
    written.unwrap();
    println!(
        "written in {:?}; touched beyond the filter: {:?} KiB",
        start.elapsed(),
        since(touched)
    );
    let ones = filter.count_ones();
    drop(filter);

    let touched = peak_touched();
    let start = Instant::now();
    let limits = bytes + 136;
    let (read, peak_reading) = peak_of(&ALLOCATOR, || {
        ByteOptions::new().max_bytes(limits).read_from::<BloomFilter>(File::open(&path).unwrap())
    });
    println!("read in {:?}; touched beyond all before: {:?} KiB", start.elapsed(), since(touched));
    let read = read.unwrap();
    assert!(read.count_ones() == ones && hashes.iter().all(|&hash| read.contains_hash(hash)));
    fs::remove_file(path).unwrap();
    [peak_writing, peak_reading - usize::try_from(bytes).unwrap()]
}

/// Returns the most memory that the process has touched, in KiB, if the system reports it.
fn peak_touched() -> Option<u64> {
    let status = io::read_to_string(File::open("/proc/self/status").ok()?).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.parse().ok()
}

fn since(before: Option<u64>) -> Option<u64> {
    Some(peak_touched()? - before?)
}

#[test]
fn a_stream_needs_no_second_filter() {
    let _alone = alone();
    let beyond = stream(64 * MIB);
    assert!(beyond.iter().all(|&bytes| bytes < CONSTANT), "{beyond:?} bytes beyond the filter");
}

#[test]
#[ignore = "takes 2 GiB of memory and of disk"]
fn a_stream_of_2_gib_needs_no_second_filter() {
    let _alone = alone();
    let beyond = stream(2048 * MIB);
    println!("allocated beyond the filter, writing and reading: {beyond:?} bytes");
    assert!(beyond.iter().all(|&bytes| bytes < CONSTANT), "{beyond:?} bytes beyond the filter");
}
