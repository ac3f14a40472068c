//! The sections of a head.

use core::cmp::Ordering;

use super::header::Header;
use crate::error::DecodeError;
use crate::internal::{DecodeFault, SectionFault};

/// Length of the prefix of a section: tag, two zero bytes, length.
const PREFIX: usize = 8;

/// Section of a head.
#[derive(Clone, Copy)]
pub(super) struct Section<'a> {
    pub(super) tag: u16,
    pub(super) bytes: &'a [u8],
    /// Offset of the bytes.
    pub(super) at: u64,
}

impl<'a> Section<'a> {
    /// Returns the bytes, which must be `N` bytes long.
    pub(super) fn exactly<const N: usize>(
        &self,
        allowed: &'static str,
    ) -> Result<&'a [u8; N], DecodeError> {
        self.bytes.try_into().map_err(|_| self.bad_length(allowed))
    }

    pub(super) const fn bad_length(&self, allowed: &'static str) -> DecodeError {
        self.fault(SectionFault::Length { found: self.bytes.len() as u64, allowed })
    }

    pub(super) const fn fault(&self, fault: SectionFault) -> DecodeError {
        DecodeError(DecodeFault::Section { offset: self.at - PREFIX as u64, tag: self.tag, fault })
    }
}

/// Iterator over the sections of a head, from its fixed part to its checksum.
///
/// A section starts at the end of the section before, so sections cannot overlap.
pub(super) struct Sections<'a> {
    /// The head up to its checksum: a multiple of 8.
    head: &'a [u8],
    /// Offset of the head.
    at: u64,
    /// Start of the next section in the head: a multiple of 8.
    position: usize,
    /// Tag of the section before.
    last: u16,
}

impl<'a> Sections<'a> {
    pub(super) const fn new(head: &'a [u8], at: u64) -> Self {
        Self { head, at, position: Header::FIXED_BYTES, last: 0 }
    }

    /// Returns the next section, or `None` after the last one. All bytes after the last one must be zero.
    pub(super) fn next(&mut self) -> Result<Option<Section<'a>>, DecodeError> {
        let offset = self.at + self.position as u64;
        let Some((prefix, rest)) = self.head[self.position..].split_first_chunk::<PREFIX>() else {
            return Ok(None);
        };
        let [t0, t1, zeros @ .., l0, l1, l2, l3] = *prefix;
        let tag = u16::from_le_bytes([t0, t1]);
        if tag == 0 {
            check_zeros(&self.head[self.position..], offset)?;
            return Ok(None);
        }
        let fault = |fault| DecodeError(DecodeFault::Section { offset, tag, fault });
        match tag.cmp(&self.last) {
            Ordering::Less => return Err(fault(SectionFault::After { tag: self.last })),
            Ordering::Equal => return Err(fault(SectionFault::Repeated)),
            Ordering::Greater => {}
        }
        check_zeros(&zeros, offset + 2)?;
        let found = u32::from_le_bytes([l0, l1, l2, l3]);
        // A length that fits no `usize` fits no head either.
        let length = usize::try_from(found).unwrap_or(usize::MAX);
        let Some((bytes, behind)) = rest.split_at_checked(length) else {
            let (found, left) = (found.into(), rest.len() as u64);
            return Err(fault(SectionFault::TooLong { found, left }));
        };
        let section = Section { tag, bytes, at: offset + PREFIX as u64 };
        // `head` and `position` are multiples of 8, so the padding lies within `behind`.
        let padding = length.next_multiple_of(8) - length;
        check_zeros(&behind[..padding], section.at + length as u64)?;
        self.position += PREFIX + length + padding;
        self.last = tag;
        Ok(Some(section))
    }

    /// Length of the head up to the end of the last section.
    pub(super) const fn position(&self) -> usize {
        self.position
    }
}

/// Checks that unused bytes are zero.
pub(super) fn check_zeros(bytes: &[u8], at: u64) -> Result<(), DecodeError> {
    match (at..).zip(bytes).find(|(_, byte)| **byte != 0) {
        None => Ok(()),
        Some((offset, &found)) => {
            Err(DecodeError(DecodeFault::Padding { offset, found: found.into() }))
        }
    }
}

/// Appends a section to a head.
pub(super) fn put(head: &mut [u8], position: &mut usize, tag: u16, bytes: &[u8]) {
    let length = u32::try_from(bytes.len()).expect("a section is shorter than a head");
    let mut piece = |bytes: &[u8]| {
        head[*position..][..bytes.len()].copy_from_slice(bytes);
        *position += bytes.len();
    };
    piece(&u32::from(tag).to_le_bytes());
    piece(&length.to_le_bytes());
    piece(bytes);
    *position = position.next_multiple_of(8);
}
