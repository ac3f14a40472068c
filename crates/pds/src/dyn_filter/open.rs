//! From bytes whose header says what they hold to a filter of that kind.

use pds_core::Kind;
#[cfg(feature = "std")]
use pds_core::ReadError;
use pds_core::bytes::{ByteOptions, FromEnvelope, Header, OpenEnvelope};
#[cfg(feature = "std")]
use std::io::Read;

use super::DynFilter;
use crate::{DecodeError, PortableHasher};

/// The filter that a header announces, as a variant of an enum: `$open` is asked for the type that this variant holds.
macro_rules! by_kind {
    ($header:expr, $enum:ident, $open:expr) => {
        match $header.kind {
            #[cfg(feature = "bloom")]
            kind if kind == Kind::BLOOM => $open.map($enum::Bloom),
            #[cfg(feature = "blocked")]
            kind if kind == Kind::BLOCKED_BLOOM => $open.map($enum::BlockedBloom),
            // The third number of the shape is the width of a counter.
            #[cfg(feature = "counting")]
            kind if kind == Kind::COUNTING_BLOOM && $header.shape.as_slice().get(2) == Some(&8) => {
                $open.map($enum::WideCountingBloom)
            }
            #[cfg(feature = "counting")]
            kind if kind == Kind::COUNTING_BLOOM => $open.map($enum::CountingBloom),
            #[cfg(feature = "counting")]
            kind if kind == Kind::BLOCKED_COUNTING_BLOOM => $open.map($enum::BlockedCountingBloom),
            #[cfg(feature = "cuckoo")]
            kind if kind == Kind::CUCKOO => $open.map($enum::Cuckoo),
            _ => Err($crate::dyn_filter::open::not_a_filter(&$header).into()),
        }
    };
}
pub(super) use by_kind;

/// What is wrong with bytes that hold another structure, or one whose feature is off.
pub(super) fn not_a_filter(header: &Header) -> DecodeError {
    const COUNTING: &str = "a filter whose feature is on (of `pds`, `counting` is off)";
    const FEATURES: [(Kind, &str); 5] = [
        (Kind::BLOOM, "a filter whose feature is on (of `pds`, `bloom` is off)"),
        (Kind::BLOCKED_BLOOM, "a filter whose feature is on (of `pds`, `blocked` is off)"),
        (Kind::COUNTING_BLOOM, COUNTING),
        (Kind::BLOCKED_COUNTING_BLOOM, COUNTING),
        (Kind::CUCKOO, "a filter whose feature is on (of `pds`, `cuckoo` is off)"),
    ];
    let feature = FEATURES.iter().find(|(kind, _)| *kind == header.kind);
    let allowed = feature.map_or(
        "a membership filter (Bloom, blocked Bloom, counting Bloom, blocked counting Bloom or cuckoo)",
        |(_, allowed)| allowed,
    );
    DecodeError::OtherKind { offset: header.kind_offset(), found: header.kind, allowed }
}

impl DynFilter {
    /// Reads portable bytes that hold a filter of any kind and nothing else.
    ///
    /// # Errors
    /// [`DecodeError`] says what is wrong, and at which offset: [`OtherKind`](DecodeError::OtherKind) if the bytes hold no
    /// filter, or one whose feature is off.
    ///
    /// # Complexity
    /// O(length of the bytes). Allocates no more than the bytes justify.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, DecodeError> {
        ByteOptions::new().from_bytes(bytes)
    }

    /// Reads one filter from a stream. Leaves what follows it in the reader.
    ///
    /// Reads at most 1 GiB. For another limit use [`ByteOptions`].
    ///
    /// # Errors
    /// [`ReadError`] if reading fails, or if the bytes are wrong.
    #[cfg(feature = "std")]
    pub fn read_from(reader: impl Read) -> Result<Self, ReadError> {
        ByteOptions::new().read_from(reader)
    }
}

/// Decodes what the header announces.
impl<S: PortableHasher> FromEnvelope for DynFilter<S> {
    type Hasher = S;

    fn from_envelope<E: OpenEnvelope>(envelope: E, hasher: Option<S>) -> Result<Self, E::Error> {
        let header = *envelope.header();
        by_kind!(header, Self, envelope.into_structure(hasher))
    }
}
