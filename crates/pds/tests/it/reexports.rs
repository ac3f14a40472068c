//! Every name the facade offers, used once through the facade; and code that is generic over the traits.
#![cfg(all(feature = "std", feature = "bloom"))]

use core::convert::Infallible;
use core::hash::{BuildHasher, Hasher};
use pds_core::internal::Difference;
use pds_params::internal::ParamFault;
use std::collections::HashMap;

use pds::error::{AllocError, BuildError, Incompatible, ParamError};
use pds::hash::*;
use pds::traits::*;
use pds::*;

fn filter() -> BloomFilter {
    BloomFilter::new(1_000, 0.001).expect("sound parameters")
}

mod structures {
    use super::*;

    #[test]
    fn bloom_filter() {
        let mut filter = filter();
        assert!(filter.insert("here"), "the inherent `insert` goes before the trait's");
        assert!(filter.contains("here") && !filter.contains("there"));
    }

    #[test]
    fn atomic_bloom_filter() {
        let filter = AtomicBloomFilter::from(filter());
        assert!(filter.insert("here"));
        assert!(filter.contains("here") && !filter.contains("there"));
    }

    #[cfg(feature = "blocked")]
    #[test]
    fn blocked_bloom_filters() {
        let mut filter = BlockedBloomFilter::new(1_000, 0.001).expect("sound parameters");
        assert!(filter.insert("here"));
        assert!(filter.contains("here") && !filter.contains("there"));
        let shared = AtomicBlockedBloomFilter::from(filter);
        assert!(shared.insert("there") && shared.contains("here"));
        assert_eq!(pds::blocked::Preference::default(), pds::params::Preference::Fastest);
    }

    #[cfg(feature = "blocked")]
    #[test]
    fn split_block_bloom_filter() {
        let mut filter = SplitBlockBloomFilter::new(1_000, 0.001).expect("sound parameters");
        assert!(filter.insert_hash(7) && filter.contains_hash(7) && !filter.contains_hash(1 << 40));
    }

    #[cfg(feature = "formats")]
    #[test]
    fn formats() {
        let mut column =
            pds::formats::parquet::ParquetBloomFilter::new(1_000, 0.001).expect("sound");
        assert!(column.insert(&7i64) && column.contains(&7i64) && !column.contains(&8i64));
        assert_eq!(pds::formats::redis::RedisHyperLogLog::new().count(), 0);
    }

    #[cfg(feature = "cuckoo")]
    #[test]
    fn cuckoo_filter() {
        let mut filter = CuckooFilter::new(1_000, 0.001).expect("sound parameters");
        assert_eq!(filter.insert("here"), Ok(()));
        assert!(Remove::remove(&mut filter, "here") && !filter.contains("here"));
        let bytes = filter.to_bytes();
        assert!(pds::cuckoo::CuckooFilterView::open(&bytes).is_ok_and(|view| view.is_empty()));
    }

    #[cfg(feature = "quotient")]
    #[test]
    fn quotient_filter() {
        let mut filter = QuotientFilter::new(1_000, 0.001).expect("sound parameters");
        assert_eq!(filter.insert("here"), Ok(()));
        assert!(Remove::remove(&mut filter, "here") && !filter.contains("here"));
        let bytes = filter.to_bytes();
        assert!(pds::quotient::QuotientFilterView::open(&bytes).is_ok_and(|view| view.is_empty()));
        let mut counts = CountingQuotientFilter::new(1_000, 0.001).expect("sound parameters");
        assert_eq!(counts.insert_many("here", 5), Ok(()));
        assert_eq!(Frequency::estimate(&counts, "here"), 5);
        let mut map = QuotientMap::new(1_000, 0.001, 8).expect("sound parameters");
        assert!(map.insert("here", 5).is_ok() && map.get("here") == Some(5));
        let shared: ShardedQuotientFilter =
            QuotientFilter::builder().expected_items(1_000).build_sharded(4).expect("sound");
        assert!(shared.insert("here").is_ok() && shared.contains("here"));
    }

    #[cfg(feature = "minhash")]
    #[test]
    fn min_hash() {
        let mut sketch = pds::MinHash::new(16).expect("sound parameters");
        assert!(sketch.insert("here"));
        assert_eq!(pds::traits::Similarity::jaccard(&sketch, &sketch), Ok(1.0));
        let mut index = pds::LshIndex::new(16, 0.5, 0.9).expect("sound parameters");
        assert_eq!(index.insert(7, &sketch), Ok(true));
        let bytes = index.to_bytes();
        let view = pds::minhash::LshIndexView::open(&bytes).expect("fresh");
        assert_eq!(view.query(&sketch), Ok(vec![7]));
    }

    #[cfg(feature = "theta")]
    #[test]
    fn theta_sketch() {
        use pds::theta::ThetaSet;
        let mut sketch = pds::ThetaSketch::new(16).expect("sound parameters");
        assert!(sketch.insert("here"));
        assert_eq!(pds::traits::Similarity::jaccard(&sketch, &sketch), Ok(1.0));
        let bytes = sketch.to_compact().to_bytes();
        let view = pds::theta::ThetaSketchView::open(&bytes).expect("fresh");
        assert_eq!(view.estimate(), 1.0);
    }

    #[cfg(feature = "scalable")]
    #[test]
    fn growing_and_layered_filters() {
        let mut filter = ScalableBloomFilter::new(1, 0.001).expect("sound parameters");
        assert_eq!(filter.insert_batch(&["here", "there", "everywhere"]), Ok(3));
        let bytes = filter.to_bytes();
        let view = pds::scalable::ScalableBloomFilterView::open(&bytes).expect("fresh");
        assert!(Membership::contains(&view, "here") && view.num_layers() == 2);
        let mut counts = LayeredBloomFilter::new(&[9, 9], 0.001).expect("sound parameters");
        assert_eq!((counts.insert("here"), counts.insert("here")), (1, 2));
        assert_eq!(Frequency::estimate(&counts, "here"), 2);
    }

    #[cfg(feature = "counting")]
    #[test]
    fn counting_filters() {
        let mut filter = CountingBloomFilter::new(1_000, 0.001).expect("sound parameters");
        assert!(filter.insert("here") && filter.remove("here") && !filter.contains("here"));
        let bytes = filter.to_bytes();
        let view: pds::counting::CountingBloomFilterView<_> =
            pds::counting::CountingBloomFilterView::open(&bytes).expect("fresh");
        assert!(!Membership::contains(&view, "here"));
        let mut lines = BlockedCountingBloomFilter::new(1_000, 0.001).expect("sound parameters");
        assert!(lines.insert("here"));
        assert_eq!(Frequency::estimate(&lines, "here"), 1);
        let bytes = lines.to_bytes();
        let view = pds::counting::BlockedCountingBloomFilterView::open(&bytes).expect("fresh");
        assert_eq!(Frequency::estimate(&view, "here"), 1);
    }

    #[cfg(feature = "cms")]
    #[test]
    fn frequencies() {
        let mut sketch = CountMinSketch::new(0.01, 0.01).expect("sound parameters");
        assert_eq!(sketch.insert("here"), 1);
        assert_eq!(Frequency::estimate(&sketch, "here"), 1);
        let shared = AtomicCountMinSketch::try_from(sketch).expect("plain update");
        assert_eq!(shared.insert("here"), 2);
        let mut signed = CountSketch::new(0.1, 0.1).expect("sound parameters");
        assert!(signed.insert("here") == 1 && signed.remove("here") == 0);
        assert_eq!(pds::cms::Count::default(), 0);
        assert!(pds::params::CountMinParams::new(0.1, 0.1).is_ok());
    }

    #[cfg(feature = "heavy-hitters")]
    #[test]
    fn frequent_keys() {
        let mut heavy = HeavyHitters::<String>::new(0.1).expect("sound parameters");
        let mut sketched =
            SketchedHeavyHitters::<String>::new(0.1, 0.01, 0.01).expect("sound parameters");
        let mut top = TopK::<String>::new(1).expect("sound parameters");
        assert_eq!(heavy.insert("here"), 1);
        assert!(sketched.insert("here") == 1 && top.insert("here") == 1);
    }

    #[test]
    fn filters_of_any_kind() {
        let mut filter = filter();
        filter.insert("here");
        let bytes = filter.to_bytes();
        let owned = pds::DynFilter::from_bytes(&bytes).expect("fresh");
        let view = pds::DynFilterView::open(&bytes).expect("fresh");
        assert!(owned.contains("here") && !owned.contains("there"));
        assert!(view.contains("here") && !view.contains("there"));
        assert_eq!((owned.kind(), view.kind()), (pds::bytes::Kind::BLOOM, pds::bytes::Kind::BLOOM));
    }

    #[test]
    fn module_bloom() {
        let mut bits = pds::bloom::BitArray::zeroed(100).expect("memory for 100 bits");
        let position = pds::bloom::DoubleHash::new(7).next_position(bits.num_bits());
        assert!(bits.set(position) && !bits.set(position));
        assert_eq!(bits.count_ones(), 1);
    }
}

mod shared_modules {
    use super::*;

    #[test]
    fn params() {
        let params = pds::params::BloomParams::new(1_000_000, 0.01).expect("sound parameters");
        assert_eq!(params.num_bits(), 9_592_957, "the least size that keeps the promise");
    }

    #[test]
    fn hash() {
        assert_eq!(pds::hash::finalize(0), 0xb70f_b2cc_55af_013f);
        assert_eq!(DefaultHashBuilder::default().hash_one(Raw(b"abc")), 0x78af_5f94_892f_3950);
        let [one, other] = [1, 2].map(|byte| SipHashBuilder::from_key([byte; 16]).hash_one("abc"));
        assert_ne!(one, other);
    }

    #[test]
    fn portable_hasher() {
        fn comes_back<H: PortableHasher>(hasher: &H) -> bool {
            H::from_seed(hasher.to_seed())
                .is_some_and(|back| back.hash_bytes(b"abc") == hasher.hash_bytes(b"abc"))
        }
        assert!(comes_back(&DefaultHashBuilder::with_seed(3)));
        assert!(comes_back(&SipHashBuilder::from_key([3; 16])));
    }

    #[test]
    fn errors() {
        let error = BloomFilter::new(1, 2.0).expect_err("2 is no rate");
        assert!(matches!(
            error,
            BuildError::Param(ParamError(ParamFault::NotAProbability { value: 2.0, .. }))
        ));
        let refused: BuildError = pds::error::AllocError { bytes: 8 }.into();
        assert_eq!(refused, BuildError::Alloc(pds::error::AllocError { bytes: 8 }));
    }

    #[test]
    fn estimate() {
        let mut filter = filter();
        filter.extend(0..100u64);
        let Estimate { value, standard_error } = filter.approx_len();
        assert!((value - 100.0).abs() < 6.0 * standard_error, "{value} ± {standard_error}");
    }
}

/// Code that knows no structure, as users of the traits write it.
mod generic {
    use super::*;

    fn fill<F: Membership + Insert<Error = Infallible>>(structure: &mut F, keys: &[u64]) -> usize {
        keys.iter().filter(|key| structure.insert(key).is_ok_and(|new| new)).count()
    }

    fn union<F: Merge + Clone>(one: &F, other: &F) -> Result<F, F::Error> {
        let mut both = one.clone();
        both.merge(other)?;
        Ok(both)
    }

    #[test]
    fn insert_and_contains_by_trait() {
        let mut filter = filter();
        assert_eq!(fill(&mut filter, &[1, 2, 3, 2]), 3);
        assert!(pds::traits::Membership::contains(&filter, &3u64));
        assert!(!pds::traits::Membership::contains(&filter, &4u64));
    }

    #[test]
    fn merge_by_trait() {
        let [mut one, mut other] = [filter(), filter()];
        fill(&mut one, &[1, 2]);
        fill(&mut other, &[2, 3]);
        let both = union(&one, &other).expect("the same shape and hasher");
        assert!([1u64, 2, 3].iter().all(|key| both.contains(key)) && !both.contains(&4u64));
        let seeded =
            BloomFilter::builder().expected_items(1_000).false_positive_rate(0.001).seed(1).build();
        let error = union(&one, &seeded.expect("sound parameters")).expect_err("another seed");
        assert!(matches!(error, Incompatible(Difference::Hasher { .. })));
    }

    #[test]
    fn structures_of_several_types_behind_one_pointer() {
        let mut plain = filter();
        plain.insert("here");
        let shared = AtomicBloomFilter::from(plain.clone());
        let hash = plain.hash_key("here");
        let all: [Box<dyn Membership>; 2] = [Box::new(plain), Box::new(shared)];
        for one in all {
            let mut answers = [false; 2];
            one.contains_hash_batch(&[hash, !hash], &mut answers);
            assert_eq!(answers, [true, false]);
            assert!(one.contains_hash(hash));
        }
    }
}

mod typed {
    use super::*;

    const FULL: AllocError = AllocError { bytes: 16 };

    /// Counts hashes exactly, up to a number of distinct ones: a structure that can be full and can forget.
    #[derive(Clone, Debug, Default, PartialEq)]
    struct Exact {
        counts: HashMap<u64, u64>,
        room: usize,
    }

    impl KeyHasher for Exact {
        fn hash_key_dyn(&self, feed: &mut dyn FnMut(&mut dyn Hasher)) -> u64 {
            DefaultHashBuilder::default().hash_key_dyn(feed)
        }
    }

    impl Membership for Exact {
        fn contains_hash(&self, hash: u64) -> bool {
            self.counts.contains_key(&hash)
        }
    }

    impl Insert for Exact {
        type Error = AllocError;

        fn insert_hash(&mut self, hash: u64) -> Result<bool, Self::Error> {
            if !self.contains_hash(hash) && self.counts.len() == self.room {
                return Err(FULL);
            }
            let count = self.counts.entry(hash).or_default();
            *count += 1;
            Ok(*count == 1)
        }
    }

    impl Remove for Exact {
        fn remove_hash(&mut self, hash: u64) -> bool {
            self.counts.remove(&hash).is_some()
        }
    }

    impl Frequency for Exact {
        fn estimate_hash(&self, hash: u64) -> u64 {
            self.counts.get(&hash).copied().unwrap_or_default()
        }
    }

    impl Cardinality for Exact {
        fn estimate(&self) -> f64 {
            self.counts.len() as f64
        }
    }

    #[test]
    fn answers_are_those_of_the_structure() {
        let mut plain = filter();
        let mut typed = Typed::<_, str>::new(plain.clone());
        let keys = ["a", "b", "a"].map(String::from);
        for key in &keys {
            assert_eq!(typed.insert(key), plain.insert(key.as_str()));
        }
        assert!(typed.contains("b") && !typed.contains("c"));
        assert_eq!(*typed.get_ref(), plain);
        assert_eq!(typed.into_inner(), plain);
    }

    #[test]
    fn a_literal_takes_the_pinned_type() {
        let mut typed = Typed::<_, u64>::new(filter());
        typed.insert(&1);
        assert!(typed.contains(&1) && typed.get_ref().contains(&1u64));
        assert!(!typed.get_ref().contains(&1u32) && !typed.get_ref().contains(&1i32));
    }

    #[test]
    fn a_full_structure_says_so() {
        let mut typed = Typed::<_, char>::new(Exact { room: 1, ..Exact::default() });
        assert_eq!(typed.try_insert(&'a'), Ok(true));
        assert_eq!(typed.try_insert(&'b'), Err(FULL));
        assert_eq!(typed.try_insert(&'a'), Ok(false));
        assert_eq!((typed.estimate(&'a'), typed.estimate(&'b')), (2, 0));
        assert!(typed.remove(&'a') && !typed.remove(&'a') && !typed.contains(&'a'));
    }

    #[test]
    fn what_takes_no_key_is_asked_of_the_structure() {
        let mut typed = Typed::<_, char>::new(Exact { room: 9, ..Exact::default() });
        assert_eq!(typed.try_insert(&'a').and(typed.try_insert(&'b')), Ok(true));
        assert_eq!(Cardinality::estimate(typed.get_ref()), 2.0);
    }

    #[test]
    fn extend_and_merge() {
        let [mut one, mut other] = [filter(), filter()].map(Typed::<_, u64>::new);
        one.extend([1, 2]);
        other.extend(&[2, 3]);
        one.merge(&other).expect("the same shape and hasher");
        assert!([1, 2, 3].iter().all(|key| one.contains(key)) && !one.contains(&4));
        assert_ne!(one, other);
        assert_eq!(one, one.clone());
    }

    #[test]
    fn whatever_borrows_as_the_key_extends() {
        let mut typed = Typed::<_, str>::new(filter());
        typed.extend(["a", "b"]);
        typed.extend(vec![String::from("c")]);
        assert!(["a", "b", "c"].iter().all(|key| typed.contains(key)));
        assert!(!typed.contains("e"));
    }

    #[test]
    fn a_batch_is_one_by_one() {
        let mut typed = Typed::<_, u64>::new(filter());
        typed.extend(0..100);
        let keys: Vec<u64> = (50..200).collect();
        let mut answers = vec![false; keys.len()];
        typed.contains_batch(&keys, &mut answers);
        assert!(keys.iter().zip(&answers).all(|(key, &yes)| yes == typed.contains(key)));
        assert!(answers[..50].iter().all(|&yes| yes) && !answers.iter().all(|&yes| yes));
    }

    #[test]
    fn threads_share_one_key_type() {
        let typed = Typed::<_, u64>::new(pds::bloom::AtomicBloomFilter::from(filter()));
        std::thread::scope(|scope| {
            for thread in 0..2 {
                let typed = &typed;
                scope.spawn(move || {
                    assert!((0..50).all(|i| typed.insert_shared(&(thread * 50 + i))));
                });
            }
        });
        assert!((0..100).all(|key| typed.contains(&key)) && !typed.insert_shared(&7));
    }

    #[cfg(all(feature = "serde", feature = "hll"))]
    #[test]
    fn serde_is_that_of_the_structure() {
        let mut typed = Typed::<_, u64>::new(filter());
        typed.insert(&1);
        let text = serde_json::to_string(&typed).expect("text holds bytes");
        assert_eq!(text, serde_json::to_string(typed.get_ref()).expect("text holds bytes"));
        assert_eq!(
            serde_json::from_str::<Typed<BloomFilter, u64>>(&text).expect("just written"),
            typed
        );
    }

    #[test]
    fn costs_no_byte_and_no_thread() {
        fn shared<T: Send + Sync>(_: &T) {}
        // A raw pointer may not cross threads; a structure that is only lent such keys may.
        let typed = Typed::<_, *const u8>::new(filter());
        shared(&typed);
        assert_eq!(size_of_val(&typed), size_of::<BloomFilter>());
    }

    #[test]
    fn debug_names_the_key_type() {
        let text = format!("{:?}", Typed::<_, u64>::new(Exact::default()));
        assert_eq!(text, "Typed<u64>(Exact { counts: {}, room: 0 })");
    }
}

/// A structure through serde and back, by the facade's own feature.
#[cfg(all(feature = "serde", feature = "hll"))]
#[test]
fn serde() {
    let mut filter = filter();
    filter.insert("here");
    let text = serde_json::to_string(&filter).expect("text holds bytes");
    assert_eq!(serde_json::from_str::<BloomFilter>(&text).expect("text just written"), filter);
    let mut sketch = HyperLogLog::new(8).expect("a precision in range");
    sketch.insert("here");
    let text = serde_json::to_string(&sketch).expect("text holds bytes");
    assert_eq!(serde_json::from_str::<HyperLogLog>(&text).expect("text just written"), sketch);
}
