//! What must hold of any bytes for any structure that reads them: the bodies of tests and fuzz targets.

use core::fmt::Debug;

use pds_core::bytes::{ByteOptions, Portable};
use pds_core::{DecodeError, Membership, ReadError};

use crate::mutate::Choices;

/// More than any input has, so that nothing is refused for its size alone.
const LIMIT: u64 = 1 << 20;

/// Decodes bytes from a slice and from a stream. Both agree, and what is accepted is written back as it was.
///
/// # Panics
/// When one of these does not hold.
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

/// Bytes that claim more than is there are refused, from a slice and from a stream of at most 64 KiB.
///
/// # Panics
/// When they are read.
pub fn refuse<P: Portable>(bytes: &[u8]) {
    assert!(ByteOptions::new().from_bytes::<P>(bytes).is_err());
    assert!(ByteOptions::new().max_bytes(1 << 16).read_from::<P>(bytes).is_err());
}

/// Cut anywhere, extended, and with any one bit flipped, bytes are an error and no structure.
///
/// # Panics
/// When they are read.
pub fn refuses_damage<T>(bytes: &[u8], from_bytes: impl Fn(&[u8]) -> Result<T, DecodeError>) {
    assert!(from_bytes(bytes).is_ok());
    let step = (bytes.len() / 300).max(1);
    for end in (0..bytes.len()).step_by(step) {
        assert!(from_bytes(&bytes[..end]).is_err(), "cut to {end}");
    }
    assert!(matches!(from_bytes(&[bytes, &[0]].concat()), Err(DecodeError::Trailing { .. })));
    for bit in (0..8 * 128).chain((8 * 128..8 * bytes.len()).step_by(8 * step + 3)) {
        let mut damaged = bytes.to_vec();
        damaged[bit / 8] ^= 1 << (bit % 8);
        assert!(from_bytes(&damaged).is_err(), "bit {bit}");
    }
}

/// What is wrong with bytes, and where.
///
/// # Panics
/// When nothing is wrong with them, or what is has no name.
pub fn fault_of<T: Debug>(result: Result<T, DecodeError>) -> (&'static str, u64) {
    match result.unwrap_err() {
        DecodeError::Field { name, offset, .. } | DecodeError::Choice { name, offset, .. } => {
            (name, offset)
        }
        DecodeError::Shape { offset, error } => (error.parameter(), offset),
        DecodeError::Numbers { offset, .. } => ("numbers", offset),
        DecodeError::PayloadLength { offset, .. } => ("payload length", offset),
        DecodeError::PayloadEnd { offset, .. } => ("payload end", offset),
        DecodeError::Unread { offset, .. } => ("unread", offset),
        DecodeError::Padding { offset, .. } => ("padding", offset),
        DecodeError::Trailing { offset, .. } => ("trailing", offset),
        other => panic!("{other}"),
    }
}

/// Hashes that bodies ask for.
pub const HASHES: [u64; 5] = [0, 1, 1 << 63, u64::MAX, 0x0123_4567_89ab_cdef];

/// Asks a filter for [`HASHES`], one by one and in a batch: the answers, which agree.
///
/// # Panics
/// When they do not.
pub fn answers(filter: &impl Membership) -> [bool; 5] {
    let mut answers = [false; 5];
    filter.contains_hash_batch(&HASHES, &mut answers);
    assert_eq!(HASHES.map(|hash| filter.contains_hash(hash)), answers);
    answers
}

/// Returns the structure on the far side of its bytes, read in one of two ways.
///
/// # Panics
/// When it does not come back.
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

/// Two ways of reading the same bytes accept them both, or refuse them for the same reason.
///
/// # Panics
/// When they do not.
pub fn assert_alike<A, B>(one: &Result<A, DecodeError>, other: &Result<B, DecodeError>) {
    // As text: an impossible rate may be NaN, which equals nothing.
    assert_eq!(reason(one), reason(other));
}

/// Opens bytes as a view and as the filter.
///
/// Both accept them or refuse them for the same reason; the view answers whatever
/// its payload is (`$ask!` asks everything), verifies what can be decoded, and then answers as the filter.
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

/// A stream may go on after a structure; otherwise it fails like bytes, though perhaps at another fault first.
fn check_streamed<P: Portable>(error: DecodeError, streamed: Result<P, ReadError>, bytes: &[u8]) {
    match streamed {
        Ok(read) => {
            let DecodeError::Trailing { offset, .. } = error else {
                panic!("read in spite of {error}")
            };
            let end = usize::try_from(offset).expect("within the bytes");
            assert_written_as(&read, &bytes[..end]);
        }
        Err(ReadError::Decode(_)) => {}
        Err(error) => panic!("reading a slice failed: {error}"),
    }
}
