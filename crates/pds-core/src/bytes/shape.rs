use crate::error::{DecodeError, ParamError};

/// The numbers that fix a structure's shape, and the design it was built for.
///
/// A shape that was read knows where its numbers stand, so that errors about them name the offset. Two shapes are equal
/// when their numbers and designs are.
///
/// # Examples
/// ```
/// use pds_core::bytes::Shape;
///
/// let shape = Shape::new([9_586, 7]).with_design(Some(1_000), Some(0.01));
/// let [bits, hashes] = shape.numbers(["bits", "hashes"])?.values();
/// assert_eq!((bits, hashes, shape.expected_items()), (9_586, 7, Some(1_000)));
/// assert!(shape.numbers(["bits", "hashes", "more"]).is_err());
/// # Ok::<(), pds_core::DecodeError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    numbers: [u64; Self::MAX_NUMBERS],
    count: usize,
    expected_items: Option<u64>,
    promised_rate: Option<f64>,
    /// Offset of the first number, once read.
    numbers_at: u64,
    /// Offset of the design, once read.
    design_at: u64,
}

impl Shape {
    /// How many numbers a shape can have. What needs more belongs to the payload.
    pub const MAX_NUMBERS: usize = 16;

    /// A shape of these numbers, at most [`MAX_NUMBERS`](Self::MAX_NUMBERS), without a design.
    #[must_use]
    pub const fn new<const N: usize>(numbers: [u64; N]) -> Self {
        const { assert!(N <= Self::MAX_NUMBERS, "a shape has at most 16 numbers") }
        let mut all = [0; Self::MAX_NUMBERS];
        let (first, _) = all.split_at_mut(N);
        first.copy_from_slice(&numbers);
        Self {
            numbers: all,
            count: N,
            expected_items: None,
            promised_rate: None,
            numbers_at: 0,
            design_at: 0,
        }
    }

    /// A shape that was read, of as many numbers as there are: at most [`MAX_NUMBERS`](Self::MAX_NUMBERS).
    pub(super) fn of_slice(numbers: &[[u8; 8]]) -> Self {
        let mut shape = Self { count: numbers.len(), ..Self::new([]) };
        for (number, bytes) in shape.numbers.iter_mut().zip(numbers) {
            *number = u64::from_le_bytes(*bytes);
        }
        shape
    }

    /// The shape as it was read, its first number and its design at these offsets.
    pub(super) const fn read_at(self, numbers_at: u64, design_at: u64) -> Self {
        Self { numbers_at, design_at, ..self }
    }

    /// States how many items the structure was built for, and the rate promised for them.
    ///
    /// This is metadata: no part of the structure's equality or compatibility.
    #[must_use]
    pub const fn with_design(
        self,
        expected_items: Option<u64>,
        promised_rate: Option<f64>,
    ) -> Self {
        Self { expected_items, promised_rate, ..self }
    }

    /// Returns how many items the structure was built for.
    #[must_use]
    pub const fn expected_items(&self) -> Option<u64> {
        self.expected_items
    }

    /// Returns the rate promised for them, above 0 and below 1.
    #[must_use]
    pub const fn promised_rate(&self) -> Option<f64> {
        self.promised_rate
    }

    /// Returns the numbers as they were read, whatever they mean.
    #[must_use]
    pub fn as_slice(&self) -> &[u64] {
        &self.numbers[..self.count]
    }

    /// Returns the numbers under these names, of which there must be as many.
    ///
    /// # Errors
    /// [`DecodeError::Numbers`] where there are more or fewer.
    pub fn numbers<const N: usize>(
        &self,
        names: [&'static str; N],
    ) -> Result<Numbers<N>, DecodeError> {
        let values = self.as_slice().try_into().map_err(|_| DecodeError::Numbers {
            offset: self.numbers_at,
            expected: N as u64,
            found: self.count as u64,
        })?;
        Ok(Numbers { values, names, at: self.numbers_at, design_at: self.design_at })
    }

    /// Refuses a design, for a structure that states none: what is read would be written otherwise.
    ///
    /// # Errors
    /// [`DecodeError::Field`] for the expected items or the promised rate.
    pub fn expect_no_design(&self) -> Result<(), DecodeError> {
        let (name, offset, found) = match (self.expected_items, self.promised_rate) {
            (None, None) => return Ok(()),
            (Some(items), _) => ("the expected items", self.design_at, items),
            (None, Some(rate)) => {
                ("the promised rate (as bits)", self.design_at + 8, rate.to_bits())
            }
        };
        Err(DecodeError::Field { name, offset, found, allowed: "absent" })
    }
}

impl PartialEq for Shape {
    fn eq(&self, other: &Self) -> bool {
        let design = |shape: &Self| (shape.expected_items, shape.promised_rate);
        self.as_slice() == other.as_slice() && design(self) == design(other)
    }
}

/// The numbers of a shape under their names, which says what is wrong with them and where.
#[derive(Clone, Copy, Debug)]
pub struct Numbers<const N: usize> {
    values: [u64; N],
    names: [&'static str; N],
    at: u64,
    design_at: u64,
}

impl<const N: usize> Numbers<N> {
    /// Returns the values.
    #[must_use]
    pub const fn values(&self) -> [u64; N] {
        self.values
    }

    /// Returns the error of a number that is impossible: `allowed` says what it may be.
    ///
    /// # Panics
    /// When there is no number of this index.
    #[must_use]
    pub const fn field(&self, index: usize, allowed: &'static str) -> DecodeError {
        DecodeError::Field {
            name: self.names[index],
            offset: self.offset(index),
            found: self.values[index],
            allowed,
        }
    }

    /// Returns the error of a number that stands for another choice than the one asked for.
    ///
    /// `meaning` is what it stands for, `None` where that is not known; `allowed` says what it must stand for.
    ///
    /// # Panics
    /// When there is no number of this index.
    #[must_use]
    pub const fn choice(
        &self,
        index: usize,
        meaning: Option<&'static str>,
        allowed: &'static str,
    ) -> DecodeError {
        DecodeError::Choice {
            name: self.names[index],
            offset: self.offset(index),
            found: self.values[index],
            meaning,
            allowed,
        }
    }

    /// Returns the error of parameters that are impossible, at the number that has the parameter's name.
    #[must_use]
    pub fn error(&self, mut error: ParamError) -> DecodeError {
        let parameter = error.parameter();
        let index = self.names.iter().position(|&name| name == parameter);
        // A number too great for the type of its parameter was saturated on the way there.
        if let (Some(index), ParamError::OutOfRange { value, .. }) = (index, &mut error) {
            *value = self.values[index];
        }
        let offset = match (index, parameter) {
            (Some(index), _) => self.offset(index),
            (None, "expected_items") => self.design_at,
            (None, "false_positive_rate") => self.design_at + 8,
            (None, _) => self.at,
        };
        DecodeError::Shape { offset, error }
    }

    const fn offset(&self, index: usize) -> u64 {
        self.at + 8 * index as u64
    }
}
