//! Designs of layers.

/// The design of one layer of a filter that consists of several.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LayerDesign {
    /// Number of distinct items that the layer is designed for.
    pub items: u64,
    /// False-positive rate of the layer at this number of items, a fraction.
    pub rate: f64,
}
