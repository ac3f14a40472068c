//! Designs of layers.

/// The design of one layer of a filter that consists of several.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LayerDesign {
    /// Number of distinct items that the layer is designed for.
    pub items: u64,
    /// False-positive rate of the layer at this number of items, a fraction.
    pub rate: f64,
}

impl LayerDesign {
    /// Returns the design for the keys that are offered to a layer until `items` of them were new to it.
    ///
    /// A key that the layer answers `true` falsely is not counted as new, so that more than `items` distinct keys come. Their mean number
    /// is at most items / (1 - rate).
    #[doc(hidden)]
    #[must_use]
    pub fn offered(&self) -> Self {
        let items = libm::ceil(self.items as f64 / (1.0 - self.rate));
        #[expect(clippy::cast_possible_truncation, reason = "the cast saturates")]
        #[expect(clippy::cast_sign_loss, reason = "not negative")]
        Self { items: (items as u64).max(self.items), rate: self.rate }
    }
}
