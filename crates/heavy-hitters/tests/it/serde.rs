//! Summaries as serde values, under four formats.

use core::fmt::Debug;

use cms::CountMinSketch;
use heavy_hitters::hash::{DefaultHashBuilder, SipHashBuilder};
use heavy_hitters::{HeavyHitters, SketchedHeavyHitters, TopK, serde_keys};
use pds_core::bytes::WithKey;
use pds_core::internal::serde::{Deserialize, Deserializer, Serialize, Serializer};
use pds_testkit::format::{FORMATS, Format};

/// A field with `#[serde(with = "heavy_hitters::serde_keys")]`.
#[derive(Debug, PartialEq)]
struct WithKeys<T>(T);

impl<T: serde_keys::KeysBySerde<Key: Serialize>> Serialize for WithKeys<T> {
    fn serialize<Z: Serializer>(&self, serializer: Z) -> Result<Z::Ok, Z::Error> {
        serde_keys::serialize(&self.0, serializer)
    }
}

impl<'de, T: serde_keys::KeysBySerde<Key: Deserialize<'de>>> Deserialize<'de> for WithKeys<T> {
    fn deserialize<Z: Deserializer<'de>>(deserializer: Z) -> Result<Self, Z::Error> {
        serde_keys::deserialize(deserializer).map(Self)
    }
}

/// The value comes back; cut short or with any one bit flipped it is refused, or is what it was.
fn survives<T: Serialize + for<'de> Deserialize<'de> + PartialEq + Debug>(
    value: &T,
    checked: bool,
) {
    for format in FORMATS {
        let written = format.write(value).unwrap();
        assert_eq!(format.read::<T>(&written).as_ref(), Ok(value), "{format:?}");
        let step = (written.len() / 500).max(1);
        for length in (0..written.len()).step_by(step) {
            assert!(format.read::<T>(&written[..length]).is_err(), "{format:?}, {length} bytes");
        }
        for bit in (0..8 * written.len()).step_by(step) {
            let mut damaged = written.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            let read = format.read::<T>(&damaged);
            assert!(
                !checked || read.is_err() || read.as_ref() == Ok(value),
                "{format:?}, bit {bit}"
            );
        }
    }
}

fn fed<T>(mut structure: T, insert: impl Fn(&mut T, u64)) -> T {
    (0..300).for_each(|i| insert(&mut structure, i * i % 41));
    structure
}

#[test]
fn case_18_every_format_gives_the_envelope_back() {
    survives(&fed(HeavyHitters::<u64>::new(0.1).unwrap(), |s, key| _ = s.insert(&key)), true);
    let words = fed(HeavyHitters::<String>::new(0.1).unwrap(), |s, key| {
        s.insert(key.to_string().as_str());
    });
    survives(&words, true);
    survives(&fed(TopK::<i128>::new(3).unwrap(), |s, key| _ = s.insert(&key.into())), true);
    let detector = SketchedHeavyHitters::<u64>::new(0.05, 0.1, 0.1).unwrap();
    survives(&fed(detector, |s, key| _ = s.insert(&key)), true);
}

/// Keys that have no portable bytes; beside the keys and counts all is an envelope.
#[test]
fn case_18_keys_of_any_type_go_through_every_format() {
    type Key = (u64, Option<bool>);
    let key = |i: u64| (i / 2, i.is_multiple_of(3).then_some(i > 20));
    let summary = HeavyHitters::<Key>::new(0.1).unwrap();
    survives(&WithKeys(fed(summary, |s, i| _ = s.insert(&key(i)))), false);
    let list = TopK::<Key>::new(3).unwrap();
    survives(&WithKeys(fed(list, |s, i| _ = s.insert(&key(i)))), false);
    let detector = SketchedHeavyHitters::<Key>::new(0.05, 0.1, 0.1).unwrap();
    survives(&WithKeys(fed(detector, |s, i| _ = s.insert(&key(i)))), false);
}

/// Entries that no summary can hold are refused, though every part of them can be read.
#[test]
fn case_18_hostile_entries_are_refused() {
    type Hitters = WithKeys<HeavyHitters<(u8, u8)>>;
    type Entry = (u64, u64, (u8, u8));
    let frame = HeavyHitters::<u8>::new(0.5).unwrap();
    let reads = |total: u64, floor: u64, entries: &[Entry]| {
        let read = FORMATS.map(|format| {
            let written = format.write(&(&frame, total, floor, entries.to_vec())).unwrap();
            format.read::<Hitters>(&written).is_ok()
        });
        assert!(read.iter().all(|&one| one == read[0]), "formats agree");
        read[0]
    };
    let [a, b, c, d] = [(4, 0, (1, 1)), (5, 2, (2, 2)), (3, 0, (3, 3)), (3, 0, (4, 4))];
    // The counts above the floor, 2 + 3 + 1, and three times the floor.
    assert!(reads(12, 2, &[a, b, c]));
    assert!(!reads(11, 2, &[a, b, c]), "a total below counts and floor");
    assert!(!reads(99, 2, &[a, b, c, d]), "more keys than there is room for");
    assert!(!reads(99, 2, &[a, a]), "a key twice");
    assert!(!reads(99, 4, &[a, c]), "a count below the floor");
    assert!(!reads(99, 4, &[(4, 5, (1, 1))]), "an error above the count");

    type List = WithKeys<TopK<(u8, u8)>>;
    let list = TopK::<u8>::new(2).unwrap();
    let reads = |sketch: &CountMinSketch<DefaultHashBuilder, u64>, k: u64, entries: &[Entry]| {
        let json = Format::Json.write(&(sketch, k, 0, entries.to_vec())).unwrap();
        Format::Json.read::<List>(&json).is_ok()
    };
    assert!(reads(list.sketch(), 2, &[]));
    assert!(!reads(list.sketch(), 2, &[a]), "a count above that of the sketch");
    assert!(!reads(list.sketch(), 0, &[]) && !reads(list.sketch(), 100, &[]), "not for this k");
    let plain =
        CountMinSketch::builder().params(list.sketch().params()).counters::<u64>().build().unwrap();
    assert!(!reads(&plain, 2, &[]), "a sketch with plain update");
}

#[test]
fn a_secret_key_is_serialised_on_request() {
    let hasher = SipHashBuilder::from_key([7; 16]);
    let list = TopK::<u64>::builder().k(3).hasher(hasher).build().unwrap();
    for format in FORMATS {
        let written = format.write(&WithKey(&list)).unwrap();
        assert!(format.read::<TopK<u64, SipHashBuilder>>(&written).unwrap() == list);
        assert!(format.read::<TopK<u64, DefaultHashBuilder>>(&written).is_err());
    }
}
