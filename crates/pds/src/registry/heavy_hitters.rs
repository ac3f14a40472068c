//! Summaries of heavy hitters.

use alloc::format;

use super::Structure;
use crate::bytes::Kind;
use crate::compare::{CountAbilities, CountNeeds, FrequencySizing, SketchSize};
use crate::params::{HeavyHittersParams, ParamError};

/// The summary of heavy hitters. It misses no key above a share of the total.
pub static HEAVY_HITTERS: Structure = Structure {
    name: "summary of heavy hitters",
    type_name: "HeavyHitters",
    crate_name: "heavy-hitters",
    feature: Some("heavy-hitters"),
    kind: Some(Kind::HEAVY_HITTERS),
    caution: "It holds the keys themselves; the size is that with keys of 8 bytes.",
    frequency: Some(FrequencySizing {
        abilities: CountAbilities { remove: false, unbiased: false, list: true },
        size: heavy_hitters,
    }),
    ..Structure::NONE
};

/// A count-min sketch beside a list of its heavy hitters.
pub static SKETCHED_HEAVY_HITTERS: Structure = Structure {
    name: "sketch with heavy hitters",
    type_name: "SketchedHeavyHitters",
    crate_name: "heavy-hitters",
    feature: Some("heavy-hitters"),
    kind: Some(Kind::SKETCHED_HEAVY_HITTERS),
    caution: "It holds the heavy keys themselves.",
    ..Structure::NONE
};

/// The list of the most frequent keys.
pub static TOP_K: Structure = Structure {
    name: "list of the most frequent keys",
    type_name: "TopK",
    crate_name: "heavy-hitters",
    feature: Some("heavy-hitters"),
    kind: Some(Kind::TOP_K),
    caution: "It holds the listed keys themselves.",
    ..Structure::NONE
};

fn heavy_hitters(needs: &CountNeeds) -> Result<SketchSize, ParamError> {
    let params = HeavyHittersParams::new(needs.epsilon)?;
    // The type of the keys follows from the inserted keys.
    Ok(SketchSize {
        bytes: params.memory_bytes(),
        constructor: format!("new({:?})?", needs.epsilon),
    })
}
