//! The allocator of the server, and the limits that it has to keep.
//!
//! All memory of the module comes from the server, so that `INFO memory`, `maxmemory` and `MEMORY USAGE` tell the truth.

use std::alloc::{GlobalAlloc, Layout};
use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::ptr;

use super::api::{self, Api, Context};
use super::config;

/// The alignment that both allocators of servers keep, jemalloc and that of libc, for sizes that are a multiple of it.
// The jemalloc that Redis brings along has blocks of 24, 40 and 56 bytes, every second of which is aligned to 8 bytes only.
const SERVER_ALIGN: usize = 16;

/// From this size on an allocation is counted against the limits. Smaller ones are too frequent to ask the server about.
const CHECKED_BYTES: usize = 64 << 10;

/// The allocator of the module: that of the server.
#[derive(Debug)]
struct ServerMemory;

#[global_allocator]
static MEMORY: ServerMemory = ServerMemory;

thread_local! {
    /// Bytes that this thread took from the server and did not give back.
    static TAKEN: Cell<isize> = const { Cell::new(0) };
    /// The command that changes a value now, and what this thread had taken before the value.
    static CHANGE: Cell<Option<Change>> = const { Cell::new(None) };
}

/// A change of a value by a command.
#[derive(Clone, Copy)]
struct Change {
    context: *mut Context,
    base: isize,
}

/// Returns what `work` returns, and by how many bytes the memory of the module grew, as the allocator rounds them.
pub(super) fn measured<R>(work: impl FnOnce() -> R) -> (R, isize) {
    let before = TAKEN.get();
    let result = work();
    (result, TAKEN.get() - before)
}

/// Lets `work` build or change a value that has this many bytes already.
///
/// New blocks of 64 KiB and more are refused beyond the limits meanwhile, as if the system had no memory. So `work` has to ask
/// for such blocks by means that report an error: a refusal anywhere else ends the server. Blocks that grow are not refused,
/// so that vectors may take further elements. Where the size is known before, [`has_room`] is the better way.
pub(super) fn limited<R>(context: *mut Context, has: usize, work: impl FnOnce() -> R) -> R {
    /// Ends the change, after a panic, too.
    struct End;
    impl Drop for End {
        fn drop(&mut self) {
            CHANGE.set(None);
        }
    }
    let _end = End;
    CHANGE.set(Some(Change { context, base: TAKEN.get().wrapping_sub_unsigned(has) }));
    work()
}

/// Returns whether an allocation of this size is allowed now.
fn is_allowed(api: &Api, bytes: usize) -> bool {
    match CHANGE.get() {
        Some(change) if bytes >= CHECKED_BYTES => {
            let value = TAKEN.get().wrapping_sub(change.base).max(0).cast_unsigned();
            is_within_limits(api, change.context, value.saturating_add(bytes) as u64, bytes as u64)
        }
        _ => true,
    }
}

/// Returns whether a command may make a value of so many bytes, for which it takes `more` from the server.
pub(super) fn has_room(context: *mut Context, value: u64, more: u64) -> bool {
    let is_small = more < CHECKED_BYTES as u64 && value <= config::max_value_bytes();
    is_small || is_within_limits(api::api(), context, value, more)
}

/// Returns whether a value that the server loads or copies outside of commands may have so many bytes, of which it has yet to
/// take `more`.
pub(super) fn may_have(value: usize, more: usize) -> bool {
    value < CHECKED_BYTES
        || is_within_limits(api::api(), ptr::null_mut(), value as u64, more as u64)
}

/// Compares a value with the largest one that is allowed, and what it needs with the memory that the server has left.
///
/// Without a context it is not known where a command comes from.
#[cold]
fn is_within_limits(api: &Api, context: *mut Context, value: u64, more: u64) -> bool {
    // SAFETY: the context is that of the running command, or null.
    let flags = unsafe { (api.context_flags)(context) };
    let replica = if context.is_null() { api::FLAG_REPLICA } else { 0 };
    // A command from a primary or an append-only file was accepted once. Refusing it now would lose data.
    if flags & (api::FLAG_REPLICATED | api::FLAG_LOADING | replica) != 0 {
        return true;
    }
    value <= config::max_value_bytes()
        && (flags & api::FLAG_MAXMEMORY == 0 || is_below_maxmemory(api, context, flags, more))
}

/// Returns whether the server stays within `maxmemory` if it gives so many bytes.
fn is_below_maxmemory(api: &Api, context: *mut Context, flags: c_int, more: u64) -> bool {
    let mut error = 0;
    // SAFETY: the context is that of the running command or null, and the name ends with a zero byte.
    let info = unsafe { (api.get_server_info)(context, c"memory".as_ptr()) };
    // SAFETY: `info` is the answer, and the name ends with a zero byte.
    let max = unsafe { (api.server_info_unsigned)(info, c"maxmemory".as_ptr(), &raw mut error) };
    // SAFETY: as above.
    let used = unsafe { (api.server_info_unsigned)(info, c"used_memory".as_ptr(), &raw mut error) };
    // SAFETY: it is not used any more.
    unsafe { (api.free_server_info)(context, info) };
    // A server that evicts keys makes room after the command, for what can fit at all.
    let used = if flags & api::FLAG_EVICT == 0 { used } else { 0 };
    used.saturating_add(more) <= max
}

/// Counts a block that was taken (1) or given back (-1).
///
/// # Safety
/// `block` was allocated by `api` and not freed.
unsafe fn count(api: &Api, block: *mut c_void, sign: isize) {
    // SAFETY: as the caller promises.
    let bytes = unsafe { (api.malloc_size)(block) };
    TAKEN.set(TAKEN.get().wrapping_add(sign.wrapping_mul(bytes.cast_signed())));
}

/// Takes a block from the server, null if it refuses.
fn take(layout: Layout, get: impl FnOnce(&Api, usize) -> *mut c_void) -> *mut u8 {
    let Some(api) = api::get().filter(|_| layout.align() <= SERVER_ALIGN) else {
        return ptr::null_mut();
    };
    let block = get(api, layout.pad_to_align().size());
    if !block.is_null() {
        debug_assert!(block.cast::<u8>().align_offset(layout.align()) == 0);
        // SAFETY: `api` has just allocated it.
        unsafe { count(api, block, 1) };
    }
    block.cast()
}

/// Takes zeroed memory, whose fresh pages stay untouched.
fn take_zeroed(api: &Api, bytes: usize) -> *mut c_void {
    if let Some(try_calloc) = api.try_calloc {
        // SAFETY: any size may be asked for.
        return unsafe { try_calloc(1, bytes) };
    }
    // Before 7.4, `Calloc` ends the server where memory is refused. So the same size is asked for first.
    // SAFETY: any size may be asked for.
    let probe = unsafe { (api.try_alloc)(bytes) };
    if probe.is_null() {
        return probe;
    }
    // SAFETY: `probe` has just been allocated.
    unsafe { (api.free)(probe) };
    // SAFETY: any size may be asked for.
    unsafe { (api.calloc)(1, bytes) }
}

// SAFETY: the blocks are those of the server, which keeps the contract of an allocator for alignments up to
// `SERVER_ALIGN`; larger ones are refused. No method unwinds.
unsafe impl GlobalAlloc for ServerMemory {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        take(layout, |api, bytes| match is_allowed(api, bytes) {
            // SAFETY: any size may be asked for.
            true => unsafe { (api.try_alloc)(bytes) },
            false => ptr::null_mut(),
        })
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        take(layout, |api, bytes| match is_allowed(api, bytes) {
            true => take_zeroed(api, bytes),
            false => ptr::null_mut(),
        })
    }

    unsafe fn dealloc(&self, block: *mut u8, _: Layout) {
        if let Some(api) = api::get() {
            // SAFETY: the block came from `take`.
            unsafe { count(api, block.cast(), -1) };
            // SAFETY: as above; nobody uses it any more, as the caller promises.
            unsafe { (api.free)(block.cast()) };
        }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        let more = bytes.saturating_sub(layout.size());
        // SAFETY: as the caller promises.
        let new = unsafe { Layout::from_size_align_unchecked(bytes, layout.align()) };
        match api::get() {
            // `Realloc` ends the server where memory is refused, which it does for large sizes only.
            Some(api) if bytes < CHECKED_BYTES => {
                // SAFETY: the block came from `take`.
                unsafe { count(api, block.cast(), -1) };
                // SAFETY: as above, and the size is not 0, as the caller promises.
                let block = unsafe { (api.realloc)(block.cast(), new.pad_to_align().size()) };
                // SAFETY: `api` has just allocated it.
                unsafe { count(api, block, 1) };
                block.cast()
            }
            Some(_) if more > 0 => {
                // SAFETY: any size may be asked for.
                let grown = take(new, |api, bytes| unsafe { (api.try_alloc)(bytes) });
                if !grown.is_null() {
                    // SAFETY: both are at least as long, and the new one is another block.
                    unsafe { ptr::copy_nonoverlapping(block, grown, layout.size()) };
                    // SAFETY: the caller gives the block up.
                    unsafe { self.dealloc(block, layout) };
                }
                grown
            }
            // Nothing is gained by giving back the end of a large block that is soon freed.
            _ => block,
        }
    }
}
