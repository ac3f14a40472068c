use alloc::vec::Vec;

use super::sink::{Sink, Summing};
use super::{Header, Portable, SecretKey};
use crate::hash::{PortableHasher, probe};

/// Writes the envelope of a structure into a sink.
///
/// # Errors
/// Those of the sink.
pub(super) fn encode<P: Portable, S: Sink>(
    structure: &P,
    key: SecretKey,
    sink: &mut S,
) -> Result<(), S::Error> {
    let header = header_of(structure, key);
    sink.put(&header.to_bytes())?;
    let mut summing = Summing::new(sink);
    structure.write_payload(&mut summing)?;
    // A user's `PortableKey` can be wrong about its length: nobody could read the bytes.
    assert_eq!(
        summing.length(),
        header.payload_bytes,
        "the length of the payload of a {}",
        P::KIND
    );
    let sum = summing.sum();
    sink.put(&sum.to_le_bytes())
}

/// Returns the envelope of a structure as a vector.
#[must_use]
pub fn to_vec<P: Portable>(structure: &P, key: SecretKey) -> Vec<u8> {
    let payload = usize::try_from(header_of(structure, key).payload_bytes).unwrap_or(usize::MAX);
    let mut bytes = Vec::with_capacity(payload.saturating_add(Header::BYTES + 8));
    let Ok(()) = encode(structure, key, &mut bytes);
    bytes
}

fn header_of<P: Portable>(structure: &P, key: SecretKey) -> Header {
    let hasher = structure.portable_hasher();
    let shape = structure.shape();
    let probe = probe(hasher);
    let written = !P::Hasher::SECRET || key == SecretKey::Include;
    let seed = written.then(|| hasher.to_seed());
    // A user's `PortableHasher` can be wrong about its seed: nobody could read the bytes.
    assert!(
        seed.is_none_or(|seed| P::Hasher::from_seed(seed)
            .is_some_and(|read| crate::hash::probe(&read) == probe)),
        "`from_seed` of the hasher does not undo its `to_seed`"
    );
    Header {
        kind: P::KIND,
        hasher_id: P::Hasher::ID,
        seed,
        probe,
        shape,
        payload_bytes: P::payload_bytes(&shape)
            .expect("a structure that was built has a possible shape"),
    }
}

/// A structure together with the choice whether its hasher's secret key is written.
///
/// `with_key()` and `without_key()` of a structure return it as [`WithKey`] and [`WithoutKey`].
#[derive(Clone, Copy, Debug)]
pub struct KeyChosen<'a, P, const INCLUDED: bool>(&'a P);

/// A structure whose bytes hold the hasher's key in clear, so that a reader needs nothing else.
///
/// Its serde form holds the key, too.
pub type WithKey<'a, P> = KeyChosen<'a, P, true>;

/// A structure whose bytes do not hold the hasher's secret key.
///
/// Keep the key elsewhere, and give it to `from_bytes_with_hasher`. Without the key the bytes are lost.
/// There is no serde form: no format could hand the key to `Deserialize`.
pub type WithoutKey<'a, P> = KeyChosen<'a, P, false>;

impl<'a, P: Portable, const INCLUDED: bool> KeyChosen<'a, P, INCLUDED> {
    const KEY: SecretKey = if INCLUDED { SecretKey::Include } else { SecretKey::Omit };

    /// Wraps a structure.
    #[must_use]
    pub const fn new(structure: &'a P) -> Self {
        Self(structure)
    }

    /// Returns the structure.
    #[must_use]
    pub const fn get(&self) -> &'a P {
        self.0
    }

    /// Returns the portable bytes.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        to_vec(self.0, Self::KEY)
    }

    /// Writes the portable bytes.
    ///
    /// # Errors
    /// Those of the writer.
    #[cfg(feature = "std")]
    pub fn write_to(&self, writer: impl std::io::Write) -> std::io::Result<()> {
        super::write_to(self.0, Self::KEY, writer)
    }

    /// Saves the portable bytes as `save` of the structure does.
    ///
    /// # Errors
    /// Those of the file system; the old file is then still there.
    #[cfg(feature = "std")]
    pub fn save(&self, path: impl AsRef<std::path::Path>) -> std::io::Result<()> {
        super::save(self.0, Self::KEY, path.as_ref())
    }
}
