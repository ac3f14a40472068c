//! The bodies of the fuzz targets and of the ordinary tests, each for a string of bytes.
use fuse::{
    ExactFilter, ExactFilterView, FuseFilter, FuseFilterView, RetrievalMap, RetrievalMapView,
    RibbonFilter, RibbonFilterView, UpdatableMap, UpdatableMapView,
};
use pds_testkit::mutate::{Choices, mutate as change};
use pds_testkit::portable::{self, HASHES};
use pds_testkit::view_agrees;

/// Asks a filter everything that it answers, in whatever form it is.
macro_rules! ask {
    ($filter:expr) => {{
        let filter = $filter;
        assert!((0.0..=1.0).contains(&filter.false_positive_rate()));
        assert!((0.0..=1.0).contains(&filter.promised_rate()));
        (portable::answers(filter), filter.len(), filter.num_exact(), filter.size_in_bytes())
    }};
}

/// Asks a map everything that it answers, in whatever form it is.
macro_rules! ask_map {
    ($map:expr) => {{
        let map = $map;
        let mut answers = [None; 5];
        map.get_hash_batch(&HASHES, &mut answers);
        assert_eq!(HASHES.map(|hash| map.get_hash(hash)), answers);
        (answers, map.len(), map.value_bits(), map.check_bits(), map.num_exact())
    }};
}

/// Asks an updatable map everything that it answers, in whatever form it is.
macro_rules! ask_updatable {
    ($map:expr) => {{
        let map = $map;
        let answers = HASHES.map(|hash| map.get_hash(hash));
        (answers, map.len(), map.value_bits(), map.check_bits(), map.num_exact())
    }};
}

/// Asks an exact filter everything that it answers, in whatever form it is.
macro_rules! ask_exact {
    ($filter:expr) => {{
        let filter = $filter;
        (portable::answers(filter), filter.len(), filter.columns(), filter.num_passed())
    }};
}

/// Decodes bytes. What is accepted answers every question and is written back as it was.
pub(crate) fn decode(bytes: &[u8]) {
    if let Some(filter) = portable::decode::<RibbonFilter>(bytes) {
        let _ = ask!(&filter);
        assert!(filter.try_clone().unwrap() == filter);
        let shrunk = filter.shrink_to_rate(0.6);
        assert!(shrunk.map_or(true, |shrunk| shrunk.size_in_bytes() <= filter.size_in_bytes()));
    }
    if let Some(filter) = portable::decode::<FuseFilter>(bytes) {
        let _ = ask!(&filter);
        assert!(filter.try_clone().unwrap() == filter);
    }
    if let Some(mut map) = portable::decode::<UpdatableMap>(bytes) {
        let _ = ask_updatable!(&map);
        assert!(map.try_clone().unwrap() == map);
        for hash in HASHES {
            let is_set = map.set_hash(hash, 1).unwrap();
            assert_eq!(map.get_hash(hash), is_set.then_some(1));
        }
    }
    if let Some(map) = portable::decode::<RetrievalMap>(bytes) {
        let _ = ask_map!(&map);
        assert!(map.try_clone().unwrap() == map);
    }
    if let Some(filter) = portable::decode::<ExactFilter>(bytes) {
        let _ = ask_exact!(&filter);
        assert!(filter.try_clone().unwrap() == filter);
    }
}

/// Opens bytes without a copy. The view answers whatever its payload is, and verifies what can be decoded.
pub(crate) fn view(bytes: &[u8]) {
    view_agrees!(RibbonFilterView<&[u8]>, RibbonFilter, bytes, ask);
    let read = RetrievalMap::from_bytes(bytes);
    match RetrievalMapView::open(bytes) {
        Ok(view) => {
            let answers = ask_map!(&view);
            portable::assert_alike(&view.to_map(), &read);
            assert_eq!(view.verify().is_ok(), read.is_ok());
            assert!(read.is_err() || ask_map!(read.as_ref().unwrap()) == answers);
        }
        refused => portable::assert_alike(&refused, &read),
    }
    let read = UpdatableMap::from_bytes(bytes);
    match UpdatableMapView::open(bytes) {
        Ok(view) => {
            let answers = ask_updatable!(&view);
            portable::assert_alike(&view.to_map(), &read);
            assert_eq!(view.verify().is_ok(), read.is_ok());
            assert!(read.is_err() || ask_updatable!(read.as_ref().unwrap()) == answers);
        }
        refused => portable::assert_alike(&refused, &read),
    }
    view_agrees!(FuseFilterView<&[u8]>, FuseFilter, bytes, ask);
    view_agrees!(ExactFilterView<&[u8]>, ExactFilter, bytes, ask_exact);
}

/// Changes the bytes of a filter, with checksums that fit again, and reads them in every way.
pub(crate) fn mutate(input: &[u8]) {
    let mut choices = Choices::new(input);
    let mut bytes = match choices.below(5) {
        0 => built(&mut choices).to_bytes(),
        1 => built_map(&mut choices).to_bytes(),
        2 => built_fuse(&mut choices).to_bytes(),
        3 => built_updatable(&mut choices).to_bytes(),
        _ => built_exact(&mut choices).to_bytes(),
    };
    change(&mut bytes, &mut choices);
    decode(&bytes);
    view(&bytes);
}

/// Builds, sends and shrinks; a key is always contained.
pub(crate) fn ops(input: &[u8]) {
    let mut choices = Choices::new(input);
    let mut filter = built(&mut choices);
    let keys = filter.len();
    while !choices.is_empty() {
        match choices.below(2) {
            0 => filter = portable::sent(&filter, &mut choices),
            _ => {
                let rate = (1.0 + f64::from(choices.byte())) / 257.0;
                let allowed = rate >= filter.promised_rate();
                match filter.shrink_to_rate(rate) {
                    Ok(shrunk) => {
                        assert!(shrunk.promised_rate() <= rate);
                        filter = shrunk;
                    }
                    Err(_) => assert!(!allowed),
                }
            }
        }
        assert!((0..keys).all(|key| filter.contains(&key)), "a key was lost");
    }
}

/// Builds a filter of the numbers below one that is chosen.
fn built(choices: &mut Choices<'_>) -> RibbonFilter {
    let keys = match choices.below(8) {
        0 => 2_049 + 7 * choices.below(100),
        _ => choices.below(200),
    };
    // Eight columns have a path of their own if there are several layers.
    let steps = match choices.below(4) {
        0 => 2_048,
        _ => 1 + u32::from(choices.byte()) * 17,
    };
    let builder = RibbonFilter::builder().seed(choices.byte().into());
    builder.columns(f64::from(steps) / 256.0).build(0..keys as u64).unwrap()
}

/// Builds a map of the numbers below one that is chosen.
fn built_map(choices: &mut Choices<'_>) -> RetrievalMap {
    let keys = match choices.below(8) {
        0 => 2_049 + 7 * choices.below(100),
        _ => choices.below(200),
    };
    let builder = RetrievalMap::builder().value_bits(1 + u32::from(choices.byte() % 40));
    let builder = builder.check_bits(u32::from(choices.byte() % 25));
    builder.build((0..keys as u64).map(|key| (key, key & 1))).unwrap()
}

/// Builds an exact filter of the numbers below one that is chosen.
fn built_exact(choices: &mut Choices<'_>) -> ExactFilter {
    let include = choices.below(20) as u64 * choices.below(150) as u64;
    let exclude = choices.below(200) as u64 * choices.below(20) as u64;
    ExactFilter::new(0..include, include..include + exclude).unwrap()
}

/// Builds a fuse filter of the numbers below one that is chosen, some with an exact list.
fn built_fuse(choices: &mut Choices<'_>) -> FuseFilter {
    let keys = choices.below(300) as u64;
    let builder = FuseFilter::builder().fingerprint_bits(1 + u32::from(choices.byte() % 32));
    builder
        .limits(u32::from(choices.byte() % 2), 1 + choices.below(2) as u64)
        .build(0..keys)
        .unwrap()
}

/// Builds an updatable map of the numbers below one that is chosen, some with an exact list.
fn built_updatable(choices: &mut Choices<'_>) -> UpdatableMap {
    let keys = choices.below(300) as u64;
    let builder = UpdatableMap::builder().value_bits(1 + u32::from(choices.byte() % 40));
    let builder = builder.check_bits(u32::from(choices.byte() % 33));
    let builder = builder.limits(u32::from(choices.byte() % 2), 1 + choices.below(2) as u64);
    builder.build((0..keys).map(|key| (key, key & 1))).unwrap()
}
