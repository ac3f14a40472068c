//! Filters of static sets: lookups, sizes and construction, with hashes handed in.

use core::error::Error;
use core::hint::black_box;

use pds::{FuseFilter, RibbonFilter};
use pleat::filter::Ribbon;
use xorf::{BinaryFuse8, BinaryFuse16, Filter};

use crate::contest::Whole;
use crate::keys::{Keys, key};
use crate::report::{Row, Unit};
use crate::suite::{Bench, Effort, Outcome, Suite};

/// Binary fuse filters of equal widths.
pub const FUSE: Suite = Suite {
    name: "fuse",
    peers: &["xorf"],
    run: |bench| {
        compare(
            bench,
            (8, fuse::<8>),
            &[("xorf", "", |keys| Ok(Box::new(BinaryFuse8::try_from(keys)?)))],
        )?;
        compare(
            bench,
            (16, fuse::<16>),
            &[("xorf", "", |keys| Ok(Box::new(BinaryFuse16::try_from(keys)?)))],
        )
    },
};

/// Ribbon filters of eight columns.
pub const RIBBON: Suite = Suite {
    name: "ribbon",
    peers: &["xorf", "pleat"],
    run: |bench| {
        let pleat = "is a homogeneous ribbon of 64 slots, whose rate is above 2^-8";
        compare(
            bench,
            (8, ribbon),
            &[
                ("xorf", "is a binary fuse filter", |keys| {
                    Ok(Box::new(BinaryFuse8::try_from(keys)?))
                }),
                ("pleat", pleat, |keys| Ok(Box::new(Ribbon::<8>::from_keys_pleated(keys)))),
            ],
        )?;
        on_all_threads(bench)
    },
};

/// Lookups in sets far beyond the caches. It has its own suite, because its filters take minutes to build and 6 GB of memory.
pub const LARGE: Suite = Suite {
    name: "static-large",
    peers: &["xorf"],
    run: |bench| {
        let hashes: Vec<u64> = (0..100_000_000).map(key).collect();
        let peer = BinaryFuse8::try_from(&*hashes)?;
        for (case, build) in [(FUSE_HUGE, fuse::<8> as Build), (RIBBON_HUGE, ribbon)] {
            let filters: [&dyn Static; 2] = [&*build(&hashes)?, &peer];
            bench.add(weigh(case, "xorf", &hashes, filters));
            look_up(bench, (case, "xorf"), hashes.len() as u64, filters);
        }
        Ok(())
    },
};

/// The peer's name in the row that compares a build with itself.
const ONE_THREAD: &str = "one thread";

const FUSE_MILLION: &str = "10^6 keys, 8 bits";
const FUSE_HUGE: &str = "fuse, 10^8 keys, 8 bits";
const RIBBON_HUGE: &str = "ribbon, 10^8 keys, 8 bits";

/// Numbers of keys, and their names. The last one is measured by [`Effort::Full`] only.
const SIZES: [(u64, &str); 4] =
    [(10_000, "10^4"), (100_000, "10^5"), (1_000_000, "10^6"), (20_000_000, "2 * 10^7")];

/// Lookups per block.
const BLOCK: usize = 1 << 17;

/// Absent keys by which rates are measured.
const ABSENT: usize = 1 << 22;

/// A filter under test. The loop is a provided method, so all contenders have the same one, each compiled for its filter.
trait Static {
    fn has(&self, hash: u64) -> bool;

    fn bytes(&self) -> u64;

    /// Tests hashes one by one. Returns how many are possibly contained.
    fn count(&self, hashes: &[u64]) -> u64 {
        hashes.iter().map(|&hash| u64::from(black_box(self).has(hash))).sum()
    }

    /// Tests hashes by the filter's own batch, if it has one.
    fn count_batch(&self, hashes: &[u64], _answers: &mut [bool]) -> u64 {
        self.count(hashes)
    }
}

macro_rules! ours {
    ($($filter:ty)*) => {$(
        impl Static for $filter {
            fn has(&self, hash: u64) -> bool {
                self.contains_hash(hash)
            }

            fn bytes(&self) -> u64 {
                self.size_in_bytes()
            }

            fn count_batch(&self, hashes: &[u64], answers: &mut [bool]) -> u64 {
                self.contains_hash_batch(hashes, answers);
                answers.iter().map(|&answer| u64::from(answer)).sum()
            }
        }
    )*};
}
ours!(FuseFilter RibbonFilter);

macro_rules! of_xorf {
    ($($filter:ty)*) => {$(
        impl Static for $filter {
            fn has(&self, hash: u64) -> bool {
                self.contains(&hash)
            }

            fn bytes(&self) -> u64 {
                size_of_val(&*self.fingerprints) as u64
            }
        }
    )*};
}
of_xorf!(BinaryFuse8 BinaryFuse16);

impl Static for Ribbon<8> {
    fn has(&self, hash: u64) -> bool {
        self.contains(hash)
    }

    fn bytes(&self) -> u64 {
        self.size_bytes() as u64
    }

    fn count_batch(&self, hashes: &[u64], answers: &mut [bool]) -> u64 {
        self.contains_batch(hashes, answers);
        answers.iter().map(|&answer| u64::from(answer)).sum()
    }
}

/// Builds a filter of hashes.
type Build = fn(&[u64]) -> Result<Box<dyn Static>, Box<dyn Error>>;

fn fuse<const BITS: u32>(hashes: &[u64]) -> Result<Box<dyn Static>, Box<dyn Error>> {
    // The copy of the hashes is part of the time.
    let builder = FuseFilter::builder().fingerprint_bits(BITS).huge_pages(true);
    Ok(Box::new(builder.build_hashes(hashes.to_vec())?))
}

fn ribbon(hashes: &[u64]) -> Result<Box<dyn Static>, Box<dyn Error>> {
    let builder = RibbonFilter::builder().columns(8.0).huge_pages(true);
    Ok(Box::new(builder.build_hashes(hashes.to_vec())?))
}

/// Builds a ribbon filter on all threads, and on one.
fn on_all_threads(bench: &mut Bench<'_>) -> Outcome {
    let size = 1_000_000;
    let [mut all, mut one] = [true, false].map(|parallel| {
        Whole(move |hashes: &[u64]| {
            let builder = RibbonFilter::builder().columns(8.0).parallel(parallel);
            builder.build_hashes(hashes.to_vec()).map_or(0, |filter| filter.size_in_bytes())
        })
    });
    let block = (usize::try_from(size)?, Keys::stored(size));
    let row = bench.duel([FUSE_MILLION, "build"], ONE_THREAD, block, [&mut all, &mut one]);
    bench.add(row.note(format!(
        "{ONE_THREAD}: ours builds on all threads, and is compared with itself on one."
    )));
    Ok(())
}

/// Measures ours against peers, each a name, a note and how it is built, at every size.
fn compare(
    bench: &mut Bench<'_>,
    (bits, ours): (u32, Build),
    peers: &[(&'static str, &str, Build)],
) -> Outcome {
    let sizes = if bench.effort() == Effort::Full { &SIZES[..] } else { &SIZES[..3] };
    for &(size, name) in sizes {
        let hashes: Vec<u64> = (0..size).map(key).collect();
        let case = format!("{name} keys, {bits} bits");
        let built = ours(&hashes)?;
        for &(peer, note, build) in peers {
            let filters = [&*built, &*build(&hashes)?];
            let note =
                |row: Row| if note.is_empty() { row } else { row.note(format!("{peer} {note}.")) };
            bench.add(note(weigh(&case, peer, &hashes, filters)));
            look_up(bench, (&case, peer), size, filters);
            let block = (hashes.len(), Keys::stored(size));
            let mut builds = [ours, build].map(|build| {
                Whole(move |hashes: &[u64]| build(hashes).map_or(0, |filter| filter.bytes()))
            });
            let [ours, theirs] = &mut builds;
            let row = bench.duel([&case, "build"], peer, block, [ours, theirs]);
            bench.add(row.bytes(built.bytes()));
        }
    }
    Ok(())
}

/// Compares sizes, and measures the rates.
///
/// # Panics
/// If a filter lacks one of its keys.
fn weigh(case: &str, peer: &'static str, hashes: &[u64], filters: [&dyn Static; 2]) -> Row {
    let mut absent = vec![0; ABSENT];
    Keys::absent().fill(&mut absent);
    let rates = filters.map(|filter| {
        assert_eq!(filter.count(hashes), hashes.len() as u64, "{case}: a key is missing");
        filter.count(&absent) as f64 / ABSENT as f64
    });
    let bits = filters.map(|filter| filter.bytes() as f64 * 8.0 / hashes.len() as f64);
    let row = Row::exact([case, "memory"], peer, Unit::BitsPerItem, bits);
    row.rates(rates, ABSENT as u64).bytes(filters[0].bytes())
}

fn look_up(
    bench: &mut Bench<'_>,
    (case, peer): (&str, &'static str),
    size: u64,
    filters: [&dyn Static; 2],
) {
    let block = usize::try_from(size).map_or(BLOCK, |size| size.min(BLOCK));
    for (operation, keys, is_batch) in [
        ("hit", Keys::stored(size), false),
        ("miss", Keys::absent(), false),
        ("hit batch", Keys::stored(size), true),
        ("miss batch", Keys::absent(), true),
    ] {
        let mut contenders = filters.map(|filter| {
            let mut answers = vec![false; block];
            Whole(move |hashes: &[u64]| match is_batch {
                true => filter.count_batch(hashes, &mut answers),
                false => filter.count(hashes),
            })
        });
        let [ours, theirs] = &mut contenders;
        let row = bench.duel([case, operation], peer, (block, keys), [ours, theirs]);
        bench.add(row.bytes(filters[0].bytes()));
    }
}
