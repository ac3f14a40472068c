//! Properties of all structures for arbitrary bytes: the bodies of tests and fuzz targets.

use core::fmt::Debug;

use pds_core::bytes::{ByteOptions, Portable};
use pds_core::error::{DecodeError, ReadError};
use pds_core::hash::finalize;
use pds_core::internal::DecodeFault;
use pds_core::traits::Membership;

use crate::mutate::Choices;

/// More than the length of any input, so that nothing is refused for its size alone.
const LIMIT: u64 = 1 << 20;

/// Decodes bytes from a slice and from a stream. Asserts that both agree, and that accepted bytes are written back
/// unchanged.
///
/// # Panics
/// If one of these does not hold.
pub fn decode<P: Portable>(bytes: &[u8]) -> Option<P> {
    let streamed = ByteOptions::new().max_bytes(LIMIT).read_from::<P>(bytes);
    match ByteOptions::new().from_bytes::<P>(bytes) {
        Ok(read) => {
            assert_written_as(&read, bytes);
            assert_written_as(&streamed.expect("what a slice gives, a stream gives too"), bytes);
            Some(read)
        }
        Err(error) => {
            assert!(!error.to_string().is_empty());
            check_streamed(error, streamed, bytes);
            None
        }
    }
}

/// Asserts that bytes which claim more than they contain are refused, from a slice and from a stream of at most 64 KiB.
///
/// # Panics
/// If they are read.
pub fn refuse<P: Portable>(bytes: &[u8]) {
    assert!(ByteOptions::new().from_bytes::<P>(bytes).is_err());
    assert!(ByteOptions::new().max_bytes(1 << 16).read_from::<P>(bytes).is_err());
}

/// Asserts that bytes are refused if they are truncated, extended, or have one flipped bit.
///
/// # Panics
/// If they are read.
pub fn refuses_damage<T>(bytes: &[u8], from_bytes: impl Fn(&[u8]) -> Result<T, DecodeError>) {
    assert!(from_bytes(bytes).is_ok());
    let step = (bytes.len() / 300).max(1);
    for end in (0..bytes.len()).step_by(step) {
        assert!(from_bytes(&bytes[..end]).is_err(), "cut to {end}");
    }
    assert!(matches!(
        from_bytes(&[bytes, &[0]].concat()),
        Err(DecodeError(DecodeFault::Trailing { .. }))
    ));
    for bit in (0..8 * 128).chain((8 * 128..8 * bytes.len()).step_by(8 * step + 3)) {
        let mut damaged = bytes.to_vec();
        damaged[bit / 8] ^= 1 << (bit % 8);
        assert!(from_bytes(&damaged).is_err(), "bit {bit}");
    }
}

/// Returns the name and the offset of a fault.
///
/// # Panics
/// If there is no fault, or the fault has no name.
pub fn fault_of<T: Debug>(result: Result<T, DecodeError>) -> (&'static str, u64) {
    match result.unwrap_err() {
        DecodeError(DecodeFault::Field { name, offset, .. })
        | DecodeError(DecodeFault::Choice { name, offset, .. }) => (name, offset),
        DecodeError(DecodeFault::Shape { offset, error }) => (error.parameter(), offset),
        DecodeError(DecodeFault::Numbers { offset, .. }) => ("numbers", offset),
        DecodeError(DecodeFault::PayloadLength { offset, .. }) => ("payload length", offset),
        DecodeError(DecodeFault::PayloadEnd { offset, .. }) => ("payload end", offset),
        DecodeError(DecodeFault::Unread { offset, .. }) => ("unread", offset),
        DecodeError(DecodeFault::Padding { offset, .. }) => ("padding", offset),
        DecodeError(DecodeFault::Trailing { offset, .. }) => ("trailing", offset),
        other => panic!("{other}"),
    }
}

/// The hashes that test bodies query.
pub const HASHES: [u64; 5] = [0, 1, 1 << 63, u64::MAX, 0x0123_4567_89ab_cdef];

/// Queries a filter for [`HASHES`], one by one and in a batch. Returns the answers.
///
/// # Panics
/// If the two ways disagree.
pub fn answers(filter: &impl Membership) -> [bool; 5] {
    let mut answers = [false; 5];
    filter.contains_hash_batch(&HASHES, &mut answers);
    assert_eq!(HASHES.map(|hash| filter.contains_hash(hash)), answers);
    answers
}

/// Encodes and decodes a structure in one of two ways, and returns the result.
///
/// # Panics
/// If it is not decoded.
pub fn sent<P: Portable>(structure: &P, choices: &mut Choices<'_>) -> P {
    let bytes = ByteOptions::new().with_key().to_bytes(structure);
    let read = match choices.below(2) {
        0 => ByteOptions::new().from_bytes(&bytes).expect("bytes just written"),
        _ => ByteOptions::new()
            .max_bytes(LIMIT)
            .read_from(bytes.as_slice())
            .expect("bytes just written"),
    };
    assert_eq!(ByteOptions::new().with_key().to_bytes(&read), bytes);
    read
}

/// Asserts that two ways of reading the same bytes both accept them, or refuse them for the same reason.
///
/// # Panics
/// If this does not hold.
pub fn assert_alike<A, B>(one: &Result<A, DecodeError>, other: &Result<B, DecodeError>) {
    // Compared as text, because an impossible rate may be NaN, which is not equal to itself.
    assert_eq!(reason(one), reason(other));
}

/// Opens bytes as a view and as the filter, and asserts that both agree.
///
/// Both must accept the bytes or refuse them for the same reason. The view must answer for any payload: `$ask!` asks
/// all questions. It must verify all bytes that can be decoded, and then answer like the filter.
#[macro_export]
macro_rules! view_agrees {
    ($view:ty, $filter:ty, $bytes:expr, $ask:ident) => {{
        let read = <$filter>::from_bytes($bytes);
        match <$view>::open($bytes) {
            Ok(view) => {
                let answers = $ask!(&view);
                $crate::portable::assert_alike(&view.to_filter(), &read);
                assert_eq!(view.verify().is_ok(), read.is_ok());
                assert!(read.is_err() || $ask!(read.as_ref().unwrap()) == answers);
            }
            refused => $crate::portable::assert_alike(&refused, &read),
        }
    }};
}

fn reason<T>(result: &Result<T, DecodeError>) -> Option<String> {
    result.as_ref().err().map(|error| format!("{error:?}"))
}

fn assert_written_as<P: Portable>(structure: &P, bytes: &[u8]) {
    let options = ByteOptions::new();
    let same = [options.without_key(), options.with_key()]
        .map(|options| options.to_bytes(structure) == bytes);
    assert!(same.contains(&true), "the {} that was read is written otherwise", P::KIND);
}

/// Asserts that a stream fails like a slice, possibly at another fault first. A stream may continue after a structure.
fn check_streamed<P: Portable>(error: DecodeError, streamed: Result<P, ReadError>, bytes: &[u8]) {
    match streamed {
        Ok(read) => {
            let DecodeError(DecodeFault::Trailing { offset, .. }) = error else {
                panic!("read in spite of {error}")
            };
            let end = usize::try_from(offset).expect("within the bytes");
            assert_written_as(&read, &bytes[..end]);
        }
        Err(ReadError::Decode(_)) => {}
        Err(error) => panic!("reading a slice failed: {error}"),
    }
}

/// Returns a digest of bytes that are too many for a golden file: `d = finalize(d ^ word)` over their words of 8 bytes, the last
/// one filled with zeros.
#[must_use]
pub fn digest(bytes: &[u8]) -> u64 {
    bytes.chunks(8).fold(0, |digest, chunk| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        finalize(digest ^ u64::from_le_bytes(word))
    })
}
