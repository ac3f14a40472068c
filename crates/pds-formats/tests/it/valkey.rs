//! Values of valkey-bloom, written by the crates that the module itself is made of.

use bloomfilter::Bloom;
use pds_formats::error::{DecodeErrorKind, InsertError};
use pds_formats::redis::ValkeyBloomFilter;
use serde::Serialize;

use crate::table::Format;

pub(crate) const FORMAT: Format = Format {
    name: "valkey-bloom filter",
    type_name: "redis::ValkeyBloomFilter",
    can: [true, false, true],
    exact: "all",
    tested_against: "the module's own crates: bloomfilter 3.0, bincode 1.3",
    vectors: || [0, 1, 60, 500].map(|items| Module::filled(items).value()).to_vec(),
};

const SEED: [u8; 32] = *b"a seed of thirty-two bytes, 0-31";
const RATE: f64 = 0.01;
const CAPACITY: usize = 40;

/// The fields that the module serialises, in its order.
#[derive(Serialize)]
struct Module {
    expansion: u32,
    rate: f64,
    tightening: f64,
    is_seed_random: bool,
    layers: Vec<Layer>,
}

#[derive(Serialize)]
struct Layer {
    #[serde(serialize_with = "bloomfilter::serialize")]
    bloom: Bloom<[u8]>,
    items: i64,
    capacity: i64,
}

impl Layer {
    fn new(capacity: usize, rate: f64) -> Self {
        let bloom = Bloom::new_for_fp_rate_with_seed(capacity, rate, &SEED).unwrap();
        Self { bloom, items: 0, capacity: capacity.try_into().unwrap() }
    }
}

impl Module {
    /// A filter that doubles its layers.
    fn filled(items: u32) -> Self {
        let layers = vec![Layer::new(CAPACITY, RATE)];
        let mut module =
            Self { expansion: 2, rate: RATE, tightening: 0.5, is_seed_random: false, layers };
        (0..items).for_each(|i| module.add(&item(i)));
        module
    }

    fn add(&mut self, item: &[u8]) {
        if self.layers.iter().any(|layer| layer.bloom.check(item)) {
            return;
        }
        let last = self.layers.last().unwrap();
        if last.items == last.capacity {
            let rate = self.rate * self.tightening.powi(self.layers.len().try_into().unwrap());
            let capacity = usize::try_from(last.capacity).unwrap() * 2;
            self.layers.push(Layer::new(capacity, rate));
        }
        let last = self.layers.last_mut().unwrap();
        last.bloom.set(item);
        last.items += 1;
    }

    fn value(&self) -> Vec<u8> {
        [vec![1], bincode1::serialize(self).unwrap()].concat()
    }
}

fn item(i: u32) -> Vec<u8> {
    format!("item:{i}").into_bytes()
}

#[test]
fn values_are_those_of_the_module() {
    for items in [0, 1, 39, 40, 41, 120, 121, 500] {
        let module = Module::filled(items);
        let mut built = ValkeyBloomFilter::reserve(RATE, CAPACITY as u64, Some(2), SEED).unwrap();
        (0..items).for_each(|i| assert!(built.insert(&item(i)).is_ok()));
        assert!(built.to_bytes() == module.value(), "{items}");
        assert_eq!(built.num_layers(), module.layers.len());
        let read = ValkeyBloomFilter::from_bytes(&module.value()).unwrap();
        assert!(read == built && read.len() <= u64::from(items));
        for i in 0..2_000 {
            let theirs = module.layers.iter().any(|layer| layer.bloom.check(&item(i)));
            assert_eq!(read.contains(&item(i)), theirs, "{items}, {i}");
        }
        assert!(read.false_positive_rate() < 2.5 * RATE, "{}", read.false_positive_rate());
    }
}

#[test]
fn sizes_are_those_of_the_module() {
    for capacity in [1, 2, 3, 10, 99, 1_000, 54_321] {
        for rate in [0.9, 0.5, 0.1, 0.03, 0.01, 0.001, 1e-6, 1e-12] {
            let theirs = Bloom::<[u8]>::new_for_fp_rate_with_seed(capacity, rate, &SEED).unwrap();
            let ours = ValkeyBloomFilter::reserve(rate, capacity as u64, None, SEED).unwrap();
            // The bits follow version, expansion, two rates, a flag, two lengths and a version.
            let bytes = ours.to_bytes();
            let end = bytes.len() - 16;
            assert!(bytes[38..end] == *theirs.as_slice(), "{capacity} at {rate}");
        }
    }
}

#[test]
fn a_filter_that_does_not_grow_is_full() {
    let mut filter = ValkeyBloomFilter::reserve(1e-9, 3, None, SEED).unwrap();
    (0..3).for_each(|i| assert_eq!(filter.insert(&item(i)), Ok(true)));
    assert_eq!(filter.insert(&item(0)), Ok(false));
    assert_eq!(filter.insert(&item(3)), Err(InsertError::Full { len: 3, capacity: 3 }));
    for (rate, capacity, expansion) in
        [(0.0, 1, None), (1.0, 1, None), (0.1, 0, None), (0.1, 1, Some(0)), (0.1, u64::MAX, None)]
    {
        assert!(ValkeyBloomFilter::reserve(rate, capacity, expansion, SEED).is_err());
    }
}

/// With equal keys, both hashes of an item are equal, and the rate is several times as high.
#[test]
fn equal_halves_of_a_seed_are_refused() {
    let error = ValkeyBloomFilter::reserve(0.01, 100, None, [7; 32]).unwrap_err();
    assert!(error.to_string().contains("different halves"), "{error}");
}

#[test]
fn case_17_values_that_are_none_are_typed_errors() {
    let sound = Module::filled(60).value();
    let refuses = |at: usize, bytes: &[u8], kind: DecodeErrorKind, text: &str| {
        let mut changed = sound.clone();
        changed[at..at + bytes.len()].copy_from_slice(bytes);
        let error = ValkeyBloomFilter::from_bytes(&changed).unwrap_err();
        assert_eq!(
            (error.to_string(), error.kind()),
            (format!("valkey-bloom filter: {text}"), kind)
        );
    };
    use DecodeErrorKind::{Invalid, Truncated, Version};
    refuses(0, &[2], Version, "version at offset 0 is 2, but must be 1");
    refuses(
        5,
        &1.5f64.to_le_bytes(),
        Invalid,
        "rate at offset 5 is 1.5, but must be above 0 and below 1",
    );
    refuses(
        21,
        &[2],
        Invalid,
        "whether the seed is random at offset 21 is 2, but must be from 0 to 1",
    );
    refuses(
        22,
        &[0],
        Invalid,
        "number of layers at offset 22 is 0, but must be from 1 to 2147483647",
    );
    refuses(
        30,
        &45u64.to_le_bytes(),
        Invalid,
        "length of a layer at offset 30 is 45, but must be more than 45, the bytes before the bits",
    );
    let huge = [&(1u64 << 62).to_le_bytes()[..], &[1], &((1u64 << 62) - 45).to_le_bytes()].concat();
    let left = sound.len() - 83;
    refuses(
        30,
        &huge,
        Truncated,
        &format!(
            "bits of a layer at offset 83 needs 4611686018427387859 bytes, but {left} are left"
        ),
    );
    refuses(
        47,
        &[0, 0, 0, 0],
        Invalid,
        "number of hash functions at offset 47 is 0, but must be from 1 to 1100",
    );
}

#[test]
fn the_growth_is_the_one_that_was_asked_for() {
    for growth in [Some(1), Some(4), None] {
        let filter = ValkeyBloomFilter::reserve(0.01, 100, growth, SEED).unwrap();
        assert_eq!(ValkeyBloomFilter::from_bytes(&filter.to_bytes()).unwrap().growth(), growth);
    }
}
