//! Reading of numbers and byte strings, each with its name and its offset.

use alloc::borrow::Cow;
use alloc::format;
use core::fmt::Display;
use core::ops::RangeInclusive;

use pds_core::error::DecodeErrorKind;

use crate::FormatError;
use crate::format_error::Found;

/// The most hashes that a filter for a rate has, with a margin: the least number above 0 as a rate, 2^-1074, takes 1,074.
pub(crate) const MAX_HASHES: u32 = 1_100;

/// The rest of an input. Whatever is taken from it knows its name and its offset, for the errors.
#[derive(Clone, Debug)]
pub(crate) struct Reader<'a> {
    format: &'static str,
    rest: &'a [u8],
    offset: u64,
}

/// Methods that take numbers.
macro_rules! numbers {
    ($($(#[$doc:meta])* $name:ident: $number:ty = $from:ident;)*) => {$(
        $(#[$doc])*
        pub(crate) fn $name(&mut self, field: &'static str) -> Result<Field<$number>, FormatError> {
            let offset = self.offset;
            let bytes = self.array(field)?;
            Ok(Field { format: self.format, name: field, offset, value: <$number>::$from(bytes) })
        }
    )*};
}

impl<'a> Reader<'a> {
    /// Reads an input of this format from its start.
    pub(crate) const fn new(format: &'static str, input: &'a [u8]) -> Self {
        Self { format, rest: input, offset: 0 }
    }

    pub(crate) const fn offset(&self) -> u64 {
        self.offset
    }

    /// Returns the number of bytes left.
    pub(crate) const fn remaining(&self) -> u64 {
        self.rest.len() as u64
    }

    numbers! {
        u8: u8 = from_le_bytes;
        i8: i8 = from_le_bytes;
        u16_le: u16 = from_le_bytes;
        i16_le: i16 = from_le_bytes;
        u32_le: u32 = from_le_bytes;
        i32_le: i32 = from_le_bytes;
        u64_le: u64 = from_le_bytes;
        i64_le: i64 = from_le_bytes;
        f32_le: f32 = from_le_bytes;
        f64_le: f64 = from_le_bytes;
        u16_be: u16 = from_be_bytes;
        u32_be: u32 = from_be_bytes;
        i32_be: i32 = from_be_bytes;
        u64_be: u64 = from_be_bytes;
        i64_be: i64 = from_be_bytes;
        f64_be: f64 = from_be_bytes;
    }

    fn array<const N: usize>(&mut self, field: &'static str) -> Result<[u8; N], FormatError> {
        let mut array = [0; N];
        array.copy_from_slice(self.bytes(field, N as u64)?);
        Ok(array)
    }

    /// Takes `len` bytes.
    pub(crate) fn bytes(&mut self, field: &'static str, len: u64) -> Result<&'a [u8], FormatError> {
        let left = self.remaining();
        let split = usize::try_from(len).ok().and_then(|len| self.rest.split_at_checked(len));
        let Some((bytes, rest)) = split else {
            return Err(FormatError::truncated(self.format, field, self.offset, len, left));
        };
        self.offset += len;
        self.rest = rest;
        Ok(bytes)
    }

    /// Creates a reader of bytes that `reader` has taken just now.
    pub(crate) fn at(reader: &Self, taken: &'a [u8]) -> Self {
        Self { format: reader.format, rest: taken, offset: reader.offset - taken.len() as u64 }
    }

    /// Returns the next byte without taking it.
    pub(crate) fn peek(&self) -> Option<u8> {
        self.rest.first().copied()
    }

    /// Takes all that is left.
    pub(crate) fn rest(&mut self) -> &'a [u8] {
        self.offset += self.remaining();
        core::mem::take(&mut self.rest)
    }

    /// Takes the bytes that every input of the format begins with.
    pub(crate) fn magic(&mut self, magic: &'static str) -> Result<(), FormatError> {
        let (offset, found) = (self.offset, self.rest);
        let found = &found[..found.len().min(magic.len())];
        if found != magic.as_bytes() {
            let error = self.invalid("magic number", offset, found, format!("\"{magic}\""));
            return Err(error.of_kind(DecodeErrorKind::Magic));
        }
        self.bytes("magic number", magic.len() as u64).map(drop)
    }

    /// Refuses bytes after the end.
    pub(crate) fn end(&self) -> Result<(), FormatError> {
        match self.remaining() {
            0 => Ok(()),
            found => Err(FormatError::trailing(self.format, self.offset, found)),
        }
    }

    /// Returns the error of a value that cannot be, at any offset.
    pub(crate) fn invalid(
        &self,
        field: &'static str,
        offset: u64,
        found: impl Into<Found>,
        allowed: impl Into<Cow<'static, str>>,
    ) -> FormatError {
        FormatError::invalid(self.format, field, offset, found, allowed)
    }
}

impl Field<u64> {
    /// Returns the field of a number of 32 bits.
    pub(crate) fn narrow(self) -> Result<Field<u32>, FormatError> {
        let narrow = u32::try_from(self.value).map_err(|_| self.invalid("below 2^32"))?;
        Ok(self.with_value(narrow))
    }
}

/// A number with its name and its offset.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Field<T> {
    format: &'static str,
    name: &'static str,
    pub(crate) offset: u64,
    pub(crate) value: T,
}

impl<T: Copy + Into<Found>> Field<T> {
    /// Returns the value if it lies in a range.
    pub(crate) fn within(self, range: RangeInclusive<T>) -> Result<T, FormatError>
    where
        T: PartialOrd + Display,
    {
        let (min, max) = (range.start(), range.end());
        if range.contains(&self.value) {
            return Ok(self.value);
        }
        let allowed = if min == max { format!("{min}") } else { format!("from {min} to {max}") };
        Err(self.invalid(allowed))
    }

    /// Returns the value if it is one of these.
    pub(crate) fn one_of(self, values: &[T], allowed: &'static str) -> Result<T, FormatError>
    where
        T: PartialEq,
    {
        if values.contains(&self.value) { Ok(self.value) } else { Err(self.invalid(allowed)) }
    }

    /// Returns the value if a condition holds.
    pub(crate) fn require(
        self,
        holds: bool,
        allowed: impl Into<Cow<'static, str>>,
    ) -> Result<T, FormatError> {
        if holds { Ok(self.value) } else { Err(self.invalid(allowed)) }
    }

    /// Returns the same field with a value that was computed from this one.
    pub(crate) fn with_value<U>(self, value: U) -> Field<U> {
        Field { format: self.format, name: self.name, offset: self.offset, value }
    }

    /// Returns the value if it equals what the rest of the input says.
    pub(crate) fn equals(self, expected: T) -> Result<T, FormatError>
    where
        T: PartialOrd + Display,
    {
        self.within(expected..=expected)
    }

    /// Returns the error of this value.
    pub(crate) fn invalid(self, allowed: impl Into<Cow<'static, str>>) -> FormatError {
        FormatError::invalid(self.format, self.name, self.offset, self.value, allowed)
    }
}
