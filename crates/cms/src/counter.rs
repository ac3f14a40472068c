//! Counters of 8, 16, 32 and 64 bits.

use core::fmt::Debug;

use pds_core::internal::Lane;

/// A counter as a storage keeps it: the integer itself, or its bytes.
pub trait StoredCounter<C> {
    /// Returns the count.
    fn get(&self) -> C;
}

/// An unsigned integer that counts up to its limit and stays there: `u8`, `u16`, `u32` or `u64`.
pub trait Counter:
    sealed::Sealed + StoredCounter<Self> + Lane + Ord + Debug + Send + Sync + 'static
{
}

mod sealed {
    /// Operations of counters. Private to this crate, because the portable bytes know these four widths only.
    pub trait Sealed: Sized {
        /// The width in bits.
        const BITS: u32;

        /// The limit.
        const MAX: Self;

        /// Returns `count`, at most the limit.
        fn saturating_from(count: u64) -> Self;

        /// Returns the sum, at most the limit.
        #[must_use]
        fn saturating_add(self, other: Self) -> Self;

        /// Returns half of the count, rounded up from `full_from` on, and down below.
        #[must_use]
        fn half(self, full_from: Self) -> Self;

        /// The little-endian bytes of a counter.
        type Bytes: super::StoredCounter<Self> + Copy;

        /// Returns the counters that bytes hold. Ignores the bytes after the last whole counter.
        fn cells_of(bytes: &[u8]) -> &[Self::Bytes];
    }
}

macro_rules! counters {
    ($($counter:ty)*) => {$(
        impl Counter for $counter {}

        impl sealed::Sealed for $counter {
            const BITS: u32 = Self::BITS;
            const MAX: Self = Self::MAX;

            #[inline]
            fn saturating_from(count: u64) -> Self {
                Self::try_from(count).unwrap_or(Self::MAX)
            }

            #[inline(always)]
            fn saturating_add(self, other: Self) -> Self {
                self.saturating_add(other)
            }

            #[inline]
            fn half(self, full_from: Self) -> Self {
                self / 2 + (self & 1 & Self::from(self >= full_from))
            }

            type Bytes = [u8; size_of::<$counter>()];

            #[inline]
            fn cells_of(bytes: &[u8]) -> &[Self::Bytes] {
                bytes.as_chunks().0
            }
        }

        impl StoredCounter<$counter> for $counter {
            #[inline(always)]
            fn get(&self) -> $counter {
                *self
            }
        }

        impl StoredCounter<$counter> for [u8; size_of::<$counter>()] {
            #[inline(always)]
            fn get(&self) -> $counter {
                <$counter>::from_le_bytes(*self)
            }
        }
    )*};
}
counters!(u8 u16 u32 u64);
