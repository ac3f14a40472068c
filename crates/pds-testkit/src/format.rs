//! Values under four formats of serde, and properties of all values that contain an envelope.

use core::fmt::Debug;

use serde::{Deserialize, Serialize};

/// A format of serde.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Version 2 of bincode, in its standard configuration.
    Bincode,
    /// postcard.
    Postcard,
    /// JSON. It is text, so bytes are base64.
    Json,
    /// CBOR. It distinguishes bytes from arrays.
    Cbor,
}

/// All formats.
pub const FORMATS: [Format; 4] = [Format::Bincode, Format::Postcard, Format::Json, Format::Cbor];

impl Format {
    /// Serializes a value.
    ///
    /// # Errors
    /// The error of the format if the value cannot be serialized.
    pub fn write(self, value: &impl Serialize) -> Result<Vec<u8>, String> {
        let mut cbor = Vec::new();
        match self {
            Self::Bincode => bincode::serde::encode_to_vec(value, bincode::config::standard())
                .map_err(|error| error.to_string()),
            Self::Postcard => postcard::to_allocvec(value).map_err(|error| error.to_string()),
            Self::Json => serde_json::to_vec(value).map_err(|error| error.to_string()),
            Self::Cbor => ciborium::into_writer(value, &mut cbor)
                .map(|()| cbor)
                .map_err(|error| error.to_string()),
        }
    }

    /// Deserializes a value.
    ///
    /// # Errors
    /// The error of the format if it cannot read the bytes, or the error of the value for their contents.
    pub fn read<T: for<'de> Deserialize<'de>>(self, bytes: &[u8]) -> Result<T, String> {
        match self {
            Self::Bincode => bincode::serde::decode_from_slice(bytes, bincode::config::standard())
                .map(|(value, _)| value)
                .map_err(|error| error.to_string()),
            Self::Postcard => postcard::from_bytes(bytes).map_err(|error| error.to_string()),
            Self::Json => serde_json::from_slice(bytes).map_err(|error| error.to_string()),
            Self::Cbor => ciborium::from_reader(bytes).map_err(|error| error.to_string()),
        }
    }
}

/// Asserts that every format carries `envelope` and returns the value.
///
/// Truncated bytes must be refused. Bytes with one flipped bit must be refused or give the same value, because a format
/// may have two encodings around the envelope.
///
/// # Panics
/// If one of these does not hold.
pub fn survives<T>(value: &T, envelope: &[u8])
where
    T: Serialize + for<'de> Deserialize<'de> + PartialEq + Debug,
{
    for format in FORMATS {
        let written = format.write(value).expect("a value that can be written");
        assert_eq!(format.read::<T>(&written).as_ref(), Ok(value), "{format:?}");
        assert!(format == Format::Json || written.ends_with(envelope), "{format:?}");
        for length in 0..written.len() {
            assert!(format.read::<T>(&written[..length]).is_err(), "{format:?}, {length} bytes");
        }
        let refused = (0..8 * written.len()).filter(|bit| !is_read(format, &written, *bit, value));
        assert!(refused.count() >= 8 * envelope.len(), "{format:?}: flipped bits were accepted");
    }
}

/// Returns `true` if the bytes are read with one bit flipped.
fn is_read<T>(format: Format, written: &[u8], bit: usize, value: &T) -> bool
where
    T: for<'de> Deserialize<'de> + PartialEq + Debug,
{
    let mut damaged = written.to_vec();
    damaged[bit / 8] ^= 1 << (bit % 8);
    let read = format.read::<T>(&damaged);
    assert!(
        read.as_ref().is_ok_and(|read| read == value) || read.is_err(),
        "{format:?}, bit {bit}"
    );
    read.is_ok()
}

/// Returns bytes in each binary format that claim the length `length` in front of the envelope.
#[must_use]
pub fn claiming(length: u64, envelope: &[u8]) -> [(Format, Vec<u8>); 4] {
    let (big, little) = (length.to_be_bytes(), length.to_le_bytes());
    [
        (Format::Bincode, [&[253], little.as_slice(), envelope].concat()),
        (Format::Postcard, [varint(length).as_slice(), envelope].concat()),
        (Format::Cbor, [&[0x5b], big.as_slice(), envelope].concat()),
        (Format::Cbor, [&[0x9b], big.as_slice(), envelope].concat()),
    ]
}

/// Asserts that every binary format refuses a claimed length of a tebibyte in front of an envelope.
///
/// # Panics
/// If the bytes are read.
pub fn refuse_claims<T: for<'de> Deserialize<'de>>(envelope: &[u8]) {
    for (format, claim) in claiming(1 << 40, envelope) {
        assert!(format.read::<T>(&claim).is_err(), "{format:?}");
    }
}

/// Encodes seven bits per byte, the lowest first.
fn varint(mut number: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while number > 0x7f {
        bytes.push(number.to_le_bytes()[0] | 0x80);
        number >>= 7;
    }
    bytes.push(number.to_le_bytes()[0]);
    bytes
}
