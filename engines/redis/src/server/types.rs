//! Registration of the types of values.

use std::ffi::{CString, c_int, c_void};
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::sync::atomic::Ordering;

use super::api::{self, Context, Defrag, Digest, Io, Text, TypeMethods, api};
use super::io;
use super::keys::{Stored, Value};
use super::memory;

/// Registers the types of `V`, of which there are at most three. Returns whether the server took them.
pub(super) fn register<V: Value>(context: *mut Context) -> bool {
    type Loader = unsafe extern "C" fn(*mut Io, c_int) -> *mut c_void;
    let loaders: [Loader; 3] = [load::<V, 0>, load::<V, 1>, load::<V, 2>];
    debug_assert!(V::types().len() <= loaders.len());
    V::types().iter().zip(loaders).all(|(name, rdb_load)| {
        let methods = TypeMethods {
            version: api::TYPE_METHODS_VERSION,
            rdb_load,
            rdb_save: save::<V>,
            aof_rewrite: rewrite::<V>,
            mem_usage: bytes_of::<V>,
            digest: digest::<V>,
            free: free::<V>,
            aux_load: None,
            aux_save: None,
            aux_save_triggers: 0,
            free_effort: free_effort::<V>,
            unlink: None,
            copy: copy::<V>,
            defrag: defrag::<V>,
            mem_usage2: None,
            free_effort2: None,
            unlink2: None,
            copy2: None,
        };
        let text = CString::new(name.name).unwrap_or_default();
        // SAFETY: context of the load; the server copies name and methods.
        let registered = unsafe {
            (api().create_type)(context, text.as_ptr(), name.version, &raw const methods)
        };
        name.registered.store(registered, Ordering::Relaxed);
        !registered.is_null()
    })
}

/// Returns the value that the server passes back.
///
/// # Safety
/// `value` is one that was put under a key of a type of `V`, and nobody changes it meanwhile.
unsafe fn stored<'a, V>(value: *const c_void) -> &'a Stored<V> {
    debug_assert!(!value.is_null());
    // SAFETY: as the caller promises.
    unsafe { &*value.cast() }
}

/// Runs a callback. A panic must not reach the server.
fn guarded<R>(fallback: R, work: impl FnOnce() -> R) -> R {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or(fallback)
}

unsafe extern "C" fn load<V: Value, const INDEX: usize>(
    file: *mut Io,
    version: c_int,
) -> *mut c_void {
    guarded(ptr::null_mut(), || {
        let name = &V::types()[INDEX];
        let loaded = if version == name.version {
            let mut load = io::Load(file, PhantomData);
            Stored::<V>::measured(|| V::load(&mut load, INDEX))
        } else {
            Err(format!("version {version} of {}; this module reads {}", name.name, name.version))
        };
        // How large a value is shows when it is there. Its bytes may be compressed.
        let allowed = loaded.and_then(|stored| match memory::may_have(stored.bytes, 0) {
            true => Ok(stored),
            false => Err(format!("{} bytes are beyond the limits", stored.bytes)),
        });
        allowed.map_or_else(
            |error| {
                io::log_failure(file, &format!("{}: {error}", name.name));
                ptr::null_mut()
            },
            |stored| Box::into_raw(stored).cast(),
        )
    })
}

unsafe extern "C" fn save<V: Value>(file: *mut Io, value: *mut c_void) {
    // SAFETY: the server passes a value of this type.
    let stored = unsafe { stored::<V>(value) };
    guarded((), || stored.value.save(&mut io::Save(file, PhantomData)));
}

unsafe extern "C" fn rewrite<V: Value>(file: *mut Io, key: *mut Text, value: *mut c_void) {
    // SAFETY: as above.
    let stored = unsafe { stored::<V>(value) };
    guarded((), || stored.value.rewrite(&mut io::Rewrite { file, key, life: PhantomData }));
}

unsafe extern "C" fn bytes_of<V: Value>(value: *const c_void) -> usize {
    // SAFETY: as above.
    unsafe { stored::<V>(value) }.bytes
}

unsafe extern "C" fn digest<V: Value>(digest: *mut Digest, value: *mut c_void) {
    // SAFETY: as above.
    let stored = unsafe { stored::<V>(value) };
    guarded((), || {
        let mut digest = io::Digest(digest, PhantomData);
        stored.value.digest(&mut digest);
        digest.end();
    });
}

unsafe extern "C" fn free<V: Value>(value: *mut c_void) {
    debug_assert!(!value.is_null());
    // SAFETY: the server gives the value back, once.
    let stored = unsafe { Box::from_raw(value.cast::<Stored<V>>()) };
    guarded((), || drop(stored));
}

/// Returns how much work it is to free a value, in pages. The server frees what is above 64 in the background.
unsafe extern "C" fn free_effort<V: Value>(_: *mut Text, value: *const c_void) -> usize {
    // SAFETY: as above.
    1 + unsafe { stored::<V>(value) }.bytes / 4096
}

unsafe extern "C" fn copy<V: Value>(
    _: *mut Text,
    _: *mut Text,
    value: *const c_void,
) -> *mut c_void {
    // SAFETY: as above.
    let stored = unsafe { stored::<V>(value) };
    guarded(ptr::null_mut(), || {
        if !memory::may_have(stored.bytes, stored.bytes) {
            return ptr::null_mut();
        }
        let copied = Stored::measured(|| stored.value.copied().ok_or(()));
        copied.map_or(ptr::null_mut(), |copied| Box::into_raw(copied).cast())
    })
}

/// Moves the head of a value. Its tables are blocks of their own, which are too large to fragment memory, or small.
unsafe extern "C" fn defrag<V: Value>(
    run: *mut Defrag,
    _: *mut Text,
    value: *mut *mut c_void,
) -> c_int {
    debug_assert!(!value.is_null());
    // SAFETY: the server passes the place of the value, which it does not use meanwhile. The block is moved as a whole: a
    // value in a box may be moved by its bytes.
    unsafe {
        let moved = (api().defrag_alloc)(run, *value);
        if !moved.is_null() {
            *value = moved;
        }
    }
    0
}
