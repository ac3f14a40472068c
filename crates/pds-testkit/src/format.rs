//! Values under four formats of serde, and what must hold of every one that carries an envelope.

use core::fmt::Debug;

use serde::{Deserialize, Serialize};

/// A format of serde.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Version 2 of bincode, in its standard configuration.
    Bincode,
    /// postcard.
    Postcard,
    /// JSON: text, so that bytes are base64 in it.
    Json,
    /// CBOR, which tells bytes from arrays.
    Cbor,
}

/// All formats.
pub const FORMATS: [Format; 4] = [Format::Bincode, Format::Postcard, Format::Json, Format::Cbor];

impl Format {
    /// Writes a value.
    ///
    /// # Errors
    /// What the format says of a value that refuses to be written.
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

    /// Reads a value.
    ///
    /// # Errors
    /// What the format says of bytes that it cannot read, or the value of what they hold.
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

/// Every format carries `envelope` and gives the value back. Cut short it is refused, and with one bit flipped
/// too, unless it still says the same: a format may have two ways to do so around the envelope.
///
/// # Panics
/// When one of these does not hold.
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

/// Whether the bytes are read with one bit flipped.
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

/// Bytes in each binary format whose length says `length`, whatever follows: a claim in front of the envelope.
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

/// A length of a tebibyte in front of an envelope is refused in every binary format.
///
/// # Panics
/// When it is read.
pub fn refuse_claims<T: for<'de> Deserialize<'de>>(envelope: &[u8]) {
    for (format, claim) in claiming(1 << 40, envelope) {
        assert!(format.read::<T>(&claim).is_err(), "{format:?}");
    }
}

/// Seven bits a byte, the lowest first.
fn varint(mut number: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while number > 0x7f {
        bytes.push(number.to_le_bytes()[0] | 0x80);
        number >>= 7;
    }
    bytes.push(number.to_le_bytes()[0]);
    bytes
}
