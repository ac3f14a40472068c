//! Behaviour that programs rely on.

use alloc::sync::Arc;

use minhash::hash::{KeyHasher, Mixed, SipHashBuilder};
use minhash::storage::WordSource;
use minhash::{
    LshIndex, LshIndexView, MinHash, MinHashParams, MinHashView, Signature, SignatureView,
};
use pds_core::traits::{DynInsert, Similarity};

#[test]
fn sketches_and_views_cross_threads() {
    fn crosses<T: Send + Sync + Clone>() {}
    crosses::<MinHash>();
    crosses::<Signature<SipHashBuilder>>();
    crosses::<LshIndex>();
    crosses::<MinHashView<Arc<[u8]>>>();
    crosses::<SignatureView<Arc<[u8]>>>();
    crosses::<LshIndexView<Arc<[u8]>>>();
}

/// Knows neither hasher nor storage.
fn similarity<S: KeyHasher, W: WordSource>(left: &MinHash<S, W>, right: &MinHash<S, W>) -> f64 {
    left.jaccard(right).unwrap().value
}

/// Knows that two things can be compared.
fn most_similar<T: Similarity>(one: &T, others: &[T]) -> Option<usize> {
    let similar = |i: &usize| one.jaccard(&others[*i]).unwrap_or(0.0);
    (0..others.len()).max_by(|i, j| similar(i).total_cmp(&similar(j)))
}

#[test]
fn one_function_serves_all_storages_and_types() {
    let mut sketches = [0_u32, 50, 10].map(|start| {
        let mut sketch = MinHash::new(128).unwrap();
        sketch.extend(start..start + 100);
        sketch
    });
    assert!(similarity(&sketches[0], &sketches[1]) < similarity(&sketches[0], &sketches[2]));
    let views = sketches.each_ref().map(|sketch| MinHashView::open(sketch.to_bytes()).unwrap());
    assert_eq!(similarity(&views[0], &views[1]), similarity(&sketches[0], &sketches[1]));
    assert_eq!(views[0].jaccard(&sketches[1]), sketches[0].jaccard(&sketches[1]), "mixed");
    assert_eq!(most_similar(&views[0], &views[1..]), Some(1));
    assert_eq!(most_similar(&sketches[0], &sketches[1..]), Some(1));
    let signatures = sketches.each_ref().map(|sketch| sketch.signature(4).unwrap());
    assert_eq!(most_similar(&signatures[0], &signatures[1..]), Some(1));
    let view = SignatureView::open(signatures[0].to_bytes()).unwrap();
    assert_eq!(view.jaccard(&signatures[1]), signatures[0].jaccard(&signatures[1]));
    assert_eq!(views[0].signature(4).unwrap(), signatures[0]);

    let mut index = LshIndex::new(128, 0.5, 0.9).unwrap();
    assert_eq!(index.insert(1, &views[0]), Ok(true));
    assert_eq!(index.contains(1, &sketches[0]), Ok(true));
    sketches[0].clear();
    let inserter: &mut dyn DynInsert = &mut sketches[0];
    assert_eq!([inserter.insert_key("key"), inserter.insert_key("key")], [Ok(true), Ok(false)]);
}

#[test]
fn any_hasher_serves() {
    let hasher = Mixed(std::hash::RandomState::new());
    let params = MinHashParams::new(64).unwrap();
    let of = |keys: core::ops::Range<u32>| {
        let mut sketch = MinHash::from_params(params, hasher.clone()).unwrap();
        sketch.extend(keys);
        sketch
    };
    let (left, right) = (of(0..100), of(0..100));
    assert!(left == right && left.jaccard(&right).unwrap().value == 1.0);
    let mut index =
        LshIndex::builder().num_values(64).threshold(0.5).hasher(hasher).build().unwrap();
    index.insert(1, &left).unwrap();
    assert_eq!(index.query(&right), Ok(vec![1]));
}

#[test]
fn getters_and_debug() {
    let sketch = MinHash::builder().num_values(32).build().unwrap();
    assert_eq!((sketch.num_values(), sketch.size_in_bytes()), (32, 256));
    assert_eq!(format!("{sketch:?}"), "MinHash { num_values: 32, is_empty: true, .. }");
    let view = MinHashView::open(sketch.to_bytes()).unwrap();
    assert!(format!("{view:?}").starts_with("MinHashView {"));
    let signature = sketch.signature(2).unwrap();
    assert_eq!((signature.num_values(), signature.bits(), signature.size_in_bytes()), (32, 2, 8));
    assert_eq!(
        format!("{signature:?}"),
        "Signature { num_values: 32, bits: 2, is_empty: true, .. }"
    );
    let index = LshIndex::builder().num_values(32).bands(3).rows(5).build().unwrap();
    let text = "LshIndex { num_values: 32, bands: 3, rows: 5, documents: 0, .. }";
    assert_eq!(format!("{index:?}"), text);
    assert_eq!(MinHash::builder().build().unwrap().num_values(), 128);
}
