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
    sink.put(&header_of(structure, key).to_bytes())?;
    let mut summing = Summing::new(sink);
    structure.write_payload(&mut summing)?;
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
    let written = !P::Hasher::SECRET || key == SecretKey::Include;
    Header {
        kind: P::KIND,
        hasher_id: P::Hasher::ID,
        seed: written.then(|| hasher.to_seed()),
        probe: probe(hasher),
        shape,
        payload_bytes: P::payload_bytes(&shape)
            .expect("a structure that was built has a possible shape"),
    }
}

/// A structure whose secret key is written with it.
///
/// What `with_key` of a structure returns: its `to_bytes`, `write_to`, `save` and serde forms hold the
/// hasher's key in clear, so that whoever reads them needs nothing else.
#[derive(Clone, Copy, Debug)]
pub struct WithKey<'a, P>(&'a P);

impl<'a, P: Portable> WithKey<'a, P> {
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

    /// Returns the portable bytes, the key included.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        to_vec(self.0, SecretKey::Include)
    }

    /// Writes the portable bytes, the key included.
    ///
    /// # Errors
    /// Those of the writer.
    #[cfg(feature = "std")]
    pub fn write_to(&self, writer: impl std::io::Write) -> std::io::Result<()> {
        super::write_to(self.0, SecretKey::Include, writer)
    }

    /// Saves the portable bytes, the key included, as `save` of the structure does.
    ///
    /// # Errors
    /// Those of the file system; the old file is then still there.
    #[cfg(feature = "std")]
    pub fn save(&self, path: impl AsRef<std::path::Path>) -> std::io::Result<()> {
        super::save(self.0, SecretKey::Include, path.as_ref())
    }
}
