//! A panic for a wrong argument names the line of the caller.
#![cfg(all(
    feature = "std",
    feature = "blocked",
    feature = "bloom",
    feature = "cms",
    feature = "counting",
    feature = "cuckoo",
    feature = "fuse",
    feature = "quotient",
    feature = "scalable"
))]

use core::hash::Hasher;
use core::panic::AssertUnwindSafe;
use std::panic::{self, catch_unwind};
use std::sync::Mutex;

use pds::cms::{Count, SignedCount};
use pds::hash::KeyHasher;
use pds::many::{AllOf, AnyOf};
use pds::traits::Membership;
use pds::{
    BlockedBloomFilter, BloomFilter, CountMinSketch, CountSketch, CountingBloomFilter,
    CuckooFilter, DynFilter, DynFilterView, ExactFilter, FuseFilter, QuotientFilter, RetrievalMap,
    RibbonFilter, ScalableBloomFilter, UpdatableMap,
};

/// A filter of one's own, with the batch that the trait provides.
struct Yes;

impl KeyHasher for Yes {
    fn hash_key_dyn(&self, _: &mut dyn FnMut(&mut dyn Hasher)) -> u64 {
        0
    }
}

impl Membership for Yes {
    fn contains_hash(&self, _: u64) -> bool {
        true
    }
}

/// The file of the last panic. The only test here sets the hook, which is one for the whole process.
static FILE: Mutex<Option<String>> = Mutex::new(None);

fn remember(info: &panic::PanicHookInfo<'_>) {
    *FILE.lock().unwrap() = info.location().map(|location| location.file().to_owned());
}

/// Asserts that a call panics in this file.
#[track_caller]
fn blames_the_caller(call: impl FnOnce() + panic::UnwindSafe) {
    assert!(catch_unwind(call).is_err(), "two answers for one key");
    let found = FILE.lock().unwrap().take();
    let line = panic::Location::caller().line();
    let _ = panic::take_hook();
    assert_eq!(found.as_deref(), Some(file!()), "the call in line {line}");
    panic::set_hook(Box::new(remember));
}

#[test]
fn slices_of_unequal_lengths_are_the_callers_fault() {
    panic::set_hook(Box::new(remember));
    macro_rules! filters {
        ($($filter:ident)*) => {$(
            let filter = $filter::new(100, 0.01).unwrap();
            blames_the_caller(|| filter.contains_batch(&[1u32], &mut [false; 2]));
            blames_the_caller(|| filter.contains_hash_batch(&[1], &mut [false; 2]));
        )*};
    }
    filters!(BlockedBloomFilter BloomFilter CountingBloomFilter CuckooFilter QuotientFilter ScalableBloomFilter);
    macro_rules! sets {
        ($($set:expr),*) => {$(
            let set = $set.unwrap();
            blames_the_caller(|| set.contains_batch(&[1u32], &mut [false; 2]));
            blames_the_caller(|| set.contains_hash_batch(&[1], &mut [false; 2]));
        )*};
    }
    sets!(FuseFilter::new([1], 0.1), RibbonFilter::new([1], 0.1), ExactFilter::new([1], [2]));
    let filter = || BloomFilter::new(100, 0.01).unwrap();
    let (any, all) = (AnyOf::new([filter()]), AllOf::new([filter()]));
    blames_the_caller(|| any.contains_batch(&[1u32], &mut [false; 2]));
    blames_the_caller(|| all.contains_batch(&[1u32], &mut [false; 2]));
    let (dynamic, view) = (DynFilter::from(filter()), DynFilterView::open(filter().to_bytes()));
    let (dynamic, view) = (AssertUnwindSafe(dynamic), AssertUnwindSafe(view.unwrap()));
    blames_the_caller(|| dynamic.contains_batch(&[1u32], &mut [false; 2]));
    blames_the_caller(|| dynamic.contains_hash_batch(&[1], &mut [false; 2]));
    blames_the_caller(|| view.contains_batch(&[1u32], &mut [false; 2]));
    blames_the_caller(|| view.contains_hash_batch(&[1], &mut [false; 2]));
    blames_the_caller(|| Yes.contains_hash_batch(&[1], &mut [false; 2]));
    macro_rules! maps {
        ($($map:ident)*) => {$(
            let map = $map::new([(1, 1)], 8).unwrap();
            blames_the_caller(|| map.get_batch(&[1u32], &mut [None; 2]));
            blames_the_caller(|| map.get_hash_batch(&[1], &mut [None; 2]));
        )*};
    }
    maps!(RetrievalMap UpdatableMap);
    let sketch = CountMinSketch::new(0.1, 0.1).unwrap();
    blames_the_caller(|| sketch.estimate_batch(&[1u32], &mut [Count::default(); 2]));
    blames_the_caller(|| sketch.estimate_hash_batch(&[1], &mut [Count::default(); 2]));
    let sketch = CountSketch::new(0.1, 0.1).unwrap();
    blames_the_caller(|| sketch.estimate_batch(&[1u32], &mut [SignedCount::default(); 2]));
    blames_the_caller(|| sketch.estimate_hash_batch(&[1], &mut [SignedCount::default(); 2]));
    let _ = panic::take_hook();
}
