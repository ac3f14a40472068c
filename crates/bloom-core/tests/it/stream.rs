//! Streams that are long, slow, interrupted, broken or hostile.
#![cfg(feature = "std")]

use std::fs;
use std::io::{self, BufWriter, Cursor, ErrorKind, Read, Write};

use bloom_core::{AtomicBloomFilter, BloomFilter};
use pds_core::bytes::ByteOptions;
use pds_core::error::{DecodeError, ReadError};
use pds_core::internal::DecodeFault;
use pds_testkit::mutate;

fn filter(items: u64) -> BloomFilter {
    let mut filter = BloomFilter::builder().expected_items(items).seed(items).build().unwrap();
    filter.extend(0..items);
    filter
}

/// A reader that gives one byte at a time, every other time after an interruption, and fails at byte `fails_at`.
struct Slow<'a> {
    bytes: &'a [u8],
    position: usize,
    interrupted: bool,
    fails_at: usize,
}

impl<'a> Slow<'a> {
    const fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, position: 0, interrupted: false, fails_at: usize::MAX }
    }

    fn step(&mut self) -> io::Result<usize> {
        self.interrupted = !self.interrupted;
        if self.interrupted {
            return Err(ErrorKind::Interrupted.into());
        }
        if self.position == self.fails_at {
            return Err(ErrorKind::ConnectionReset.into());
        }
        self.position += 1;
        Ok(1)
    }
}

impl Read for Slow<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let Some(&byte) = self.bytes.get(self.position) else { return Ok(0) };
        let (Some(first), count) = (into.first_mut(), self.step()?) else { return Ok(0) };
        *first = byte;
        Ok(count)
    }
}

#[test]
fn several_filters_follow_each_other_in_a_stream() {
    let filters: Vec<_> = [1, 5_000, 10, 20_000].map(filter).into();
    let mut stream = Vec::new();
    for filter in &filters {
        filter.write_to(&mut stream).unwrap();
    }
    stream.extend(b"and then some");
    let mut reader = stream.as_slice();
    for filter in &filters {
        assert_eq!(
            ByteOptions::new().max_bytes(u64::MAX).read_from::<BloomFilter>(&mut reader).unwrap(),
            *filter
        );
    }
    assert_eq!(reader, b"and then some");
    let error =
        ByteOptions::new().max_bytes(u64::MAX).read_from::<BloomFilter>(&mut reader).unwrap_err();
    assert!(
        matches!(error, ReadError::Decode(DecodeError(DecodeFault::Magic { .. }))),
        "{error:?}"
    );
    let error =
        ByteOptions::new().max_bytes(u64::MAX).read_from::<BloomFilter>(io::empty()).unwrap_err();
    assert!(
        is(&error, DecodeError(DecodeFault::Truncated { offset: 0, expected: 72 })),
        "{error:?}"
    );
}

fn is(error: &ReadError, expected: DecodeError) -> bool {
    matches!(error, ReadError::Decode(found) if *found == expected)
}

#[test]
fn a_slow_and_interrupted_stream_gives_the_same() {
    let bytes = filter(1_000).to_bytes();
    let mut slow = Slow::new(&bytes);
    assert_eq!(
        ByteOptions::new().max_bytes(u64::MAX).read_from::<BloomFilter>(&mut slow).unwrap(),
        filter(1_000)
    );
    let shared = ByteOptions::new()
        .max_bytes(u64::MAX)
        .read_from::<AtomicBloomFilter>(Slow::new(&bytes))
        .unwrap();
    assert!(shared.into_plain() == filter(1_000));
}

#[test]
fn an_early_end_says_where() {
    let bytes = filter(10).to_bytes();
    for length in 0..bytes.len() {
        let error = ByteOptions::new()
            .max_bytes(u64::MAX)
            .read_from::<BloomFilter>(&bytes[..length])
            .unwrap_err();
        let ReadError::Decode(DecodeError(DecodeFault::Truncated { offset, expected })) = error
        else {
            panic!("{length} bytes: {error:?}");
        };
        assert_eq!(offset, length as u64);
        assert!(expected > offset && expected <= bytes.len() as u64);
    }
}

#[test]
fn an_error_of_the_reader_comes_through() {
    let bytes = filter(10).to_bytes();
    for fails_at in 0..bytes.len() {
        let slow = Slow { fails_at, ..Slow::new(&bytes) };
        let error =
            ByteOptions::new().max_bytes(u64::MAX).read_from::<BloomFilter>(slow).unwrap_err();
        let ReadError::Io(error) = error else { panic!("byte {fails_at}: {error:?}") };
        assert_eq!(error.kind(), ErrorKind::ConnectionReset);
    }
}

/// The limit counts the whole envelope. A refusal reads only the head.
#[test]
fn more_than_the_limit_is_refused_after_the_header() {
    let filter = filter(1_000);
    let bytes = filter.to_bytes();
    let found = bytes.len() as u64;
    assert!(
        ByteOptions::new().max_bytes(found).read_from::<BloomFilter>(bytes.as_slice()).unwrap()
            == filter
    );
    for limit in [0, 1, found - 1] {
        let mut reader = Cursor::new(&bytes);
        let error =
            ByteOptions::new().max_bytes(limit).read_from::<BloomFilter>(&mut reader).unwrap_err();
        assert!(
            is(&error, DecodeError(DecodeFault::Limit { offset: 16, limit, found })),
            "{error:?}"
        );
        assert_eq!(reader.position(), 128);
    }
}

/// Every input that `from_bytes` refuses is refused by `load` for the same reason, and by `read_from` too.
#[test]
fn case_17_streams_and_files_refuse_what_bytes_do() {
    let path = std::env::temp_dir().join(format!("pds-refused-{}.pds", std::process::id()));
    let valid = filter(10).to_bytes();
    let mut inputs: Vec<Vec<u8>> =
        (0..valid.len()).map(|length| valid[..length].to_vec()).collect();
    inputs.extend((0..8 * valid.len()).map(|bit| flipped(&valid, bit)));
    inputs.extend(mutate::inputs(4, 3_000).map(|choices| forged(&valid, &choices)));
    inputs.push([valid.as_slice(), b"more"].concat());
    let mut refused = 0;
    for bytes in &inputs {
        fs::write(&path, bytes).unwrap();
        let loaded = ByteOptions::new().load::<BloomFilter>(&path);
        match BloomFilter::from_bytes(bytes) {
            Ok(filter) => assert!(loaded.unwrap() == filter),
            Err(error) => {
                refused += 1;
                let loaded = loaded.unwrap_err();
                assert_eq!(loaded.to_string(), format!("{}: {error}", path.display()));
                let ReadError::Decode(loaded) = loaded.error else { panic!("{error}") };
                assert_eq!(format!("{loaded:?}"), format!("{error:?}"));
                let read = ByteOptions::new()
                    .max_bytes(1 << 20)
                    .read_from::<BloomFilter>(bytes.as_slice());
                let trailing = matches!(error, DecodeError(DecodeFault::Trailing { .. }));
                assert!(trailing || matches!(read, Err(ReadError::Decode(_))), "{error}");
            }
        }
    }
    fs::remove_file(&path).unwrap();
    assert!(refused > inputs.len() / 2, "{refused} of {}", inputs.len());
    let missing = ByteOptions::new().load::<BloomFilter>(&path).unwrap_err();
    assert!(matches!(&missing.error, ReadError::Io(error) if error.kind() == ErrorKind::NotFound));
}

fn flipped(valid: &[u8], bit: usize) -> Vec<u8> {
    let mut bytes = valid.to_vec();
    bytes[bit / 8] ^= 1 << (bit % 8);
    bytes
}

fn forged(valid: &[u8], choices: &[u8]) -> Vec<u8> {
    let mut bytes = valid.to_vec();
    mutate::mutate(&mut bytes, &mut mutate::Choices::new(choices));
    bytes
}

/// A writer that takes one byte at a time, with interruptions, and as many as there is room for.
struct Full {
    written: Vec<u8>,
    room: usize,
    interrupted: bool,
}

impl Write for Full {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.interrupted = !self.interrupted;
        if self.interrupted {
            return Err(ErrorKind::Interrupted.into());
        }
        if self.written.len() == self.room {
            return Err(ErrorKind::StorageFull.into());
        }
        self.written.extend(&bytes[..1]);
        Ok(1)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn an_error_of_the_writer_comes_through() {
    let bytes = filter(10).to_bytes();
    for room in 0..=bytes.len() {
        let mut full = Full { written: Vec::new(), room, interrupted: false };
        let result = filter(10).write_to(&mut full);
        assert_eq!(full.written, bytes[..room]);
        match result {
            Ok(()) => assert_eq!(room, bytes.len()),
            Err(error) => {
                assert!(room < bytes.len() && error.kind() == ErrorKind::StorageFull);
            }
        }
    }
    // Buffered bytes are written, or the error is reported, before `write_to` returns.
    let full = Full { written: Vec::new(), room: 100, interrupted: false };
    let mut buffered = BufWriter::with_capacity(1 << 20, full);
    let error = filter(10).write_to(&mut buffered).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::StorageFull);
    let _ = buffered.into_parts();
}
