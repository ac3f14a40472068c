//! Filters of static sets: lookups, sizes and construction, with hashes handed in.

use pds::{FuseFilter, RibbonFilter};
use pleat::filter::Ribbon;
use xorf::{BinaryFuse8, BinaryFuse16};

use crate::filter::{Filter, HashIn, LOOKUPS, Task, filter};
use crate::keys::{Keys, key};
use crate::report::{Row, Unit};
use crate::suite::{Bench, Effort, Fallible, Outcome};

/// Numbers of keys, and their names. The last one is measured by [`Effort::Full`] only.
const SIZES: [(u64, &str); 4] =
    [(10_000, "10^4"), (100_000, "10^5"), (1_000_000, "10^6"), (20_000_000, "2 * 10^7")];

/// Lookups per block.
const BLOCK: usize = 1 << 17;

/// Absent keys by which rates are measured.
const ABSENT: usize = 1 << 22;

/// Builds a filter of hashes.
type Build = fn(&[u64]) -> Fallible<Box<dyn Filter>>;

/// A peer, and its difference from ours.
type Other = (&'static str, &'static str, Build);

/// Measures binary fuse filters of equal widths.
pub(crate) fn run_fuse(bench: &mut Bench<'_>) -> Outcome {
    compare(bench, (8, fuse::<8>), &[("xorf", "", fuse8)])?;
    let fuse16: Build = |keys| Ok(Box::new(BinaryFuse16::try_from(keys)?));
    compare(bench, (16, fuse::<16>), &[("xorf", "", fuse16)])
}

/// Measures ribbon filters of eight columns.
pub(crate) fn run_ribbon(bench: &mut Bench<'_>) -> Outcome {
    let note = "is a homogeneous ribbon of 64 slots, whose rate is above 2^-8";
    let pleat: Build = |keys| Ok(Box::new(Ribbon::<8>::from_keys_pleated(keys)));
    let others = [("xorf", "is a binary fuse filter", fuse8 as Build), ("pleat", note, pleat)];
    compare(bench, (8, ribbon), &others)?;
    on_all_threads(bench)
}

/// Measures lookups in sets far beyond the caches.
pub(crate) fn run_large(bench: &mut Bench<'_>) -> Outcome {
    let hashes: Vec<u64> = (0..100_000_000).map(key).collect();
    let mut peer = fuse8(&hashes)?;
    let (fuse, ribbon): (Build, Build) = (fuse::<8>, ribbon);
    for (name, build) in [("fuse", fuse), ("ribbon", ribbon)] {
        let labels = (&*format!("{name}, 10^8 keys, 8 bits"), "xorf", "");
        look_up(bench, labels, &hashes, [&mut *build(&hashes)?, &mut *peer]);
    }
    Ok(())
}

fn fuse8(keys: &[u64]) -> Fallible<Box<dyn Filter>> {
    Ok(Box::new(BinaryFuse8::try_from(keys)?))
}

fn fuse<const BITS: u32>(hashes: &[u64]) -> Fallible<Box<dyn Filter>> {
    // The copy of the hashes is part of the time.
    let builder = FuseFilter::builder().fingerprint_bits(BITS).huge_pages(true);
    Ok(Box::new(HashIn(builder.build_hashes(hashes.to_vec())?)))
}

fn ribbon(hashes: &[u64]) -> Fallible<Box<dyn Filter>> {
    let builder = RibbonFilter::builder().columns(8.0).huge_pages(true);
    Ok(Box::new(HashIn(builder.build_hashes(hashes.to_vec())?)))
}

filter!(HashIn<FuseFilter>, HashIn<RibbonFilter> => {
    contains(filter, hash) => filter.0.contains_hash(hash),
    contains_batch(filter, hashes, answers) => filter.0.contains_hash_batch(hashes, answers),
    bytes(filter) => filter.0.size_in_bytes(),
});

filter!(BinaryFuse8, BinaryFuse16 => {
    contains(filter, hash) => xorf::Filter::contains(filter, &hash),
    bytes(filter) => size_of_val(&*filter.fingerprints) as u64,
});

filter!(Ribbon<8> => {
    contains(filter, hash) => filter.contains(hash),
    contains_batch(filter, hashes, answers) => filter.contains_batch(hashes, answers),
    bytes(filter) => filter.size_bytes() as u64,
});

/// Builds a ribbon filter on all threads, and on one.
fn on_all_threads(bench: &mut Bench<'_>) -> Outcome {
    let [mut all, mut one] = [true, false].map(|parallel| {
        move |hashes: &[u64]| {
            let builder = RibbonFilter::builder().columns(8.0).parallel(parallel);
            builder.build_hashes(hashes.to_vec()).map_or(0, |filter| filter.size_in_bytes())
        }
    });
    let (size, labels) = (1_000_000, ["10^6 keys, 8 bits", "build"]);
    let block = (usize::try_from(size)?, Keys::stored(size));
    let row = bench.duel(labels, "one thread", block, [&mut all, &mut one]);
    bench.add(
        row.note("one thread: ours builds on all threads, and is compared with itself on one."),
    );
    Ok(())
}

/// Measures ours against peers at every size.
fn compare(bench: &mut Bench<'_>, (bits, ours): (u32, Build), others: &[Other]) -> Outcome {
    let sizes = if bench.effort() == Effort::Full { &SIZES[..] } else { &SIZES[..3] };
    for &(size, name) in sizes {
        let hashes: Vec<u64> = (0..size).map(key).collect();
        let case = format!("{name} keys, {bits} bits");
        let mut built = ours(&hashes)?;
        for &(peer, note, build) in others {
            let filters = [&mut *built, &mut *build(&hashes)?];
            look_up(bench, (&case, peer, note), &hashes, filters);
            let block = (hashes.len(), Keys::stored(size));
            let [mut ours, mut theirs] = [ours, build]
                .map(|build| move |keys: &[u64]| build(keys).map_or(0, |filter| filter.bytes()));
            let row = bench.duel([&case, "build"], peer, block, [&mut ours, &mut theirs]);
            bench.add(row.bytes(built.bytes()));
        }
    }
    Ok(())
}

/// Compares sizes, measures the rates, and times lookups.
///
/// # Panics
/// If a filter lacks one of its keys.
fn look_up(
    bench: &mut Bench<'_>,
    (case, peer, note): (&str, &'static str, &str),
    hashes: &[u64],
    [ours, theirs]: [&mut dyn Filter; 2],
) {
    let (size, bytes) = (hashes.len() as u64, ours.bytes());
    let mut absent = vec![0; ABSENT];
    Keys::absent().fill(&mut absent);
    let rates = [&*ours, &*theirs].map(|filter| {
        assert_eq!(filter.contains_each(hashes), size, "{case}: a key is missing");
        filter.contains_each(&absent) as f64 / ABSENT as f64
    });
    let bits = [bytes, theirs.bytes()].map(|bytes| bytes as f64 * 8.0 / size as f64);
    let row = Row::exact([case, "memory"], peer, Unit::BitsPerItem, bits).bytes(bytes);
    bench.add(row.rates(rates, ABSENT as u64).difference(peer, note));
    for operation in LOOKUPS {
        let block = (hashes.len().min(BLOCK), operation.looked_up(&Keys::stored(size)));
        let [mut ours, mut theirs] = Task::pair([ours, theirs], operation);
        let row = bench.duel([case, operation.name()], peer, block, [&mut ours, &mut theirs]);
        bench.add(row.bytes(bytes));
    }
}
