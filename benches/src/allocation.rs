//! Bytes, as the allocator was asked for them.

use std::alloc::System;

use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};

/// Counts bytes and leaves the rest to the system: zeroed and moved memory stay as cheap as they are.
#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Builds a value. Returns it with the bytes that it keeps: those of its own and those it has allocated.
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
        // Other tests allocate meanwhile, much less than a megabyte.
        assert!(bytes.abs_diff(kept.len() as u64) < 1 << 20, "{bytes}");
    }
}
