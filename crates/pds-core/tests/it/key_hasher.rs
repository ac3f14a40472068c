//! Keys and hashers: one hash by either way of asking, the wrappers, and trait objects that are asked by key.

extern crate alloc;

use core::convert::Infallible;
use core::hash::{BuildHasher, Hash, Hasher};
use std::collections::HashMap;
use std::hash::RandomState;

use pds_core::hash::{
    Avalanching, DefaultHashBuilder, KeyHasher, Mixed, PortableHasher, Raw, SipHashBuilder,
    finalize,
};
use pds_core::traits::{Frequency, Insert, Membership, Remove};
use quickcheck::quickcheck;

#[derive(Hash)]
struct Point {
    x: i32,
    y: u128,
}

#[derive(Hash)]
enum Shape {
    Empty,
    Label(&'static str, Vec<u8>),
}

/// The hash of `key` as a trait object gives it.
fn by_object<K: Hash + ?Sized>(hasher: &dyn KeyHasher, key: &K) -> u64 {
    hasher.hash_key_dyn(&mut |mut state| key.hash(&mut state))
}

/// Every hasher of the crate, with every type of key: `hash_key`, its object-safe form and std's `hash_one` agree.
#[test]
fn both_ways_of_asking_agree_for_all_keys() {
    macro_rules! agree {
        ($($key:expr;)*) => {$({
            let key = &$key;
            let text = stringify!($key);
            let default = DefaultHashBuilder::with_seed(7);
            let sip = SipHashBuilder::from_key([3; 16]);
            let random = RandomState::new();
            let hashes = [
                (default.hash_key(key), by_object(&default, key), default.hash_one(key)),
                (sip.hash_key(key), by_object(&sip, key), sip.hash_one(key)),
                agreed(Mixed(default), key, finalize),
                agreed(Mixed(random.clone()), key, finalize),
                agreed(Avalanching(sip), key, |hash| hash),
                agreed(Avalanching(random), key, |hash| hash),
            ];
            for (place, (hash, object, expected)) in hashes.into_iter().enumerate() {
                assert_eq!([hash, object], [expected; 2], "{text}, hasher {place}");
            }
        })*};
    }
    agree! {
        1u8; 255u8; 1u16; 1u32; 1u64; 1u128; 7usize;
        -1i8; -1i16; -1i32; -1i64; -1i128; -1isize;
        true; 'é'; (); "";
        "abc"; String::from("abc"); *"abc"; [1u8, 2]; vec![1u8, 2]; [1u8, 2][..]; [1u32, 2, 3];
        Raw(b""); Raw(b"abc"); (Raw(b"a"), 255u8);
        (1u64, 2u64); ("ab", "c"); Some(1u32); None::<u32>; Some("text");
        Shape::Empty; Shape::Label("abc", vec![0; 300]); Point { x: 1, y: 2 };
        "127.0.0.1".parse::<core::net::IpAddr>().unwrap(); std::path::Path::new("a/b");
        &&1u64; Box::new(5u8); alloc::rc::Rc::<str>::from("abc");
    }
}

fn agreed<B: BuildHasher, K: Hash + ?Sized>(
    hasher: impl KeyHasher + Inner<Builder = B>,
    key: &K,
    mix: impl Fn(u64) -> u64,
) -> (u64, u64, u64) {
    (hasher.hash_key(key), by_object(&hasher, key), mix(hasher.inner().hash_one(key)))
}

trait Inner {
    type Builder;
    fn inner(&self) -> &Self::Builder;
}

impl<B> Inner for Mixed<B> {
    type Builder = B;
    fn inner(&self) -> &B {
        &self.0
    }
}

impl<B> Inner for Avalanching<B> {
    type Builder = B;
    fn inner(&self) -> &B {
        &self.0
    }
}

quickcheck! {
    fn bytes_hash_as_the_raw_key(bytes: Vec<u8>, seed: u64) -> bool {
        let (default, sip) = (DefaultHashBuilder::with_seed(seed), SipHashBuilder::from_key([9; 16]));
        default.hash_bytes(&bytes) == default.hash_key(&Raw(&bytes))
            && sip.hash_bytes(&bytes) == sip.hash_key(&Raw(&bytes))
    }
}

/// Counts keys by their hash; gives only the object-safe form of `hash_key`.
#[derive(Default)]
struct Exact(HashMap<u64, u64>);

impl KeyHasher for Exact {
    fn hash_key_dyn(&self, feed: &mut dyn FnMut(&mut dyn Hasher)) -> u64 {
        DefaultHashBuilder::default().hash_key_dyn(feed)
    }
}

impl Membership for Exact {
    fn contains_hash(&self, hash: u64) -> bool {
        self.0.contains_key(&hash)
    }
}

impl Insert for Exact {
    type Error = Infallible;

    fn insert_hash(&mut self, hash: u64) -> Result<bool, Infallible> {
        let count = self.0.entry(hash).or_default();
        *count += 1;
        Ok(*count == 1)
    }
}

impl Remove for Exact {
    fn remove_hash(&mut self, hash: u64) -> bool {
        self.0.remove(&hash).is_some()
    }
}

impl Frequency for Exact {
    fn estimate_hash(&self, hash: u64) -> u64 {
        self.0.get(&hash).copied().unwrap_or_default()
    }
}

#[test]
fn the_provided_hash_is_that_of_the_object_safe_form() {
    assert_eq!(Exact::default().hash_key("abc"), DefaultHashBuilder::default().hash_key("abc"));
    assert_eq!(Exact::default().hash_key(&1u64), DefaultHashBuilder::default().hash_key(&1u64));
}

/// A change by key through one trait object is seen by key through the others, and by the sized methods.
#[test]
fn trait_objects_are_asked_by_key() {
    let mut exact = Exact::default();
    {
        let filling: &mut dyn Insert<Error = Infallible> = &mut exact;
        assert_eq!(filling.insert_key("abc"), Ok(true));
        assert_eq!(filling.insert_key("abc"), Ok(false));
        assert_eq!(filling.insert_key(&(1u8, "x")), Ok(true));
    }
    let answers = |filter: &dyn Membership| {
        (filter.contains_key("abc"), filter.contains_key(&(1u8, "x")), filter.contains_key("abd"))
    };
    assert_eq!(answers(&exact), (true, true, false));
    assert!(exact.contains("abc") && exact.contains(&(1u8, "x")) && !exact.contains("abd"));
    let counting: &dyn Frequency = &exact;
    assert_eq!([counting.estimate_key("abc"), counting.estimate_key("abd")], [2, 0]);
    let forgetting: &mut dyn Remove = &mut exact;
    assert!(forgetting.remove_key("abc") && !forgetting.remove_key("abc"));
    let shared: Box<dyn Membership + Send + Sync> = Box::new(exact);
    assert_eq!(answers(&*shared), (false, true, false));
}
