//! One filter type in several storages: what a program can do with views that own their bytes.
#![cfg(feature = "std")]

extern crate alloc;

use alloc::sync::Arc;
use core::cell::Cell;
use core::panic::AssertUnwindSafe;
use pds_core::bytes::ByteOptions;
use pds_core::internal::DecodeFault;
use std::panic::catch_unwind;
use std::thread;

use cuckoo::error::DecodeError;
use cuckoo::hash::{KeyHasher, SipHashBuilder};
use cuckoo::storage::WordSource;
use cuckoo::{CuckooFilter, CuckooFilterView};

const ITEMS: u64 = 50;

/// Returns a filter that holds the `ITEMS` keys from `ITEMS * number` on.
fn numbered(number: u64) -> CuckooFilter {
    let mut filter = CuckooFilter::new(ITEMS, 1e-4).unwrap();
    (0..ITEMS).for_each(|item| filter.insert(&(ITEMS * number + item)).unwrap());
    filter
}

/// Counts the stored keys below `ITEMS * limit`. It knows no storage.
fn found<S: KeyHasher, W: WordSource>(filter: &CuckooFilter<S, W>, limit: u64) -> u64 {
    (0..ITEMS * limit).map(|key| u64::from(filter.contains(&key))).sum()
}

/// Bytes of a type that this project does not know, as a memory map is.
struct Mapped {
    pages: Box<[u8]>,
    start: usize,
}

impl AsRef<[u8]> for Mapped {
    fn as_ref(&self) -> &[u8] {
        &self.pages[self.start..]
    }
}

#[test]
fn a_thousand_views_live_in_a_collection_without_lifetimes() {
    struct Index {
        views: Vec<CuckooFilterView<Arc<[u8]>>>,
    }
    let open = |number| CuckooFilterView::open(numbered(number).to_bytes().into()).unwrap();
    let index = Index { views: (0..1_000).map(open).collect() };
    // The bytes that each was opened from are gone. Copies share them, and cross threads.
    let copies = index.views.clone();
    thread::spawn(move || {
        for (view, number) in copies.iter().zip(0..) {
            assert!((0..ITEMS).all(|item| view.contains(&(ITEMS * number + item))), "{number}");
        }
    })
    .join()
    .unwrap();
    let holding = index.views.iter().filter(|view| view.contains(&(ITEMS * 700)));
    assert!(holding.count() < 5, "1,000 queries at a rate of 1e-4, and one that holds the key");
}

#[test]
fn every_type_of_bytes_gives_the_same_answers() {
    let filter = numbered(3);
    let bytes = filter.to_bytes();
    let expected = found(&filter, 20);
    assert!((ITEMS..ITEMS + 10).contains(&expected), "{expected}");
    assert_eq!(found(&CuckooFilterView::open(bytes.as_slice()).unwrap(), 20), expected);
    assert_eq!(found(&CuckooFilterView::open(&bytes).unwrap(), 20), expected);
    assert_eq!(found(&CuckooFilterView::open(bytes.clone()).unwrap(), 20), expected);
    assert_eq!(found(&CuckooFilterView::open(Arc::<[u8]>::from(&*bytes)).unwrap(), 20), expected);
    let pages = [&[0; 13], bytes.as_slice()].concat().into_boxed_slice();
    let view = CuckooFilterView::open(Mapped { pages, start: 13 }).unwrap();
    assert_eq!(found(&view, 20), expected);
    assert_eq!((view.verify(), view.to_filter()), (Ok(()), Ok(filter)));
}

#[test]
fn a_view_takes_its_hasher_from_the_caller_or_from_the_bytes() {
    let hasher = SipHashBuilder::from_key([7; 16]);
    let mut filter = CuckooFilter::builder().expected_items(9).hasher(hasher).build().unwrap();
    filter.insert("key").unwrap();
    let (without, with) = (
        ByteOptions::new().without_key().to_bytes(&filter),
        ByteOptions::new().with_key().to_bytes(&filter),
    );
    assert!(
        ByteOptions::new()
            .hasher(hasher)
            .open::<_, CuckooFilterView<_, _>>(&without)
            .unwrap()
            .contains("key")
    );
    let view: CuckooFilterView<_, SipHashBuilder> =
        ByteOptions::new().open::<_, CuckooFilterView<_, _>>(with).unwrap();
    assert!(view.contains("key") && view.to_filter() == Ok(filter));
    let error =
        ByteOptions::new().open::<_, CuckooFilterView<_, SipHashBuilder>>(&without).unwrap_err();
    assert!(matches!(error, DecodeError(DecodeFault::KeyMissing { .. })), "{error}");
    let other = SipHashBuilder::from_key([8; 16]);
    let error =
        ByteOptions::new().hasher(other).open::<_, CuckooFilterView<_, _>>(&without).unwrap_err();
    assert!(matches!(error, DecodeError(DecodeFault::KeyMismatch { .. })), "{error}");
    assert!(CuckooFilterView::open(&without).is_err(), "another hash function");
}

/// Bytes that get shorter after they were opened, in spite of what `Stored` asks for.
struct Shrinking<'a> {
    bytes: &'a [u8],
    len: Cell<usize>,
}

impl AsRef<[u8]> for Shrinking<'_> {
    fn as_ref(&self) -> &[u8] {
        &self.bytes[..self.len.get()]
    }
}

#[test]
fn a_view_of_bytes_that_shrink_panics_instead_of_losing_keys() {
    for bits in [7, 8, 16, 17, 32] {
        let mut filter =
            CuckooFilter::builder().buckets(20).fingerprint_bits(bits).build().unwrap();
        filter.insert("key").unwrap();
        let bytes = filter.to_bytes();
        let len = Cell::new(bytes.len());
        let view = CuckooFilterView::open(Shrinking { bytes: &bytes, len }).unwrap();
        assert!(view.contains("key"));
        for len in [0, 64, bytes.len() - 9] {
            view.get_ref().len.set(len);
            assert!(catch_unwind(AssertUnwindSafe(|| view.contains("key"))).is_err(), "{bits}");
            assert!(view.verify().is_err(), "{bits}");
        }
    }
}
