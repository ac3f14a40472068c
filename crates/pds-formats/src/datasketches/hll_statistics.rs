//! Statistics of registers: their range, the number of the least ones, and the sums that the bytes of a sketch repeat.

use pds_core::internal::{Backend, Work};

use super::hll::{SMALL_VALUES, power};

/// The statistics of registers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Statistics {
    pub(super) least: u8,
    pub(super) greatest: u8,
    /// How many registers have the least value.
    pub(super) num_least: u32,
    /// Sums of 2^-value over the values below 32, and the others. They are exact for values up to 63.
    pub(super) sums: [f64; 2],
}

impl Statistics {
    /// Returns the statistics of one register or more.
    ///
    /// A value above 63 counts in nothing but the range.
    pub(super) fn of(registers: &[u8]) -> Self {
        Backend::best().run(Registers(registers))
    }
}

struct Registers<'a>(&'a [u8]);

impl Work for Registers<'_> {
    type Output = Statistics;

    // Vectors without shifts by distances of their own would be slower than a table.
    #[inline(always)]
    fn run(self) -> Statistics {
        let [least, greatest] = range(self.0);
        let mut sums = [0.0; 2];
        if least < SMALL_VALUES {
            sums[0] = sum(self.0, &POWERS[0]);
        }
        if greatest >= SMALL_VALUES {
            sums[1] = sum(self.0, &POWERS[1]);
        }
        Statistics { least, greatest, num_least: count(self.0, least), sums }
    }

    #[inline(always)]
    fn run_wide(self) -> Statistics {
        let [least, greatest] = range(self.0);
        let num_least = count(self.0, least);
        let mut sums = [0.0; 2];
        for window in WINDOWS {
            if least < window.start + window.width && greatest >= window.start {
                let sum = &mut sums[usize::from(window.start >= SMALL_VALUES)];
                *sum += window.sum(self.0) as f64 * power(window.start + window.width - 1);
            }
        }
        Statistics { least, greatest, num_least, sums }
    }
}

/// 2^-value for the values of each sum, and 0 for others.
const POWERS: [[f64; 64]; 2] = {
    let mut powers = [[0.0; 64]; 2];
    let mut value = 0;
    while value < 64 {
        powers[(value >= SMALL_VALUES as usize) as usize][value] =
            f64::from_bits((1_023 - value as u64) << 52);
        value += 1;
    }
    powers
};

/// Sums the powers of registers. All sums are exact, so their order does not matter.
#[inline(always)]
fn sum(registers: &[u8], powers: &[f64; 64]) -> f64 {
    // As many as are added before one is ready.
    let mut sums = [0.0; 8];
    let (words, rest) = registers.as_chunks::<8>();
    for &word in words {
        let word = u64::from_le_bytes(word);
        for (shift, sum) in (0..).step_by(8).zip(&mut sums) {
            *sum += powers[(word >> shift & 63) as usize];
        }
    }
    let rest = rest.iter().map(|&value| powers[usize::from(value & 63)]);
    sums.into_iter().chain(rest).sum()
}

/// Values whose powers are summed as whole numbers of 32 bits.
struct Window {
    start: u8,
    width: u8,
}

/// The windows of all values. None has values of both sums. Registers seldom have more than 24 different values.
const WINDOWS: [Window; 4] = [
    Window { start: 0, width: 24 },
    Window { start: 24, width: 8 },
    Window { start: 32, width: 24 },
    Window { start: 56, width: 8 },
];

impl Window {
    /// Registers whose powers, of up to 2^23, have a sum below 2^32.
    const CHUNK: usize = 256;

    /// Returns the sum over the values of this window, in units of the power of its last one.
    // Other values are shifted by 32 or more, or by too much to leave anything.
    #[inline(always)]
    fn sum(&self, registers: &[u8]) -> u64 {
        let (start, first) = (u32::from(self.start), 1u32 << (self.width - 1));
        let mut total = 0;
        for chunk in registers.chunks(Self::CHUNK) {
            let mut sum = 0;
            for &value in chunk {
                sum += first.unbounded_shr(u32::from(value).wrapping_sub(start));
            }
            total += u64::from(sum);
        }
        total
    }
}

/// Returns the least and the greatest register.
#[inline(always)]
fn range(registers: &[u8]) -> [u8; 2] {
    let (mut least, mut greatest) = (u8::MAX, 0);
    for &value in registers {
        least = value.min(least);
        greatest = value.max(greatest);
    }
    [least, greatest]
}

/// Counts the registers of a value.
#[inline(always)]
pub(super) fn count(registers: &[u8], value: u8) -> u32 {
    let mut total = 0;
    // As many as a sum of 8 bits can count, in whole vectors.
    for chunk in registers.chunks(128) {
        let mut count = 0;
        for &register in chunk {
            count += u8::from(register == value);
        }
        total += u32::from(count);
    }
    total
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use pds_testkit::keys;

    use super::*;

    /// The statistics by their definition, one register after the other.
    fn plain(registers: &[u8]) -> Statistics {
        let least = *registers.iter().min().unwrap();
        let mut sums = [0.0; 2];
        for &value in registers {
            sums[usize::from(value >= 32)] += libm::ldexp(1.0, -i32::from(value));
        }
        Statistics {
            least,
            greatest: *registers.iter().max().unwrap(),
            num_least: registers.iter().map(|&value| u32::from(value == least)).sum(),
            sums,
        }
    }

    fn agrees(registers: &[u8]) {
        let expected = plain(registers);
        for backend in Backend::all() {
            let found = backend.run(Registers(registers));
            assert_eq!(found, expected, "{}, {} registers", backend.name(), registers.len());
        }
        assert_eq!(Statistics::of(registers), expected);
    }

    /// Of every size, every pair of values: the sums of two are exact, so the order of the sums of each does not matter.
    #[test]
    fn every_backend_agrees_with_the_definition_on_every_pair_of_values() {
        for (low, high) in (0..64).flat_map(|low| (low..64).map(move |high| (low, high))) {
            for (length, at) in [(16, 0), (32, 31), (64, 63), (512, 300)] {
                let mut registers = alloc::vec![low; length];
                agrees(&registers);
                registers[at] = high;
                agrees(&registers);
                registers.fill(high);
                registers[at] = low;
                agrees(&registers);
            }
        }
    }

    #[test]
    fn every_backend_agrees_with_the_definition_on_random_registers() {
        for (lg_k, seed) in (4..=13).flat_map(|lg_k| (0..20).map(move |seed| (lg_k, seed))) {
            let random = || keys::random(seed).take(1 << lg_k);
            let below =
                |end: u64| random().map(|word| (word % end).to_le_bytes()[0]).collect::<Vec<u8>>();
            (1..=64).step_by(9).for_each(|end| agrees(&below(end)));
            // As keys leave them, on a base.
            let base = (seed * 3).to_le_bytes()[0];
            let zeros = random().map(|word| word.leading_zeros().to_le_bytes()[0]);
            agrees(&zeros.map(|zeros| (base + zeros).min(63)).collect::<Vec<u8>>());
        }
    }

    /// The most registers of the least power of each sum, and of the greatest.
    #[test]
    fn the_largest_sketch_has_exact_sums() {
        for value in [0, 23, 24, 31, 32, 55, 56, 63] {
            let mut registers = alloc::vec![value; 1 << 21];
            agrees(&registers);
            registers[77] = 0;
            agrees(&registers);
        }
    }

    /// The range tells of values that cannot be.
    #[test]
    fn values_above_the_greatest_are_in_the_range() {
        for wrong in 64..=u8::MAX {
            let registers: Vec<u8> = (0..100).map(|at| if at == 70 { wrong } else { 5 }).collect();
            for backend in Backend::all() {
                let found = backend.run(Registers(&registers));
                assert_eq!([found.least, found.greatest], [5, wrong], "{}", backend.name());
            }
        }
    }
}
