
/// An allocator that refuses everything. The proof is linked, and never run.
struct Refusing;

// SAFETY: a null pointer means a refusal, and there is nothing to deallocate.
unsafe impl core::alloc::GlobalAlloc for Refusing {
    unsafe fn alloc(&self, _: core::alloc::Layout) -> *mut u8 {
        core::ptr::null_mut()
    }

    unsafe fn dealloc(&self, _: *mut u8, _: core::alloc::Layout) {}
}

#[global_allocator]
static ALLOCATOR: Refusing = Refusing;
