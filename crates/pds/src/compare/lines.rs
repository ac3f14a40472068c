//! Cache lines that a lookup reads.

/// Bytes of a cache line.
const LINE_BYTES: u64 = 64;

/// The mean number of 64-byte cache lines that a lookup reads.
///
/// Beyond the cache, these reads determine the time of a lookup.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LinesRead {
    /// For a key that was inserted.
    pub present: f64,
    /// For a key that was not inserted.
    pub absent: f64,
}

impl LinesRead {
    /// One line for any key.
    pub(crate) const ONE: Self = Self { present: 1.0, absent: 1.0 };

    /// Returns the mean over equal numbers of present and absent keys.
    #[must_use]
    pub fn mean(self) -> f64 {
        f64::midpoint(self.present, self.absent)
    }

    /// Returns the lines for `probes` independent positions in `bytes` bytes with this fill, read until one is clear.
    ///
    /// A probe happens if all before it were set. It reads a new line if none of them was in the same line.
    pub(crate) fn of_probes(probes: u32, fill: f64, bytes: u64) -> Self {
        let elsewhere = 1.0 - 1.0 / bytes.div_ceil(LINE_BYTES) as f64;
        Self { present: series(elsewhere, probes), absent: series(fill * elsewhere, probes) }
    }

    /// Returns the lines for two buckets of four fingerprints in `bytes` bytes. Some buckets lie across the end of a
    /// line.
    pub(crate) fn of_buckets(fingerprint_bits: u32, bytes: u64) -> Self {
        let lines = bytes.div_ceil(LINE_BYTES);
        if lines == 1 {
            return Self::ONE;
        }
        // 128 buckets fill f lines. gcd(f, 128) of these lines end between two buckets, the others within a bucket.
        let aligned = 1_u32 << fingerprint_bits.trailing_zeros().min(7);
        let across = f64::from(fingerprint_bits - aligned) / 128.0;
        let both = (2.0 - 1.0 / lines as f64) * (1.0 + across);
        Self { present: both, absent: both }
    }

    /// Returns the lines for a block of 17 bytes and 64 slots of `slot_bits` bits: its head, and a slot of the block. An
    /// absent key whose quotient has no run is decided by nine bytes of the head. `has_run` is the share of the quotients
    /// that have one. That slots may lie in a later block is not counted.
    pub(crate) fn of_runs(slot_bits: u32, has_run: f64, bytes: u64) -> Self {
        let lines = bytes.div_ceil(LINE_BYTES) as f64;
        // A byte that follows n - 1 others in a row starts another line in one of 64 / n cases.
        let another = |bytes: f64| (bytes / LINE_BYTES as f64).min(1.0);
        let slots = (0..64).map(|slot| another(1.0 + f64::from(slot * slot_bits / 8)));
        let run = 1.0 + another(16.0) + slots.sum::<f64>() / 64.0;
        let no_run = 1.0 + another(8.0);
        let absent = has_run * run + (1.0 - has_run) * no_run;
        Self { present: run.min(lines), absent: absent.min(lines) }
    }

    /// Returns the lines for `cells` cells at independent places in `bytes` bytes. Cells across the end of a line are not
    /// counted twice.
    pub(crate) fn of_cells(cells: u32, bytes: u64) -> Self {
        let all = series(1.0 - 1.0 / bytes.div_ceil(LINE_BYTES) as f64, cells);
        Self { present: all, absent: all }
    }

    /// Returns the lines for a window of two groups of `columns` words each in `bytes` bytes. An absent key is decided by
    /// the first eight columns in all but one of 256 cases. The thresholds are 1/512 of eight columns, and not counted.
    pub(crate) fn of_windows(columns: u32, bytes: u64) -> Self {
        let lines = bytes.div_ceil(LINE_BYTES) as f64;
        // Eight groups are whole lines.
        let mean =
            |of_group: &dyn Fn(u32) -> u32| f64::from((0..8).map(of_group).sum::<u32>()) / 8.0;
        let all = mean(&|group| lines_of_words(group * columns, 2 * columns));
        // The second group is read from its start, which may be in the last line of the first one.
        let first_columns = |group: u32| {
            let (first, second, read) = (group * columns, (group + 1) * columns, columns.min(8));
            let shared = (first + read - 1) / 8 == second / 8;
            lines_of_words(first, read) + lines_of_words(second, read) - u32::from(shared)
        };
        let some = mean(&first_columns);
        let later = if columns > 8 { (all - some) / 256.0 } else { 0.0 };
        Self { present: all.min(lines), absent: (some + later).min(lines) }
    }
}

/// Returns the lines that `words` 64-bit words from word `first` on have a part of.
const fn lines_of_words(first: u32, words: u32) -> u32 {
    if words == 0 { 0 } else { (first + words - 1) / 8 - first / 8 + 1 }
}

/// Returns the sum of `terms` terms of 1 + ratio + ratio² + ...
fn series(ratio: f64, terms: u32) -> f64 {
    (0..terms).fold(0.0, |sum, _| 1.0 + ratio * sum)
}

#[cfg(test)]
mod tests {
    use super::LinesRead;

    #[test]
    fn a_bloom_filter_reads_a_line_a_probe_and_stops_at_a_clear_bit() {
        let lines = LinesRead::of_probes(7, 0.5, 1 << 46);
        assert!((lines.present - 7.0).abs() < 1e-9);
        assert!((lines.absent - (2.0 - 1.0 / 64.0)).abs() < 1e-9);
        assert_eq!(LinesRead::of_probes(7, 0.5, 64), LinesRead::ONE);
    }

    #[test]
    fn cells_are_a_line_each() {
        let many = LinesRead::of_cells(3, 1 << 46);
        assert!((many.present - 3.0).abs() < 1e-9 && many.present == many.absent);
        assert_eq!(LinesRead::of_cells(3, 64), LinesRead::ONE);
    }

    #[test]
    fn windows_of_eight_columns_are_two_lines() {
        let many = 1 << 40;
        assert_eq!(LinesRead::of_windows(8, many), LinesRead { present: 2.0, absent: 2.0 });
        assert_eq!(LinesRead::of_windows(8, 64), LinesRead::ONE);
        // Two groups of one word: seven of eight times in one line.
        let one = LinesRead::of_windows(1, many);
        assert_eq!((one.present, one.absent), (1.125, 1.125));
        let sixteen = LinesRead::of_windows(16, many);
        assert!(sixteen.present == 4.0 && (2.0..2.01).contains(&sixteen.absent));
    }

    /// Lays blocks side by side, and counts the lines of the head and of one slot.
    #[test]
    fn blocks_of_runs_are_counted() {
        for width in [1, 7, 14, 56] {
            let line = |byte: u32| byte / 64;
            let mut all = 0;
            for (block, slot) in (0..64).flat_map(|block| (0..64).map(move |slot| (block, slot))) {
                let start = block * (17 + 8 * width);
                let mut lines =
                    [line(start), line(start + 16), line(start + 17 + slot * width / 8)];
                lines.sort_unstable();
                all += 1 + lines.windows(2).filter(|pair| pair[0] != pair[1]).count();
            }
            let lines = LinesRead::of_runs(width, 0.6, 1 << 40);
            assert!((lines.present - all as f64 / 4096.0).abs() < 1e-12, "{width}");
            let absent = 0.6 * lines.present + 0.4 * 1.125;
            assert!((lines.absent - absent).abs() < 1e-12, "{width}");
        }
        assert_eq!(LinesRead::of_runs(7, 0.6, 64), LinesRead::ONE);
    }

    /// Lays buckets of four fingerprints side by side and counts those that have a bit in two lines.
    #[test]
    fn buckets_across_two_lines_are_counted() {
        for width in 4..=32 {
            let across = (0..128).filter(|bucket| {
                let (first, last) = (bucket * 4 * width, (bucket + 1) * 4 * width - 1);
                first / 512 != last / 512
            });
            let expected = 2.0 * (1.0 + across.count() as f64 / 128.0);
            let lines = LinesRead::of_buckets(width, 1 << 60);
            assert!((lines.present - expected).abs() < 1e-12, "{width}");
        }
    }
}
