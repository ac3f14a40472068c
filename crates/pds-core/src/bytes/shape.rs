use crate::error::{DecodeError, ParamError};
use crate::internal::DecodeFault;
use pds_params::internal::ParamFault;

/// Shape of a structure: the numbers that determine its layout, and its design.
///
/// A shape that was read from bytes knows the offsets of its numbers, so errors about them name the offset. Two shapes
/// are equal if their numbers and designs are.
///
/// # Examples
/// ```
/// use pds_core::bytes::Shape;
///
/// let shape = Shape::new([9_586, 7]).with_design(Some(1_000), Some(0.01));
/// let [bits, hashes] = shape.numbers(["bits", "hashes"])?.values();
/// assert_eq!((bits, hashes, shape.expected_items()), (9_586, 7, Some(1_000)));
/// assert!(shape.numbers(["bits", "hashes", "more"]).is_err());
/// # Ok::<(), pds_core::error::DecodeError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    numbers: [u64; Self::MAX_NUMBERS],
    count: usize,
    expected_items: Option<u64>,
    promised_rate: Option<f64>,
    /// Offset of the first number, if read from bytes.
    numbers_at: u64,
    /// Offset of the design, if read from bytes.
    design_at: u64,
}

impl Shape {
    /// Greatest count of numbers in a shape. Put more into the payload.
    pub const MAX_NUMBERS: usize = 16;

    /// Creates a shape of at most [`MAX_NUMBERS`](Self::MAX_NUMBERS) numbers, without a design.
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

    /// Creates a shape of the numbers read, at most [`MAX_NUMBERS`](Self::MAX_NUMBERS).
    pub(super) fn of_slice(numbers: &[[u8; 8]]) -> Self {
        let mut shape = Self { count: numbers.len(), ..Self::new([]) };
        for (number, bytes) in shape.numbers.iter_mut().zip(numbers) {
            *number = u64::from_le_bytes(*bytes);
        }
        shape
    }

    /// Sets the offsets of the first number and of the design.
    pub(super) const fn read_at(self, numbers_at: u64, design_at: u64) -> Self {
        Self { numbers_at, design_at, ..self }
    }

    /// Sets the number of items that the structure was built for, at least 1, and the rate promised for them, above 0 and
    /// below 1.
    ///
    /// The design is metadata. It takes no part in equality or compatibility of structures.
    ///
    /// # Panics
    /// If a value is out of its range. No reader would accept it.
    #[must_use]
    pub const fn with_design(
        self,
        expected_items: Option<u64>,
        promised_rate: Option<f64>,
    ) -> Self {
        assert!(!matches!(expected_items, Some(0)), "expected items of a design are at least 1");
        if let Some(rate) = promised_rate {
            assert!(
                rate > 0.0 && rate < 1.0,
                "the promised rate of a design is above 0 and below 1"
            );
        }
        Self { expected_items, promised_rate, ..self }
    }

    /// Returns the number of items that the structure was built for.
    #[must_use]
    pub const fn expected_items(&self) -> Option<u64> {
        self.expected_items
    }

    /// Returns the rate promised for the expected items, above 0 and below 1.
    #[must_use]
    pub const fn promised_rate(&self) -> Option<f64> {
        self.promised_rate
    }

    /// Returns the numbers.
    #[must_use]
    pub fn as_slice(&self) -> &[u64] {
        &self.numbers[..self.count]
    }

    /// Returns the numbers under these names.
    ///
    /// # Errors
    /// [`Invalid`](crate::error::DecodeErrorKind::Invalid) if there are more or fewer numbers than names.
    pub fn numbers<const N: usize>(
        &self,
        names: [&'static str; N],
    ) -> Result<Numbers<N>, DecodeError> {
        let values = self.as_slice().try_into().map_err(|_| {
            DecodeError(DecodeFault::Numbers {
                offset: self.numbers_at,
                expected: N as u64,
                found: self.count as u64,
            })
        })?;
        Ok(Numbers { values, names, at: self.numbers_at, design_at: self.design_at })
    }

    /// Checks that there is no design. Use it for structures without one: they would be written with other bytes.
    ///
    /// # Errors
    /// [`Invalid`](crate::error::DecodeErrorKind::Invalid) if there are expected items or a promised rate.
    pub fn expect_no_design(&self) -> Result<(), DecodeError> {
        let (name, offset, found) = match (self.expected_items, self.promised_rate) {
            (None, None) => return Ok(()),
            (Some(items), _) => ("the expected items", self.design_at, items),
            (None, Some(rate)) => {
                ("the promised rate (as bits)", self.design_at + 8, rate.to_bits())
            }
        };
        Err(DecodeError(DecodeFault::Field { name, offset, found, allowed: "absent" }))
    }
}

impl PartialEq for Shape {
    fn eq(&self, other: &Self) -> bool {
        let design = |shape: &Self| (shape.expected_items, shape.promised_rate);
        self.as_slice() == other.as_slice() && design(self) == design(other)
    }
}

/// Numbers of a shape with their names, for error messages.
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

    /// Returns the error of an impossible number. `allowed` names the values allowed.
    ///
    /// # Panics
    /// If there is no number with this index.
    #[must_use]
    pub const fn field(&self, index: usize, allowed: &'static str) -> DecodeError {
        DecodeError(DecodeFault::Field {
            name: self.names[index],
            offset: self.offset(index),
            found: self.values[index],
            allowed,
        })
    }

    /// Returns the error of a number that stands for another choice than requested.
    ///
    /// `meaning` is the meaning of the number, or `None` if it is unknown. `allowed` is the meaning required.
    ///
    /// # Panics
    /// If there is no number with this index.
    #[must_use]
    pub const fn choice(
        &self,
        index: usize,
        meaning: Option<&'static str>,
        allowed: &'static str,
    ) -> DecodeError {
        DecodeError(DecodeFault::Choice {
            name: self.names[index],
            offset: self.offset(index),
            found: self.values[index],
            meaning,
            allowed,
        })
    }

    /// Returns the error of impossible parameters, at the number with the name of the parameter.
    #[must_use]
    pub fn error(&self, mut error: ParamError) -> DecodeError {
        let parameter = error.parameter();
        let index = self.names.iter().position(|&name| name == parameter);
        // A number too great for the type of its parameter was saturated on the way. Report the number in the bytes.
        if let (Some(index), ParamError(ParamFault::OutOfRange { value, .. })) = (index, &mut error)
        {
            *value = self.values[index];
        }
        let offset = match (index, parameter) {
            (Some(index), _) => self.offset(index),
            (None, "expected_items") => self.design_at,
            (None, "false_positive_rate") => self.design_at + 8,
            (None, _) => self.at,
        };
        DecodeError(DecodeFault::Shape { offset, error })
    }

    const fn offset(&self, index: usize) -> u64 {
        self.at + 8 * index as u64
    }
}
