//! Storage of the registers of a sketch: the parameter `W` of `HyperLogLog<S, W>` and `UltraLogLog<S, W>`.
//!
//! A sketch is one type. Its storage decides which methods it has:
//!
//! | sketch | storage | registers | methods |
//! |---|---|---|---|
//! | [`HyperLogLog`] | [`Registers`] | in memory of its own, sparse or dense | all |
//! | [`AtomicHyperLogLog`](crate::AtomicHyperLogLog) | [`AtomicRegisters`] | in memory of its own, shared by threads | those that read or copy; inserts, `clear` and merges with `&self` |
//! | [`HyperLogLogView`](crate::HyperLogLogView) | [`StoredRegisters<B>`] | in portable bytes of the type `B` | those that read |
//! | [`UltraLogLog`](crate::UltraLogLog) | `Vec<u8>` | in memory of its own | all |
//! | [`UltraLogLogView`](crate::UltraLogLogView) | [`Stored<B>`] | in portable bytes of the type `B` | those that read |
//!
//! [`RegisterSource`] and [`RegisterBytes`] are the bounds of the methods that read. Name these types to keep a sketch in a
//! field, or to write a function for sketches in any storage. How a sketch reads and writes its storage is internal and
//! exempt from every promise of stability.
//!
//! # Examples
//! ```
//! use hll::hash::KeyHasher;
//! use hll::storage::RegisterSource;
//! use hll::{HyperLogLog, HyperLogLogView};
//!
//! fn thousands<S: KeyHasher, W: RegisterSource>(sketch: &HyperLogLog<S, W>) -> f64 {
//!     sketch.estimate() / 1e3
//! }
//!
//! let mut seen = HyperLogLog::new(12)?;
//! seen.extend(0..50_000u32);
//! let view = HyperLogLogView::open(seen.to_bytes())?;
//! assert_eq!(thousands(&seen), thousands(&view));
//! # Ok::<(), Box<dyn core::error::Error>>(())
//! ```
// The words of `pds_core::storage` do not fit. A sketch is a table of coupons before it has registers. Registers are
// bytes in memory, and have six bits in portable bytes.

use alloc::vec::Vec;

use pds_params::HllParams;

#[cfg(doc)]
use crate::HyperLogLog;
#[cfg(target_has_atomic = "8")]
pub use crate::atomic::AtomicRegisters;
pub use crate::sketch::Registers;
pub use crate::view::StoredRegisters;
pub use pds_core::storage::Stored;

/// Registers of a [`HyperLogLog`] that can be read, in any storage.
///
/// Its own methods are internal, and no other crate can implement it.
pub trait RegisterSource: sealed::Sealed {
    /// Returns the parameters.
    #[doc(hidden)]
    fn params(&self) -> HllParams;

    /// Returns the number of entries of the sparse form. `None` if the sketch is dense.
    #[doc(hidden)]
    fn entries(&self) -> Option<u64>;

    /// Counts the registers of each rank, in the dense form.
    #[doc(hidden)]
    fn counts(&self) -> [u32; 64];

    /// Returns the size in bytes.
    #[doc(hidden)]
    fn size_in_bytes(&self) -> u64;

    /// Returns the name of a sketch in this storage, out of its names when it is owned, shared, and a view.
    #[doc(hidden)]
    fn name_of(owned_shared_view: [&'static str; 3]) -> &'static str;
}

/// Registers in memory of the sketch's own: [`Registers`], or [`AtomicRegisters`], which threads share.
///
/// Its own methods are internal, and no other crate can implement it.
pub trait OwnedRegisters: RegisterSource + From<Registers> {
    /// Returns the payload of the portable bytes.
    #[doc(hidden)]
    fn payload(&self) -> Vec<u8>;
}

/// Registers of an [`UltraLogLog`](crate::UltraLogLog) that can be read, in any storage.
///
/// Its own methods are internal, and no other crate can implement it.
pub trait RegisterBytes: sealed::Sealed {
    /// Returns the payload of the portable bytes: the registers, or in a view perhaps a list of those with keys.
    #[doc(hidden)]
    fn bytes(&self) -> &[u8];

    /// Returns the name of a sketch in this storage, out of its names when it is owned and a view.
    #[doc(hidden)]
    fn name_of(owned_view: [&'static str; 2]) -> &'static str;
}

impl RegisterBytes for Vec<u8> {
    #[inline]
    fn bytes(&self) -> &[u8] {
        self
    }

    fn name_of([owned, _]: [&'static str; 2]) -> &'static str {
        owned
    }
}

impl<B: AsRef<[u8]>> RegisterBytes for Stored<B> {
    #[inline]
    fn bytes(&self) -> &[u8] {
        self.payload()
    }

    fn name_of([_, view]: [&'static str; 2]) -> &'static str {
        view
    }
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::Registers {}
    #[cfg(target_has_atomic = "8")]
    impl Sealed for super::AtomicRegisters {}
    impl<B> Sealed for super::StoredRegisters<B> {}
    impl Sealed for alloc::vec::Vec<u8> {}
    impl<B> Sealed for super::Stored<B> {}
}
