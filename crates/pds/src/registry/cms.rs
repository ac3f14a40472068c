//! Sketches of frequencies.

use alloc::format;

use super::Structure;
use crate::Kind;
use crate::compare::{CountAbilities, CountNeeds, FrequencySizing, SketchSize};
use crate::params::{CountMinParams, CountSketchParams, ParamError};

/// The count-min sketch: estimates are never below the truth.
pub static COUNT_MIN: Structure = Structure {
    name: "count-min sketch",
    type_name: "CountMinSketch",
    crate_name: "cms",
    feature: Some("cms"),
    kind: Some(Kind::COUNT_MIN),
    caution: "Its error is a share of the total of all counts.",
    frequency: Some(FrequencySizing {
        abilities: CountAbilities { remove: false, unbiased: false, list: false },
        size: count_min,
    }),
    ..Structure::NONE
};

/// The count sketch: unbiased, and takes counts back.
pub static COUNT_SKETCH: Structure = Structure {
    name: "count sketch",
    type_name: "CountSketch",
    crate_name: "cms",
    feature: Some("cms"),
    kind: Some(Kind::COUNT_SKETCH),
    caution: "Estimates err in both directions.",
    frequency: Some(FrequencySizing {
        abilities: CountAbilities { remove: true, unbiased: true, list: false },
        size: count_sketch,
    }),
    ..Structure::NONE
};

fn count_min(needs: &CountNeeds) -> Result<SketchSize, ParamError> {
    let (epsilon, delta) = (needs.epsilon, needs.delta);
    let params = CountMinParams::new(epsilon, delta)?;
    let fits_32_bits = needs.total <= u32::MAX.into();
    let constructor = if fits_32_bits {
        format!("new({epsilon:?}, {delta:?})?")
    } else {
        format!("builder().error({epsilon:?}, {delta:?}).counters::<u64>().build()?")
    };
    let counter_bytes = if fits_32_bits { 4 } else { 8 };
    Ok(SketchSize { bytes: params.size_in_bytes(counter_bytes), constructor })
}

fn count_sketch(needs: &CountNeeds) -> Result<SketchSize, ParamError> {
    let (epsilon, delta) = (needs.epsilon, needs.delta);
    let bytes = CountSketchParams::new(epsilon, delta)?.size_in_bytes();
    Ok(SketchSize { bytes, constructor: format!("new({epsilon:?}, {delta:?})?") })
}
