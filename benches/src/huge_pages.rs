//! Our filters on huge pages compared with usual pages, beyond the reach of the processor's address tables.

use core::fmt;
use core::ops::Range;
use std::fs;

use pds::blocked::backends;
use pds::params::Preference;

use crate::arena::{Design, Lineup};
use crate::filter::{Filter, LOOKUPS, Task};
use crate::report::size;
use crate::suite::{Bench, Fallible, Outcome};
use crate::{blocked, bloom};

/// Measures whether the system grants huge pages, and their effect.
pub(crate) fn run(bench: &mut Bench<'_>) -> Outcome {
    let blocked = Lineup { backend: backends().next(), ..blocked::HASHED };
    compare(bench, "blocked", blocked, |design| blocked::ours(design, Preference::Fastest))?;
    compare(bench, "bloom", bloom::LINEUP, bloom::filter)
}

/// Fills empty filters that have requested huge pages, and compares each with its copy. The memory of the copy is on
/// usual pages.
fn compare<F: Filter + Clone>(
    bench: &mut Bench<'_>,
    name: &str,
    lineup: Lineup,
    build: fn(&Design) -> Fallible<F>,
) -> Outcome {
    for bytes in bench.effort().sizes(lineup.sizes) {
        let design = lineup.design(bytes)?;
        if !design.is_huge() {
            continue;
        }
        let mut with = build(&design)?;
        with.fill(0..design.items);
        let mut without = with.clone();
        let granted = Granted::to([&with, &without]);
        let case = format!("{}, {name}", size(bytes));
        for operation in LOOKUPS {
            let [mut ours, mut theirs] = Task::pair([&mut with, &mut without], operation);
            let (labels, block) = ([&*case, operation.name()], design.block(operation));
            let row = bench.duel(labels, "usual pages", block, [&mut ours, &mut theirs]);
            bench.add(row.bytes(bytes).note(format!("{case}: {granted}.")));
        }
    }
    Ok(())
}

/// The bytes of two filters that lie on huge pages, if the system reports them.
struct Granted(Option<[u64; 2]>);

impl Granted {
    fn to<F: Filter>(filters: [&F; 2]) -> Self {
        let maps = fs::read_to_string("/proc/self/smaps");
        let of = |maps: String| {
            filters.map(|filter| {
                let words = filter.words().unwrap_or_default().as_ptr_range();
                huge_bytes(&maps, &(words.start.addr()..words.end.addr()))
            })
        };
        Self(maps.ok().map(of))
    }
}

impl fmt::Display for Granted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some([ours, theirs]) = self.0.map(|bytes| bytes.map(|bytes| bytes >> 20)) else {
            return f.write_str("the system does not report how much is on huge pages");
        };
        write!(f, "the system granted ours {ours} MiB of huge pages, the other {theirs} MiB")
    }
}

/// Returns the bytes on huge pages of all mappings that overlap `range`, at most its length.
fn huge_bytes(maps: &str, range: &Range<usize>) -> u64 {
    let (mut shares, mut bytes) = (false, 0);
    for line in maps.lines() {
        if let Some(mapping) = mapping(line) {
            shares = mapping.start < range.end && range.start < mapping.end;
        } else if let Some(figure) = line.strip_prefix("AnonHugePages:").filter(|_| shares) {
            let kib: u64 = figure.trim().trim_end_matches(" kB").parse().unwrap_or(0);
            bytes += 1024 * kib;
        }
    }
    bytes.min(range.len() as u64)
}

/// Returns the addresses at the start of the first line of a mapping.
fn mapping(line: &str) -> Option<Range<usize>> {
    let (start, end) = line.split_whitespace().next()?.split_once('-')?;
    Some(usize::from_str_radix(start, 16).ok()?..usize::from_str_radix(end, 16).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAPS: &str = "\
1000-2000 rw-p 00000000 00:00 0
Size:                  4 kB
AnonHugePages:        64 kB
2000-3000 rw-p 00000000 00:00 0    [heap-1]
AnonHugePages:         1 kB
VmFlags: rd wr mr mw me ac hg
3000-4000 rw-p 00000000 00:00 0
AnonHugePages:         2 kB
";

    #[test]
    fn huge_pages_are_those_of_the_mappings_that_hold_the_range() {
        assert_eq!(huge_bytes(MAPS, &(0x2800..0x3800)), 3 << 10);
        assert_eq!(huge_bytes(MAPS, &(0x3000..0x4000)), 2 << 10);
        assert_eq!(huge_bytes(MAPS, &(0x4000..0x5000)), 0);
    }

    #[test]
    fn a_range_has_no_more_than_itself() {
        assert_eq!(huge_bytes(MAPS, &(0x1000..0x1800)), 0x800);
    }
}
