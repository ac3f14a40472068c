//! Readable sizes and numbers.

use core::fmt;

/// A number of bytes that prints itself with a binary unit and three digits.
///
/// # Examples
/// ```
/// use pds::compare::HumanBytes;
///
/// let size = pds::params::BloomParams::new(1_000_000, 0.01)?.size_in_bytes();
/// assert_eq!(HumanBytes(size).to_string(), "1.14 MiB");
/// assert_eq!(HumanBytes(1_023).to_string(), "1023 B");
/// # Ok::<(), pds::error::ParamError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HumanBytes(pub u64);

/// Each unit is 1,024 times the one before.
const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];

impl fmt::Display for HumanBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 < 1_024 {
            return write!(f, "{} B", self.0);
        }
        let (mut value, mut unit) = (self.0 as f64 / 1_024.0, 0);
        // A value that would be printed as 1024 gets the next unit.
        while value >= 1_023.5 && unit + 1 < UNITS.len() {
            value /= 1_024.0;
            unit += 1;
        }
        let decimals = if value < 9.995 { 2 } else { usize::from(value < 99.95) };
        write!(f, "{value:.decimals$} {}", UNITS[unit])
    }
}

/// A number that prints its digits in groups of three.
///
/// # Examples
/// ```
/// use pds::compare::HumanCount;
///
/// assert_eq!(HumanCount(1_234_567).to_string(), "1,234,567");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HumanCount(pub u64);

impl fmt::Display for HumanCount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The greatest power of 1,000 that is not above the number.
        let mut group = 1;
        while self.0 / group >= 1_000 {
            group *= 1_000;
        }
        write!(f, "{}", self.0 / group)?;
        while group > 1 {
            group /= 1_000;
            write!(f, ",{:03}", self.0 / group % 1_000)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    extern crate alloc;

    use super::{HumanBytes, HumanCount};
    use alloc::string::ToString;

    #[test]
    fn three_digits_and_the_unit_that_fits() {
        let cases = [
            (0, "0 B"),
            (1_023, "1023 B"),
            (1_024, "1.00 KiB"),
            (10_234, "9.99 KiB"),
            (10_235, "10.0 KiB"),
            (102_348, "99.9 KiB"),
            (102_349, "100 KiB"),
            ((1 << 20) - 1, "1.00 MiB"),
            (1_197_504_918, "1.12 GiB"),
            (u64::MAX, "16.0 EiB"),
        ];
        for (bytes, text) in cases {
            assert_eq!(HumanBytes(bytes).to_string(), text, "{bytes}");
        }
    }

    #[test]
    fn digits_are_grouped_from_the_end() {
        let cases = [
            (0, "0"),
            (999, "999"),
            (1_000, "1,000"),
            (1_002_003, "1,002,003"),
            (u64::MAX, "18,446,744,073,709,551,615"),
        ];
        for (number, text) in cases {
            assert_eq!(HumanCount(number).to_string(), text);
        }
    }
}
