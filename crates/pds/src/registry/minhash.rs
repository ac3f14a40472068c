//! Sketches of similar sets.

use super::Structure;
use crate::bytes::Kind;

// No comparison asks how alike two sets are. So neither has a sizing.

/// The MinHash sketch: how alike two sets are.
pub static MIN_HASH: Structure = Structure {
    name: "MinHash sketch",
    type_name: "MinHash",
    crate_name: "minhash",
    feature: Some("minhash"),
    kind: Some(Kind::MIN_HASH),
    caution: "Both sets need sketches of one size and one hasher.",
    ..Structure::NONE
};

/// The index of MinHash sketches: near duplicates among many sets.
pub static LSH_INDEX: Structure = Structure {
    name: "index of similar sets",
    type_name: "LshIndex",
    crate_name: "minhash",
    feature: Some("minhash"),
    kind: Some(Kind::LSH_INDEX),
    caution: "It misses a similar set with a probability that its parameters choose.",
    ..Structure::NONE
};
