//! Files of unknown kind: each is opened as the kind that its header states, or refused with the reason.
#![cfg(all(
    feature = "std",
    feature = "blocked",
    feature = "bloom",
    feature = "cms",
    feature = "counting",
    feature = "cuckoo",
    feature = "fuse",
    feature = "heavy-hitters",
    feature = "hll",
    feature = "quotient",
    feature = "scalable"
))]

extern crate alloc;

use alloc::sync::Arc;
use std::path::{Path, PathBuf};
use std::{fs, thread};

use pds::bytes::{ByteOptions, Header, Kind, Portable};
use pds::compare::{Ability, Candidate};
use pds::counting::Bits8;
use pds::error::{DecodeError, FileError, InsertError, ReadError};
use pds::hash::{DefaultHashBuilder, KeyHasher, PortableHasher, SipHashBuilder};
use pds::traits::{DynInsert, Membership};
use pds::{
    BlockedBloomFilter, BlockedCountingBloomFilter, BloomFilter, CountMinSketch,
    CountingBloomFilter, CountingQuotientFilter, CuckooFilter, DynFilter, DynFilterView,
    HyperLogLog, QuotientFilter, RibbonFilter, ScalableBlockedBloomFilter, ScalableBloomFilter,
    registry,
};
use pds_core::internal::DecodeFault;
use pds_testkit::envelope::head_bytes;
use pds_testkit::mutate::{Choices, inputs, mutate};

const ITEMS: u64 = 300;

/// The contents of a `DynFilter`, as its errors name them.
const HELD: &str = "a membership filter (Bloom, blocked Bloom, scalable Bloom, counting Bloom, blocked counting Bloom, \
                    cuckoo, quotient, counting quotient, ribbon or binary fuse)";

/// A filter of every kind, with the integers below 300 in it, as bytes.
fn all() -> Vec<(Kind, Vec<u8>)> {
    let mut bloom = BloomFilter::new(ITEMS, 0.01).unwrap();
    let mut blocked = BlockedBloomFilter::new(ITEMS, 0.01).unwrap();
    let mut counting = CountingBloomFilter::new(ITEMS, 0.01).unwrap();
    let builder = CountingBloomFilter::builder().expected_items(ITEMS).false_positive_rate(0.01);
    let mut wide = builder.wide_counters().build().unwrap();
    let mut lines = BlockedCountingBloomFilter::new(ITEMS, 0.01).unwrap();
    let mut cuckoo = CuckooFilter::new(ITEMS, 0.01).unwrap();
    bloom.extend(0..ITEMS);
    blocked.extend(0..ITEMS);
    counting.extend(0..ITEMS);
    wide.extend(0..ITEMS);
    lines.extend(0..ITEMS);
    (0..ITEMS).for_each(|key| cuckoo.insert(&key).unwrap());
    let mut quotient = QuotientFilter::new(ITEMS, 0.01).unwrap();
    (0..ITEMS).for_each(|key| quotient.insert(&key).unwrap());
    let mut counts = CountingQuotientFilter::new(ITEMS, 0.01).unwrap();
    (0..ITEMS).for_each(|key| counts.insert(&key).unwrap());
    vec![
        (Kind::BLOOM, bloom.to_bytes()),
        (Kind::BLOCKED_BLOOM, blocked.to_bytes()),
        (Kind::COUNTING_BLOOM, counting.to_bytes()),
        (Kind::COUNTING_BLOOM, wide.to_bytes()),
        (Kind::BLOCKED_COUNTING_BLOOM, lines.to_bytes()),
        (Kind::CUCKOO, cuckoo.to_bytes()),
        (Kind::QUOTIENT, quotient.to_bytes()),
        (Kind::COUNTING_QUOTIENT, counts.to_bytes()),
    ]
}

/// Returns the result of the type of this kind for the same bytes: its answers, or its error.
fn own(kind: Kind, bytes: &[u8]) -> Result<Vec<bool>, DecodeError> {
    fn answers<F: Membership + Portable<Hasher = DefaultHashBuilder>>(
        bytes: &[u8],
    ) -> Result<Vec<bool>, DecodeError> {
        ByteOptions::new().from_bytes::<F>(bytes).map(|filter| asked(&filter))
    }
    match kind {
        kind if kind == Kind::BLOOM => answers::<BloomFilter>(bytes),
        kind if kind == Kind::BLOCKED_BLOOM => answers::<BlockedBloomFilter>(bytes),
        kind if kind == Kind::COUNTING_BLOOM => answers::<CountingBloomFilter>(bytes)
            .or_else(|_| answers::<CountingBloomFilter<DefaultHashBuilder, Bits8>>(bytes)),
        kind if kind == Kind::BLOCKED_COUNTING_BLOOM => {
            answers::<BlockedCountingBloomFilter>(bytes)
        }
        kind if kind == Kind::CUCKOO => answers::<CuckooFilter>(bytes),
        kind if kind == Kind::QUOTIENT => answers::<QuotientFilter>(bytes),
        kind if kind == Kind::COUNTING_QUOTIENT => answers::<CountingQuotientFilter>(bytes),
        other => panic!("{other} is no filter"),
    }
}

/// The answers to 600 keys, of which the first half was inserted.
fn asked(filter: &impl Membership) -> Vec<bool> {
    (0..2 * ITEMS).map(|key| filter.contains(&key)).collect()
}

fn saved(name: &str, bytes: &[u8]) -> PathBuf {
    let path = std::env::temp_dir().join(format!("pds-dyn-{}-{name}.pds", std::process::id()));
    fs::write(&path, bytes).unwrap();
    path
}

#[test]
fn every_kind_answers_as_its_own_type_does() {
    for (kind, bytes) in all() {
        let filter = DynFilter::from_bytes(&bytes).unwrap();
        assert_eq!(filter.kind(), kind);
        let answers = asked(&filter);
        assert_eq!(Ok(&answers), own(kind, &bytes).as_ref(), "{kind}");
        assert!(answers[..300].iter().all(|&one| one) && answers[300..].iter().any(|&one| !one));

        let keys: Vec<u64> = (0..2 * ITEMS).collect();
        let hashes: Vec<u64> = keys.iter().map(|key| filter.hash_key(key)).collect();
        let mut batch = vec![false; 600];
        filter.contains_batch(&keys, &mut batch);
        assert_eq!(batch, answers, "{kind}");
        filter.contains_hash_batch(&hashes, &mut batch);
        assert_eq!(batch, answers, "{kind}");
    }
}

#[test]
fn every_kind_answers_from_borrowed_bytes_as_from_its_own() {
    for (kind, bytes) in all() {
        let filter = DynFilter::from_bytes(&bytes).unwrap();
        // At an odd address, as in the middle of a file.
        let shifted = [&[0][..], &bytes].concat();
        let view = DynFilterView::open(&shifted[1..]).unwrap();
        assert_eq!((view.kind(), view.verify()), (kind, Ok(())));
        assert_eq!(asked(&view), asked(&filter), "{kind}");
        let (keys, mut batch) = ((0..2 * ITEMS).collect::<Vec<u64>>(), vec![false; 600]);
        view.contains_batch(&keys, &mut batch);
        assert_eq!(batch, asked(&filter), "{kind}");

        assert_eq!(view.expected_items(), filter.expected_items());
        assert_eq!(view.promised_rate(), filter.promised_rate());
        assert_eq!(view.size_in_bytes(), filter.size_in_bytes(), "{kind}");
        assert_eq!(view.false_positive_rate(), filter.false_positive_rate(), "{kind}");
        assert_eq!(view.approx_len(), filter.approx_len(), "{kind}");
        assert_eq!(view.health(), filter.health(), "{kind}");
        let copy = view.to_filter().unwrap();
        assert_eq!((copy.kind(), asked(&copy)), (kind, asked(&filter)));
        assert!(format!("{view:?}").contains("FilterView"), "{view:?}");
    }
}

/// Opening checks only the header. `verify` finds a damaged payload.
#[test]
fn views_verify_every_kind() {
    for (kind, mut bytes) in all() {
        let payload = head_bytes(&bytes).unwrap();
        bytes[payload] ^= 1;
        let view = DynFilterView::open(&bytes).unwrap();
        assert!(matches!(view.verify(), Err(DecodeError(DecodeFault::Checksum { .. }))), "{kind}");
        // A quotient filter decodes its slots in order, and meets the fault before the checksum.
        let decoded = DynFilter::from_bytes(&bytes).err();
        assert!(decoded.is_some() && view.to_filter().err() == decoded, "{kind}");
        let in_order = kind == Kind::QUOTIENT || kind == Kind::COUNTING_QUOTIENT;
        assert!(in_order || decoded == view.verify().err(), "{kind}");
    }
}

#[test]
fn every_kind_tells_its_design_and_state() {
    for (kind, bytes) in all() {
        let filter = DynFilter::from_bytes(&bytes).unwrap();
        assert_eq!((filter.expected_items(), filter.promised_rate()), (Some(ITEMS), Some(0.01)));
        let envelope = head_bytes(&bytes).unwrap() as u64 + 8;
        assert_eq!(filter.size_in_bytes() + envelope, bytes.len() as u64, "{kind}");
        let rate = filter.false_positive_rate();
        // One small filter has its own rate. The promise is for the mean.
        assert!(rate > 0.0 && rate < 0.02, "{kind}: {rate}");
        let items = filter.approx_len().map_or(300.0, |items| items.value);
        assert!((items - 300.0).abs() < 30.0, "{kind}: {items}");
        let reports = [Kind::BLOOM, Kind::BLOCKED_BLOOM].contains(&kind);
        assert_eq!(filter.health().is_some(), reports, "{kind}");
        assert_eq!(format!("{:?}", filter.clone()), format!("{filter:?}"));
    }
}

#[test]
fn slices_streams_and_files_are_opened_alike() {
    let stream: Vec<u8> = all().into_iter().flat_map(|(_, bytes)| bytes).collect();
    let mut reader = stream.as_slice();
    for (index, (kind, bytes)) in all().into_iter().enumerate() {
        let of_slice = asked(&DynFilter::from_bytes(&bytes).unwrap());
        let of_stream =
            ByteOptions::new().max_bytes(10_000).read_from::<DynFilter>(&mut reader).unwrap();
        let path = saved(&index.to_string(), &bytes);
        let of_file = ByteOptions::new().load::<DynFilter>(&path).unwrap();
        fs::remove_file(path).unwrap();
        assert_eq!((of_stream.kind(), of_file.kind()), (kind, kind));
        assert_eq!((asked(&of_stream), asked(&of_file)), (of_slice.clone(), of_slice));
    }
    assert!(reader.is_empty(), "each took its own envelope and no more");
}

/// The golden files of all crates: those of filters open, with the hasher that wrote them.
#[test]
fn golden_files_open() {
    let mut kinds = Vec::new();
    let crates = ["bloom-core", "bloom-blocked", "bloom-counting", "cuckoo", "quotient"];
    let folders = crates.map(|name| format!("../{name}/tests/data"));
    for folder in folders.into_iter().chain(["../quotient/tests/data/counting".to_owned()]) {
        let data = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
        for entry in fs::read_dir(data).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "pds") {
                kinds.push(opened(&path).id());
            }
        }
    }
    kinds.sort_unstable();
    kinds.dedup();
    assert_eq!(kinds, [1, 2, 4, 5, 6, 25, 27], "every kind of filter has a golden file");
}

/// Opens a golden file with the hasher that its header names. An omitted key is reported as missing.
fn opened(path: &Path) -> Kind {
    let bytes = fs::read(path).unwrap();
    let header = Header::peek(&bytes).unwrap();
    let hasher = header.hasher.unwrap();
    if hasher.id == DefaultHashBuilder::ID {
        return ByteOptions::new().load::<DynFilter>(path).unwrap().kind();
    }
    let keyed = ByteOptions::new().load::<DynFilter<SipHashBuilder>>(path);
    match hasher.seed {
        Some(_) => assert_eq!(keyed.unwrap().kind(), header.kind),
        None => assert!(matches!(
            keyed,
            Err(FileError {
                error: ReadError::Decode(DecodeError(DecodeFault::KeyMissing { .. })),
                ..
            })
        )),
    }
    header.kind
}

#[test]
fn case_45_sketches_are_refused_by_name_and_offset() {
    let sketches = [
        (CountMinSketch::new(0.1, 0.1).unwrap().to_bytes(), Kind::COUNT_MIN, "count-min sketch", 8),
        (HyperLogLog::new(10).unwrap().to_bytes(), Kind::HYPER_LOG_LOG, "HyperLogLog sketch", 16),
    ];
    for (bytes, kind, name, id) in sketches {
        let error = DynFilter::from_bytes(&bytes).unwrap_err();
        assert!(
            matches!(error, DecodeError(DecodeFault::OtherKind { offset: 10, found, .. }) if found == kind),
            "{error:?}"
        );
        let text = format!("the kind at offset 10 is {id} ({name}), expected {HELD}");
        assert_eq!(error.to_string(), text);
        assert_eq!(DynFilterView::open(&bytes).unwrap_err(), error);
        let streamed =
            ByteOptions::new().max_bytes(u64::MAX).read_from::<DynFilter>(bytes.as_slice());
        assert!(matches!(streamed, Err(ReadError::Decode(same)) if same == error));
    }
}

#[test]
fn keyed_filters_need_their_key() {
    let hasher = SipHashBuilder::from_key([5; 16]);
    let mut filter = CuckooFilter::builder().expected_items(10).hasher(hasher).build().unwrap();
    filter.insert("here").unwrap();
    let bytes = ByteOptions::new().without_key().to_bytes(&filter);

    let wrong_hasher = DynFilter::from_bytes(&bytes).unwrap_err();
    assert!(matches!(wrong_hasher, DecodeError(DecodeFault::Hasher { .. })), "{wrong_hasher:?}");
    let without = ByteOptions::new().from_bytes::<DynFilter<SipHashBuilder>>(&bytes).unwrap_err();
    assert_eq!(without, DecodeError(DecodeFault::KeyMissing { offset: 48 }));
    let other = SipHashBuilder::from_key([6; 16]);
    let wrong = ByteOptions::new().hasher(other).from_bytes::<DynFilter<_>>(&bytes).unwrap_err();
    assert!(matches!(wrong, DecodeError(DecodeFault::KeyMismatch { .. })), "{wrong:?}");
    let view = DynFilterView::open(&bytes).unwrap_err();
    assert_eq!(view, wrong_hasher);
    let view = ByteOptions::new().open::<_, DynFilterView<SipHashBuilder>>(&bytes).unwrap_err();
    assert_eq!(view, without);
    assert_eq!(
        ByteOptions::new().hasher(other).open::<_, DynFilterView<_>>(&bytes).unwrap_err(),
        wrong
    );

    let path = saved("keyed", &bytes);
    let limits = 1_000;
    let with_key = ByteOptions::new().with_key().to_bytes(&filter);
    let filters = [
        ByteOptions::new().hasher(hasher).from_bytes::<DynFilter<_>>(&bytes).unwrap(),
        ByteOptions::new().from_bytes::<DynFilter<_>>(&with_key).unwrap(),
        ByteOptions::new().hasher(hasher).load::<DynFilter<_>>(&path).unwrap(),
        ByteOptions::new()
            .max_bytes(limits)
            .hasher(hasher)
            .read_from::<DynFilter<_>>(bytes.as_slice())
            .unwrap(),
        ByteOptions::new()
            .max_bytes(limits)
            .read_from::<DynFilter<_>>(with_key.as_slice())
            .unwrap(),
        ByteOptions::new()
            .hasher(hasher)
            .open::<_, DynFilterView<_>>(&bytes)
            .unwrap()
            .to_filter()
            .unwrap(),
        ByteOptions::new().open::<_, DynFilterView<_>>(&with_key).unwrap().to_filter().unwrap(),
    ];
    fs::remove_file(path).unwrap();
    for filter in filters {
        assert!(filter.contains("here") && !filter.contains("there"));
        assert_eq!(filter.hasher().hash_bytes(b"here"), hasher.hash_bytes(b"here"));
    }
}

#[test]
fn limits_and_ends_are_kept() {
    for (kind, mut bytes) in all() {
        let refused = ByteOptions::new().max_bytes(8).read_from::<DynFilter>(bytes.as_slice());
        assert!(matches!(
            refused,
            Err(ReadError::Decode(DecodeError(DecodeFault::Limit { limit: 8, .. })))
        ));
        for end in [0, 7, 127, 128, bytes.len() - 1] {
            let cut = DynFilter::from_bytes(&bytes[..end]);
            assert!(
                matches!(cut, Err(DecodeError(DecodeFault::Truncated { .. }))),
                "{kind}, {end}: {cut:?}"
            );
            assert_eq!(DynFilterView::open(&bytes[..end]).err(), cut.err());
            let cut = ByteOptions::new().max_bytes(u64::MAX).read_from::<DynFilter>(&bytes[..end]);
            assert!(matches!(
                cut,
                Err(ReadError::Decode(DecodeError(DecodeFault::Truncated { .. })))
            ));
        }
        bytes.push(0);
        assert!(matches!(
            DynFilter::from_bytes(&bytes),
            Err(DecodeError(DecodeFault::Trailing { .. }))
        ));
        assert!(matches!(
            DynFilterView::open(&bytes),
            Err(DecodeError(DecodeFault::Trailing { .. }))
        ));
        let path = saved(&format!("trailing-{}", kind.id()), &bytes);
        let loaded = ByteOptions::new().load::<DynFilter>(&path);
        fs::remove_file(path).unwrap();
        assert!(
            matches!(
                loaded,
                Err(FileError {
                    error: ReadError::Decode(DecodeError(DecodeFault::Trailing { .. })),
                    ..
                })
            ),
            "{kind}"
        );
    }
    assert!(matches!(
        ByteOptions::new().load::<DynFilter>("/nowhere/at/all"),
        Err(FileError { error: ReadError::Io(_), .. })
    ));
}

/// Forged bytes of every kind give the same answers or the same errors as the type of the kind.
#[test]
fn case_17_forged_bytes_are_refused_or_answered_as_by_their_own_type() {
    let originals = all();
    let (mut accepted, mut refused, mut viewed) = (0, 0, 0);
    for input in inputs(7, 30_000) {
        let mut choices = Choices::new(&input);
        let (_, mut bytes) = originals[choices.below(originals.len())].clone();
        mutate(&mut bytes, &mut choices);
        let opened = DynFilter::from_bytes(&bytes).map(|filter| (filter.kind(), asked(&filter)));
        viewed += u32::from(view_agrees(&bytes, &opened));
        match opened {
            Ok((kind, answers)) => {
                assert_eq!(Header::peek(&bytes).unwrap().kind, kind);
                assert_eq!(own(kind, &bytes), Ok(answers), "{kind}");
                accepted += 1;
            }
            Err(_) => {
                if let Ok(header) = Header::peek(&bytes)
                    && all_kinds().contains(&header.kind)
                {
                    assert!(own(header.kind, &bytes).is_err(), "{}", header.kind);
                }
                refused += 1;
            }
        }
    }
    assert!(accepted > 300 && refused > 300, "{accepted} accepted, {refused} refused");
    assert!(viewed > accepted, "{viewed} viewed: some payloads are damaged, and are still asked");
}

/// Asks a view of forged bytes whatever it verifies to, and holds it against what the owned filter said of them.
/// Returns whether it opened.
fn view_agrees(bytes: &[u8], owned: &Result<(Kind, Vec<bool>), DecodeError>) -> bool {
    match DynFilterView::open(bytes) {
        Ok(view) => {
            let answers = (view.kind(), asked(&view));
            // Where a payload has two faults, each may name another one.
            assert_eq!(view.verify().ok().map(|()| &answers), owned.as_ref().ok());
            true
        }
        Err(error) => {
            assert_eq!(owned.as_ref(), Err(&error));
            false
        }
    }
}

const fn all_kinds() -> [Kind; 7] {
    [
        Kind::BLOOM,
        Kind::BLOCKED_BLOOM,
        Kind::COUNTING_BLOOM,
        Kind::BLOCKED_COUNTING_BLOOM,
        Kind::CUCKOO,
        Kind::QUOTIENT,
        Kind::COUNTING_QUOTIENT,
    ]
}

/// A filter of every kind, empty.
fn empty() -> Vec<DynFilter> {
    let wide = CountingBloomFilter::builder().expected_items(ITEMS).wide_counters();
    vec![
        DynFilter::from(BloomFilter::new(ITEMS, 0.01).unwrap()),
        DynFilter::from(BlockedBloomFilter::new(ITEMS, 0.01).unwrap()),
        DynFilter::from(CountingBloomFilter::new(ITEMS, 0.01).unwrap()),
        DynFilter::from(wide.build().unwrap()),
        DynFilter::from(BlockedCountingBloomFilter::new(ITEMS, 0.01).unwrap()),
        DynFilter::from(CuckooFilter::new(ITEMS, 0.01).unwrap()),
        DynFilter::from(QuotientFilter::new(ITEMS, 0.01).unwrap()),
        DynFilter::from(CountingQuotientFilter::new(ITEMS, 0.01).unwrap()),
    ]
}

/// After the same inserts, each gives the bytes of its own type. They are read back, also from a file and a stream.
#[test]
fn every_kind_is_filled_and_written_as_by_its_own_type() {
    for (mut filter, (kind, bytes)) in empty().into_iter().zip(all()) {
        let new = (0..ITEMS).filter(|key| filter.insert(key).unwrap()).count();
        assert!(new > 290, "{kind}: {new} were new");
        assert_eq!((filter.kind(), filter.to_bytes()), (kind, bytes.clone()), "{kind}");
        let mut written = Vec::new();
        filter.write_to(&mut written).unwrap();
        assert_eq!(written, bytes, "{kind}");
        let path = saved(&format!("written-{}", kind.id()), &[]);
        ByteOptions::new().save(&filter, &path).unwrap();
        let loaded: DynFilter = ByteOptions::new().load(&path).unwrap();
        fs::remove_file(path).unwrap();
        let mut copy = DynFilter::read_from(bytes.as_slice()).unwrap().clone();
        assert_eq!((loaded.to_bytes(), copy.to_bytes()), (bytes.clone(), bytes), "{kind}");
        match copy.insert(&u64::MAX) {
            Ok(_) => {
                assert_ne!(copy.to_bytes(), filter.to_bytes(), "{kind}: a clone is another filter")
            }
            // Its capacity is exactly what it was built for.
            Err(error) => {
                let full = InsertError::Full { len: ITEMS, capacity: ITEMS };
                assert_eq!((kind, error), (Kind::QUOTIENT, full));
            }
        }
    }
}

/// Keys are removed if the kind supports it. Otherwise there is no answer, and nothing changes.
#[test]
fn keys_are_removed_where_the_kind_can() {
    let removes = [false, false, true, true, true, true, true];
    for (mut filter, can) in empty().into_iter().zip(removes) {
        assert!((0..ITEMS).all(|key| filter.insert(&key).is_ok()));
        let before = filter.to_bytes();
        let kind = filter.kind();
        for key in 0..ITEMS {
            assert_eq!(filter.remove(&key), can.then_some(true), "{kind}");
        }
        assert_eq!(filter.to_bytes() == before, !can, "{kind}");
        assert_eq!((0..ITEMS).any(|key| filter.contains(&key)), !can, "{kind}");
    }
}

/// One trait object inserts into all kinds. The error of a full filter states its numbers.
#[test]
fn filters_of_one_kind_and_shape_merge() {
    for mut filter in empty() {
        let (mut other, kind) = (filter.clone(), filter.kind());
        (0..100_u64).for_each(|key| _ = filter.insert(&key).unwrap());
        (50..150_u64).for_each(|key| _ = other.insert(&key).unwrap());
        assert_eq!(filter.merge(&other), Some(Ok(())), "{kind}");
        assert!((0..150_u64).all(|key| filter.contains(&key)), "{kind}");
        // An empty one is all that is left, and merges change nothing in it.
        assert!(filter.clear());
        assert!((0..150_u64).all(|key| !filter.contains(&key)), "{kind}");
        assert_eq!(filter.merge(&filter.clone()), Some(Ok(())));
        assert!((0..150_u64).all(|key| !filter.contains(&key)), "{kind}");
    }
}

#[test]
fn filters_that_differ_do_not_merge() {
    let all = empty();
    for (left, one) in all.iter().enumerate() {
        for (right, other) in all.iter().enumerate().filter(|&(right, _)| right != left) {
            let error = one.clone().merge(other).unwrap().unwrap_err().to_string();
            assert!(error.starts_with("the kind differs: "), "{left} {right}: {error}");
            let (_, names) = error.split_once(": ").unwrap();
            let (here, there) = names.split_once(" here, ").unwrap();
            assert_ne!(Some(here), there.strip_suffix(" in the other"), "two names");
        }
    }
    let mut bloom: DynFilter = BloomFilter::new(ITEMS, 0.01).unwrap().into();
    let larger = BloomFilter::new(2 * ITEMS, 0.01).unwrap().into();
    let error = bloom.merge(&larger).unwrap().unwrap_err();
    assert!(error.to_string().starts_with("the number of bits differs"), "{error}");
    let mut ribbon: DynFilter = RibbonFilter::new(0..ITEMS, 0.01).unwrap().into();
    assert_eq!(ribbon.merge(&ribbon.clone()), None);
    assert!(!ribbon.clear() && ribbon.contains(&1_u64));
}

#[test]
fn trait_objects_insert_across_kinds() {
    let mut objects: Vec<Box<dyn DynInsert>> = vec![
        Box::new(BloomFilter::new(ITEMS, 0.01).unwrap()),
        Box::new(CuckooFilter::new(ITEMS, 0.01).unwrap()),
        Box::new(HyperLogLog::new(12).unwrap()),
    ];
    objects.extend(empty().into_iter().map(|filter| Box::new(filter) as Box<dyn DynInsert>));
    for object in &mut objects {
        assert_eq!(object.insert_key("here"), Ok(true));
        assert_eq!(object.insert_key(&7u32), Ok(true));
    }
    let tiny = CuckooFilter::builder().buckets(1).fingerprint_bits(8).build().unwrap();
    let mut tiny = DynFilter::from(tiny);
    let errors: Vec<_> = (0..20u32).filter_map(|key| tiny.insert(&key).err()).collect();
    assert_eq!(errors[0], InsertError::Full { len: 4, capacity: 4 });
    let text = "no free slot for the key: 4 of 4 slots are used";
    assert_eq!((errors.len(), errors[0].to_string()), (16, text.to_owned()));
}

/// The filter inside is available in its own type only.
#[test]
fn the_own_type_is_got_at() {
    for filter in empty() {
        assert_eq!(filter.downcast_ref::<CuckooFilter>().is_some(), filter.kind() == Kind::CUCKOO);
        let (kind, bytes) = (filter.kind(), filter.to_bytes());
        match filter.downcast::<BlockedBloomFilter>() {
            Ok(blocked) => {
                assert_eq!((kind, blocked.to_bytes()), (Kind::BLOCKED_BLOOM, bytes));
            }
            Err(same) => assert_eq!((same.kind(), same.to_bytes()), (kind, bytes)),
        }
    }
}

/// A filter of another seed takes the place of the one inside with its hasher, so that no key is lost.
#[test]
fn another_filter_comes_with_its_hasher() {
    let dynamic = DynFilter::from(BloomFilter::new(ITEMS, 0.01).unwrap());
    let inside = dynamic.downcast::<BloomFilter>().unwrap();
    let mut other =
        BloomFilter::builder().seed(7).bits(inside.num_bits()).hashes(7).build().unwrap();
    other.insert("key");
    let dynamic = DynFilter::from(other);
    assert!(dynamic.contains("key") && dynamic.hasher().seed() == 7);
    assert!(DynFilter::from_bytes(&dynamic.to_bytes()).unwrap().contains("key"));
}

/// Views of bytes from different owners live in one collection without lifetimes, and are sent to another thread.
#[test]
fn views_own_bytes_of_any_source() {
    let mut views: Vec<DynFilterView<'static>> = Vec::new();
    for (_, bytes) in all() {
        views.push(DynFilterView::open(Arc::<[u8]>::from(bytes.as_slice())).unwrap());
        views.push(DynFilterView::open(bytes.clone().into_boxed_slice()).unwrap());
        views.push(DynFilterView::open(bytes).unwrap());
    }
    let answers = thread::spawn(move || views.iter().map(asked).collect::<Vec<_>>());
    let answers = answers.join().unwrap();
    for (three, (kind, bytes)) in answers.chunks(3).zip(all()) {
        let filter = DynFilter::from_bytes(&bytes).unwrap();
        assert!(three.iter().all(|answers| *answers == asked(&filter)), "{kind}");
    }
}

/// A filter that is built from all of its keys is read, copied and asked like the others, and takes no key.
#[test]
fn static_filters_take_no_key() {
    let own = RibbonFilter::new(0..ITEMS, 0.01).unwrap();
    let mut filter = DynFilter::from(own.clone());
    assert_eq!(filter.insert(&1u64), Err(InsertError::Static));
    assert_eq!(filter.insert(&1u64).unwrap_err().to_string(), STATIC);
    assert_eq!(filter.remove(&1u64), None);
    let bytes = filter.to_bytes();
    assert_eq!(bytes, own.to_bytes());
    let view = DynFilterView::open(bytes.as_slice()).unwrap();
    assert_eq!((view.kind(), view.verify()), (Kind::RIBBON, Ok(())));
    assert_eq!(asked(&view), asked(&filter));
    assert_eq!(asked(&DynFilter::from_bytes(&bytes).unwrap()), asked(&filter));
    assert_eq!(asked(&view.to_filter().unwrap()), asked(&filter));
    assert_eq!((filter.expected_items(), filter.approx_len()), (Some(ITEMS), view.approx_len()));
    assert_eq!(filter.approx_len().map(|items| items.value), Some(ITEMS as f64));
    assert!(filter.promised_rate().is_some_and(|rate| (0.009..=0.01).contains(&rate)));
    assert_eq!(filter.downcast_ref::<RibbonFilter>(), Some(&own));
}

const STATIC: &str = "the structure takes no more keys: it is built from all of them at once";

/// A filter of each kind that the registry can build has the stated size and design.
#[test]
fn candidates_are_built() {
    let mut kinds = Vec::new();
    for structure in registry::filters() {
        let Ok(candidate) = Candidate::new(structure, ITEMS, 0.01) else { continue };
        let Some(filter) = candidate.build(DefaultHashBuilder::with_seed(7)) else {
            let is_static = candidate.abilities().insert == Ability::No;
            assert!(structure.kind.is_none() || is_static, "{structure}");
            continue;
        };
        let filter = filter.unwrap();
        assert_eq!(Some(filter.kind()), structure.kind);
        assert_eq!(filter.size_in_bytes(), candidate.size_in_bytes(), "{structure}");
        assert_eq!((filter.expected_items(), filter.promised_rate()), (Some(ITEMS), Some(0.01)));
        assert_eq!(filter.hasher(), &DefaultHashBuilder::with_seed(7));
        kinds.push(filter.kind());
    }
    let sized = |kind: &&Kind| registry::of_kind(**kind).unwrap().abilities().is_some();
    assert!(all_kinds().iter().filter(sized).all(|kind| kinds.contains(kind)), "{kinds:?}");
}

/// A growing filter is one of two types, which its shape tells.
#[test]
fn growing_filters_are_opened_by_the_kind_of_their_layers() {
    let builder = ScalableBloomFilter::builder().expected_items(ITEMS / 10);
    let mut standard = builder.build().unwrap();
    let mut blocked = builder.build_blocked().unwrap();
    let empty = [DynFilter::from(standard.clone()), DynFilter::from(blocked.clone())];
    (0..ITEMS).for_each(|key| _ = standard.insert(&key));
    (0..ITEMS).for_each(|key| _ = blocked.insert(&key));
    let filled = [standard.to_bytes(), blocked.to_bytes()];
    for (mut filter, bytes) in empty.into_iter().zip(&filled) {
        assert_eq!(filter.kind(), Kind::SCALABLE_BLOOM);
        (0..ITEMS).for_each(|key| _ = filter.insert(&key).unwrap());
        assert_eq!((&filter.to_bytes(), filter.remove(&1)), (bytes, None));
        let read = DynFilter::from_bytes(bytes).unwrap();
        assert_eq!((read.expected_items(), read.promised_rate()), (Some(450), Some(0.01)));
        assert!(read.size_in_bytes() > 0 && read.false_positive_rate() < 0.01);
        let items = read.approx_len().unwrap();
        assert!((items.value - 300.0).abs() < 5.0 * items.standard_error + 10.0, "{items}");
        let view = DynFilterView::open(bytes).unwrap();
        assert_eq!((view.verify(), view.expected_items()), (Ok(()), Some(450)));
        assert!(view.health().is_some() && view.size_in_bytes() == read.size_in_bytes());
        assert_eq!([asked(&read), asked(&view)], [asked(&filter), asked(&filter)]);
        assert_eq!(view.to_filter().unwrap().to_bytes(), *bytes);
    }
    let [first, second] = filled.map(|bytes| DynFilter::from_bytes(&bytes).unwrap());
    assert!(first.downcast_ref::<ScalableBloomFilter>() == Some(&standard));
    assert!(second.downcast_ref::<ScalableBlockedBloomFilter>() == Some(&blocked));
    let layered = pds::LayeredBloomFilter::new(&[9, 9], 0.1).unwrap().to_bytes();
    let error = DynFilter::from_bytes(&layered).unwrap_err().to_string();
    let expected = format!("the kind at offset 10 is 32 (layered Bloom filter), expected {HELD}");
    assert_eq!(error, expected);
}
