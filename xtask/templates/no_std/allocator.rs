
/// Refuses everything: the proof is linked, never run.
struct Refusing;

// SAFETY: a null pointer is how an allocator refuses; there is nothing to deallocate.
unsafe impl core::alloc::GlobalAlloc for Refusing {
    unsafe fn alloc(&self, _: core::alloc::Layout) -> *mut u8 {
        core::ptr::null_mut()
    }

    unsafe fn dealloc(&self, _: *mut u8, _: core::alloc::Layout) {}
}

#[global_allocator]
static ALLOCATOR: Refusing = Refusing;
