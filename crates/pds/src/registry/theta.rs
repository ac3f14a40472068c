//! Theta sketches.

use super::Structure;

// The recommendation promises an error of the number of keys, for which `HyperLogLog` is smaller. The bytes are those of
// DataSketches, without a header of this family.

/// The theta sketch: numbers of keys of unions, intersections and differences.
pub static THETA: Structure = Structure {
    name: "theta sketch",
    type_name: "ThetaSketch",
    crate_name: "theta",
    feature: Some("theta"),
    caution: "Its error in an intersection grows as the intersection becomes a smaller share of the union.",
    ..Structure::NONE
};
