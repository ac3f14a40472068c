use alloc::alloc::{alloc_zeroed, dealloc, handle_alloc_error};
use core::alloc::Layout;
use core::ops::{Deref, DerefMut};
use core::ptr::NonNull;
use core::{fmt, slice};

use crate::error::AllocError;

/// The alignment of [`Words`], in bytes: one cache line of today's machines.
pub const LINE_BYTES: usize = 64;

/// The alignment that the allocator is asked for. Up to it the system allocator of std zeroes by
/// `calloc`, so that fresh pages stay untouched; above it, it would write every byte. The rest of
/// the way to a cache line is therefore made here.
const MALLOC_ALIGN: usize = 16;

/// Storage of a structure that owns its memory: a fixed number of 64-bit words, aligned to a cache line.
///
/// All words are zero at first.
///
/// Memory that was never written costs address space only (where the allocator gets zeroed pages
/// from the system): a filter of gigabytes is built in microseconds. An allocation that fails is an
/// error and no abort.
pub struct Words {
    /// The block as the allocator gave it, to give it back.
    block: NonNull<u8>,
    /// The first word: `block` rounded up to a cache line.
    first: NonNull<u64>,
    len: usize,
}

#[doc(hidden)]
impl Words {
    /// Allocates `len` words of zero.
    ///
    /// # Errors
    /// [`AllocError`] when the address space or the allocator cannot provide them.
    ///
    /// # Complexity
    /// Constant where the system hands out zeroed pages, O(len) otherwise.
    ///
    /// # Examples
    /// ```
    /// use pds_core::internal::Words;
    ///
    /// let mut words = Words::zeroed(1_000)?;
    /// words[999] = 7;
    /// assert_eq!(words.iter().sum::<u64>(), 7);
    /// assert!(Words::zeroed(u64::MAX).is_err());
    /// # Ok::<(), pds_core::error::AllocError>(())
    /// ```
    pub fn zeroed(len: u64) -> Result<Self, AllocError> {
        let refused = AllocError { bytes: len.saturating_mul(8) };
        let len = usize::try_from(len).map_err(|_| refused)?;
        if len == 0 {
            return Ok(Self::empty());
        }
        let layout = Self::layout(len).ok_or(refused)?;
        // SAFETY: `layout` has a size above zero.
        let block = NonNull::new(unsafe { alloc_zeroed(layout) }).ok_or(refused)?;
        let offset = block.as_ptr().align_offset(LINE_BYTES);
        debug_assert!(offset <= LINE_BYTES - MALLOC_ALIGN);
        // SAFETY: `block` is aligned to `MALLOC_ALIGN`, so the offset is at most `LINE_BYTES -
        // MALLOC_ALIGN` bytes, by which `layout` is larger than the words.
        let first = unsafe { block.add(offset) }.cast();
        Ok(Self { block, first, len })
    }

    /// Returns no words, without an allocation.
    #[must_use]
    pub fn empty() -> Self {
        let first = NonNull::<u64>::dangling();
        Self { block: first.cast(), first, len: 0 }
    }

    /// The address and the number of the words, for the view as atomics.
    #[cfg(target_has_atomic = "64")]
    pub(super) fn as_parts(&self) -> (NonNull<u64>, usize) {
        (self.first, self.len)
    }

    /// Ends the process, as every `Clone` of a collection does when there is no memory for the copy of `len` words.
    pub(super) fn abort(len: usize) -> ! {
        handle_alloc_error(Self::layout(len).expect("this layout was allocated"))
    }

    fn layout(len: usize) -> Option<Layout> {
        let bytes = len.checked_mul(size_of::<u64>())?.checked_add(LINE_BYTES - MALLOC_ALIGN)?;
        Layout::from_size_align(bytes, MALLOC_ALIGN).ok()
    }

    /// Copies the words, or reports that there is no memory for a second set.
    ///
    /// # Errors
    /// [`AllocError`] when memory is refused.
    pub fn try_clone(&self) -> Result<Self, AllocError> {
        let mut copy = Self::zeroed(self.len as u64)?;
        copy.copy_from_slice(self);
        Ok(copy)
    }

    /// Returns the size of the words in bytes.
    #[must_use]
    pub fn size_in_bytes(&self) -> u64 {
        self.len as u64 * 8
    }

    /// Asks the system to back the words with huge pages. Returns whether it agreed to try.
    ///
    /// Meant for random access to more than the TLB reaches, some megabytes; what it gains depends on the machine, and
    /// agreeing is not granting: `AnonHugePages` in `/proc/self/smaps` tells what was granted. Call it before the
    /// words are first written. A copy asks for nothing. Always `false` elsewhere than on Linux.
    #[cfg(feature = "huge-pages")]
    pub fn advise_huge_pages(&self) -> bool {
        #[cfg(target_os = "linux")]
        return self.madvise();
        #[cfg(not(target_os = "linux"))]
        return false;
    }

    #[cfg(all(feature = "huge-pages", target_os = "linux"))]
    fn madvise(&self) -> bool {
        // Huge pages start at multiples of 2 MiB or more; any multiple of it is one of a page too.
        const HUGE_PAGE: usize = 2 << 20;
        let start = self.first.as_ptr().cast::<u8>();
        let skipped = start.align_offset(HUGE_PAGE);
        let Some(bytes) = (self.len * 8).checked_sub(skipped) else { return false };
        if bytes < HUGE_PAGE {
            return false;
        }
        // SAFETY: the range lies within the words, which this value owns; the advice does not change
        // their contents.
        unsafe { libc::madvise(start.add(skipped).cast(), bytes, libc::MADV_HUGEPAGE) == 0 }
    }
}

impl Drop for Words {
    fn drop(&mut self) {
        if self.len > 0 {
            let layout = Self::layout(self.len).expect("this layout was allocated");
            // SAFETY: `block` came from `alloc_zeroed` with this very layout and is freed once.
            unsafe { dealloc(self.block.as_ptr(), layout) }
        }
    }
}

impl Deref for Words {
    type Target = [u64];

    #[inline]
    fn deref(&self) -> &[u64] {
        debug_assert!(self.first.is_aligned());
        // SAFETY: `first` points to `len` initialised words that this value owns (dangling and
        // aligned for `len` 0); the borrow of `self` keeps them.
        unsafe { slice::from_raw_parts(self.first.as_ptr(), self.len) }
    }
}

impl DerefMut for Words {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u64] {
        debug_assert!(self.first.is_aligned());
        // SAFETY: as in `deref`; the exclusive borrow of `self` makes the access exclusive.
        unsafe { slice::from_raw_parts_mut(self.first.as_ptr(), self.len) }
    }
}

// SAFETY: the words are owned like a `Box<[u64]>`, whose content is `Send`.
unsafe impl Send for Words {}
// SAFETY: a shared `Words` gives out shared slices of `u64` only.
unsafe impl Sync for Words {}

impl Clone for Words {
    /// Copies the words. Aborts like every `Clone` of a collection when memory is refused; see
    /// [`try_clone`](Words::try_clone).
    fn clone(&self) -> Self {
        self.try_clone().unwrap_or_else(|_| Self::abort(self.len))
    }
}

impl PartialEq for Words {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for Words {}

impl fmt::Debug for Words {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Words").field("len", &self.len).finish_non_exhaustive()
    }
}
