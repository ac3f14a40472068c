//! Bytes, as requested from the allocator.

use std::alloc::System;

use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};

/// Counts bytes and passes requests on to the system. Zeroed and reallocated memory stays as cheap as before.
#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Builds a value. Returns it with the bytes that it occupies: its own, and those that it has allocated.
///
/// # Errors
/// Those of `build`.
pub fn measured<T, E>(build: impl FnOnce() -> Result<T, E>) -> Result<(T, u64), E> {
    let before = held();
    let value = build()?;
    let bytes = held().saturating_sub(before) + size_of::<T>();
    Ok((value, bytes as u64))
}

fn held() -> usize {
    let stats = ALLOCATOR.stats();
    stats.bytes_allocated.wrapping_sub(stats.bytes_deallocated)
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::convert::Infallible;

    #[test]
    fn what_is_freed_again_does_not_count() {
        let build = || {
            drop(vec![0_u8; 1 << 24]);
            let mut kept = vec![0_u8; 10 << 20];
            kept.reserve_exact(20 << 20);
            kept.shrink_to_fit();
            Ok::<_, Infallible>(kept)
        };
        let Ok((kept, bytes)) = measured(build);
        // Other tests allocate at the same time, but much less than a megabyte.
        assert!(bytes.abs_diff(kept.len() as u64) < 1 << 20, "{bytes}");
    }
}
