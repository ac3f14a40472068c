/// Asks the processor to bring `slice[index]` into its cache; does nothing when there is none.
///
/// A hint only: it never faults and never changes an answer. On processors other than x86-64 and
/// `AArch64` it does nothing.
#[inline(always)]
pub fn prefetch<T>(slice: &[T], index: usize) {
    if let Some(element) = slice.get(index) {
        prefetch_address(core::ptr::from_ref(element).cast());
    }
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
#[inline(always)]
fn prefetch_address(address: *const i8) {
    use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    debug_assert!(!address.is_null());
    // SAFETY: SSE is part of x86-64, and a prefetch of any address is without effect on memory.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(address) }
}

#[cfg(all(target_arch = "aarch64", not(miri)))]
#[inline(always)]
fn prefetch_address(address: *const i8) {
    debug_assert!(!address.is_null());
    // SAFETY: `prfm` is a hint: it reads no register but the address and has no effect on memory.
    unsafe {
        core::arch::asm!("prfm pldl1keep, [{}]", in(reg) address, options(nostack, preserves_flags, readonly));
    }
}

#[cfg(not(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(miri))))]
#[inline(always)]
fn prefetch_address(_address: *const i8) {}
