use super::section::{Section, check_zeros};
use super::{Header, SecretKey};
use crate::error::DecodeError;
use crate::hash::{PortableHasher, probe};
use crate::internal::{DecodeFault, SectionFault};

/// Hasher in the head of an envelope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoredHasher {
    /// Id of the hash function: [`PortableHasher::ID`](crate::hash::PortableHasher::ID).
    pub id: u16,
    /// Hash of the [probe key](crate::hash::probe). It detects a wrong key.
    pub probe: u64,
    /// Seed of the hasher. `None` if it is a secret that was omitted.
    pub seed: Option<[u8; 16]>,
    /// Offset of these fields.
    at: u64,
}

impl StoredHasher {
    /// Length of the fields in bytes.
    pub(super) const BYTES: usize = 32;

    const FLAGS_AT: usize = 2;
    const ZEROS_AT: usize = 4;
    const PROBE_AT: usize = 8;
    const SEED_AT: usize = 16;

    const SEED_PRESENT: u16 = 1;

    pub(super) fn to_bytes(self) -> [u8; Self::BYTES] {
        let mut out = [0; Self::BYTES];
        let flags = if self.seed.is_some() { Self::SEED_PRESENT } else { 0 };
        out[..2].copy_from_slice(&self.id.to_le_bytes());
        out[Self::FLAGS_AT..Self::ZEROS_AT].copy_from_slice(&flags.to_le_bytes());
        out[Self::PROBE_AT..Self::SEED_AT].copy_from_slice(&self.probe.to_le_bytes());
        out[Self::SEED_AT..].copy_from_slice(&self.seed.unwrap_or_default());
        out
    }

    pub(super) fn parse(section: &Section<'_>) -> Result<Self, DecodeError> {
        let bytes: &[u8; Self::BYTES] = section.exactly("32 bytes")?;
        let at = section.at;
        check_zeros(&bytes[Self::ZEROS_AT..Self::PROBE_AT], at + Self::ZEROS_AT as u64)?;
        let seed = core::array::from_fn(|i| bytes[Self::SEED_AT + i]);
        let seed = match u16::from_le_bytes([bytes[Self::FLAGS_AT], bytes[Self::FLAGS_AT + 1]]) {
            Self::SEED_PRESENT => Some(seed),
            0 => {
                check_zeros(&seed, at + Self::SEED_AT as u64)?;
                None
            }
            flags => {
                return Err(DecodeError(DecodeFault::Field {
                    name: "the flags of the hasher",
                    offset: at + Self::FLAGS_AT as u64,
                    found: flags.into(),
                    allowed: "0, or 1 where the seed is stored",
                }));
            }
        };
        let probe = core::array::from_fn(|i| bytes[Self::PROBE_AT + i]);
        let id = u16::from_le_bytes([bytes[0], bytes[1]]);
        Ok(Self { id, probe: u64::from_le_bytes(probe), seed, at })
    }
}

/// Hasher of a structure with portable bytes: any [`PortableHasher`], or [`NoHasher`]. Nothing else implements it.
pub trait MaybeHasher: Sized + sealed::Sealed {
    /// Returns the hasher as the head states it.
    #[doc(hidden)]
    fn stored(&self, key: SecretKey) -> Option<StoredHasher>;

    /// Returns whether a secret key is written.
    #[doc(hidden)]
    fn is_secret(key: SecretKey) -> bool;

    /// Returns the given hasher, or the one in the head.
    ///
    /// # Errors
    /// [`DecodeError`] if the hash function differs, or if the key is missing or wrong.
    #[doc(hidden)]
    fn of_header(header: &Header, given: Option<Self>) -> Result<Self, DecodeError>;
}

mod sealed {
    pub trait Sealed {}
    impl<S: crate::hash::PortableHasher> Sealed for S {}
    impl Sealed for super::NoHasher {}
}

impl<S: PortableHasher> MaybeHasher for S {
    fn stored(&self, key: SecretKey) -> Option<StoredHasher> {
        let written = !<S as PortableHasher>::SECRET || key == SecretKey::Include;
        let (seed, probe) = (written.then(|| self.to_seed()), probe(self));
        // A user's `PortableHasher` can be wrong about its seed: nobody could read the bytes.
        let is_read = |seed| S::from_seed(seed).is_some_and(|read| self::probe(&read) == probe);
        assert!(seed.is_none_or(is_read), "`from_seed` of the hasher does not undo its `to_seed`");
        Some(StoredHasher { id: S::ID, probe, seed, at: 0 })
    }

    fn is_secret(key: SecretKey) -> bool {
        <S as PortableHasher>::SECRET && key == SecretKey::Include
    }

    fn of_header(header: &Header, given: Option<S>) -> Result<S, DecodeError> {
        let Some(stored) = header.hasher else {
            return Err(header.hasher_fault(SectionFault::Missing));
        };
        if stored.id != S::ID {
            let offset = stored.at;
            return Err(DecodeError(DecodeFault::Hasher {
                offset,
                expected: S::ID,
                found: stored.id,
            }));
        }
        let seed_at = stored.at + StoredHasher::SEED_AT as u64;
        let hasher = match (given, stored.seed) {
            (Some(hasher), _) => hasher,
            (None, None) => return Err(DecodeError(DecodeFault::KeyMissing { offset: seed_at })),
            (None, Some(seed)) => S::from_seed(seed).ok_or(DecodeError(DecodeFault::Field {
                name: "the upper half of the seed",
                offset: seed_at + 8,
                found: u64::from_le_bytes(core::array::from_fn(|i| seed[8 + i])),
                allowed: "a seed of this hasher",
            }))?,
        };
        let expected = probe(&hasher);
        if stored.probe != expected {
            let offset = stored.at + StoredHasher::PROBE_AT as u64;
            return Err(DecodeError(DecodeFault::KeyMismatch {
                offset,
                expected,
                found: stored.probe,
            }));
        }
        Ok(hasher)
    }
}

/// Hasher of a structure that hashes nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NoHasher;

impl MaybeHasher for NoHasher {
    fn stored(&self, _: SecretKey) -> Option<StoredHasher> {
        None
    }

    fn is_secret(_: SecretKey) -> bool {
        false
    }

    fn of_header(header: &Header, _: Option<Self>) -> Result<Self, DecodeError> {
        match header.hasher {
            None => Ok(Self),
            Some(_) => Err(header.hasher_fault(SectionFault::Unexpected)),
        }
    }
}
