//! Sketches of numbers of distinct keys.

use alloc::format;

use super::Structure;
use crate::bytes::Kind;
use crate::compare::{CardinalitySizing, DistinctNeeds, SketchSize};
use crate::params::hll::CardinalityEstimator::{self, Improved, UltraFgra};
use crate::params::{HllParams, ParamError};

/// `HyperLogLog`: mergeable at any precision, and nearly exact while small.
pub static HYPER_LOG_LOG: Structure = Structure {
    name: "HyperLogLog",
    type_name: "HyperLogLog",
    crate_name: "hll",
    feature: Some("hll"),
    kind: Some(Kind::HYPER_LOG_LOG),
    caution: "A union is exact; an intersection errs by a share of the union.",
    cardinality: Some(CardinalitySizing { overlap: true, size: |needs| of(Improved, needs) }),
    ..Structure::NONE
};

/// `UltraLogLog`: a quarter less error, at one byte per register.
pub static ULTRA_LOG_LOG: Structure = Structure {
    name: "UltraLogLog",
    type_name: "UltraLogLog",
    crate_name: "hll",
    feature: Some("hll"),
    kind: Some(Kind::ULTRA_LOG_LOG),
    caution: "It cannot estimate intersections. It allocates all of its memory at once.",
    cardinality: Some(CardinalitySizing { overlap: false, size: |needs| of(UltraFgra, needs) }),
    ..Structure::NONE
};

fn of(estimator: CardinalityEstimator, needs: &DistinctNeeds) -> Result<SketchSize, ParamError> {
    let params = HllParams::for_standard_error(estimator, needs.standard_error)?;
    Ok(SketchSize {
        bytes: params.dense_bytes(),
        constructor: format!("new({})?", params.precision()),
    })
}

#[cfg(feature = "hll")]
mod dynamic {
    use crate::dynamic::sketch_kind;
    use crate::hash::PortableHasher;
    use crate::{HyperLogLog, UltraLogLog};

    sketch_kind! {
        [S: PortableHasher + Clone + Send + Sync + 'static] HyperLogLog<S>, HYPER_LOG_LOG, "HyperLogLog",
        as_cardinality: Cardinality
    }

    sketch_kind! {
        [S: PortableHasher + Clone + Send + Sync + 'static] UltraLogLog<S>, ULTRA_LOG_LOG, "UltraLogLog",
        as_cardinality: Cardinality
    }
}
