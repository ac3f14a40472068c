//! Bloom filters that forget keys by their age.

use super::Structure;
use crate::bytes::Kind;

// The comparison knows no needs about the age of keys, so neither has a sizing.

/// The Bloom filter of the last N keys.
pub static WINDOW_BLOOM: Structure = Structure {
    name: "window Bloom filter",
    type_name: "WindowBloomFilter",
    crate_name: "bloom-window",
    feature: Some("window"),
    kind: Some(Kind::WINDOW_BLOOM),
    caution: "It forgets keys that are not among the last ones.",
    ..Structure::NONE
};

/// The Bloom filter of the keys of the last ticks of a clock.
pub static TIMED_BLOOM: Structure = Structure {
    name: "timed Bloom filter",
    type_name: "TimedBloomFilter",
    crate_name: "bloom-window",
    feature: Some("window"),
    kind: Some(Kind::TIMED_BLOOM),
    caution: "It forgets keys by the caller's clock, and bursts or repeated keys raise its rate.",
    ..Structure::NONE
};
