//! Items that the crate `heavy-hitters` and the proofs of this workspace use. Exempt from every promise of stability.

pub use crate::cells::{index, words_for};
pub use crate::counter::StoredCounter;
pub use crate::counters::{Counted, PlainRows, Rows, Tally};
#[cfg(target_has_atomic = "64")]
pub use crate::counters::{SharedRows, SharedTally};
pub use crate::numbers::error_of;
pub use crate::portable::{read_sketch, sketch_bytes};
pub use crate::rows::RowHash;

use pds_core::error::AllocError;
use pds_core::hash::KeyHasher;
use pds_params::CountMinParams;

use crate::{Count, CountInterval, CountMinSketch, Counter};

/// Returns the estimate of a key whose counter has this value. Counters of at least `full_from` may have lost counts.
#[must_use]
pub const fn count(value: u64, full_from: u64) -> Count {
    Count::new(value, full_from)
}

/// Returns the estimate of a key whose least counter has this value.
pub fn count_of<S: KeyHasher, C: Counter>(sketch: &CountMinSketch<S, C>, counter: C) -> Count {
    sketch.count_of(counter)
}

/// Returns the interval from `error` below a count up to the count. A saturated count has no upper bound.
#[must_use]
pub const fn interval_below(count: Count, error: u64) -> CountInterval {
    CountInterval::below(count, error)
}

/// Returns half of a count of a key, as [`CountMinSketch::halve`] is about to round it.
pub fn half<S: KeyHasher, C: Counter>(sketch: &CountMinSketch<S, C>, count: C) -> C {
    count.half(C::saturating_from(sketch.counted().full_from))
}

/// Returns the sketch that has these counters, row after row, and this total. No row may have a greater sum.
///
/// # Errors
/// [`AllocError`] if the allocator refuses the memory.
pub fn sketch_of<S: KeyHasher>(
    params: CountMinParams,
    hasher: S,
    counters: &[u32],
    total: u64,
) -> Result<CountMinSketch<S>, AllocError> {
    let mut sketch = CountMinSketch::from_params(params, hasher)?;
    sketch.counters.lanes_mut()[..counters.len()].copy_from_slice(counters);
    sketch.tally.total = total;
    debug_assert!(sketch.rows().greatest_sum::<u32>() <= u128::from(total));
    Ok(sketch)
}
