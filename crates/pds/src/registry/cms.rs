//! Sketches of frequencies.

use alloc::format;

use super::Structure;
use crate::bytes::Kind;
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

/// The count sketch: unbiased, with subtraction of counts.
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

#[cfg(feature = "cms")]
mod dynamic {
    use pds_core::bytes::Header;

    use crate::bytes::Kind;
    use crate::dynamic::sketch_kind;
    use crate::hash::PortableHasher;
    use crate::{CountMinSketch, CountSketch};

    /// Implements the traits of all sketches for a count-min sketch with counters of one width.
    macro_rules! count_min {
        ($counter:ident, $bits:literal, $name:literal) => {
            sketch_kind! {
                [S: PortableHasher + Clone + Send + Sync + 'static] CountMinSketch<S, $counter>, COUNT_MIN, $name,
                as_frequency: Frequency,
                // The third number of the shape is the width of a counter.
                fn is_in(header: &Header) -> bool {
                    header.kind == Kind::COUNT_MIN && header.shape.as_slice().get(2) == Some(&$bits)
                }
            }
        };
    }

    count_min!(u8, 8, "count-min sketch of u8");
    count_min!(u16, 16, "count-min sketch of u16");
    count_min!(u32, 32, "count-min sketch of u32");
    count_min!(u64, 64, "count-min sketch of u64");

    sketch_kind! {
        [S: PortableHasher + Clone + Send + Sync + 'static] CountSketch<S>, COUNT_SKETCH, "count sketch",
        as_frequency: Frequency
    }
}
