//! Keys of the server, and the values of the module under them.

use std::ffi::c_void;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicPtr, Ordering};

use super::api::{self, Key, Type, api};
use super::call::{Call, Failure, WRONG_TYPE};
use super::io::{Digest, Load, Rewrite, Save};
use super::memory;

/// A type that the server knows values by.
#[derive(Debug)]
pub(crate) struct TypeName {
    /// Nine characters.
    pub(crate) name: &'static str,
    /// The version of the encoding.
    pub(crate) version: i32,
    pub(super) registered: AtomicPtr<Type>,
}

impl TypeName {
    /// A type that is not registered yet.
    pub(crate) const fn new(name: &'static str, version: i32) -> Self {
        Self { name, version, registered: AtomicPtr::new(std::ptr::null_mut()) }
    }
}

/// A value that the server keeps under a key.
pub(crate) trait Value: Sized + 'static {
    /// Returns the types that hold such values, one for each encoding.
    fn types() -> &'static [TypeName];

    /// Returns the place of the type of this value in [`types`](Self::types).
    fn type_index(&self) -> usize {
        0
    }

    /// Writes the value, for a snapshot.
    fn save(&self, file: &mut Save<'_>);

    /// Reads the value, which another type of [`types`](Self::types) may have written.
    ///
    /// # Errors
    /// A text for the log of the server.
    fn load(file: &mut Load<'_>, type_index: usize) -> Result<Self, String>;

    /// Writes commands that make the value, for an append-only file.
    fn rewrite(&self, file: &mut Rewrite<'_>);

    /// Feeds what `DEBUG DIGEST` compares.
    fn digest(&self, digest: &mut Digest<'_>);

    /// Copies the value. `None` if memory is refused.
    fn copied(&self) -> Option<Self>;
}

/// A value with the number of bytes that it takes from the allocator.
#[derive(Debug)]
pub(super) struct Stored<V> {
    pub(super) value: V,
    pub(super) bytes: usize,
}

impl<V> Stored<V> {
    /// Makes a value by `build`, and measures it.
    pub(super) fn measured<E>(build: impl FnOnce() -> Result<V, E>) -> Result<Box<Self>, E> {
        let (stored, bytes) =
            memory::measured(|| build().map(|value| Box::new(Self { value, bytes: 0 })));
        let mut stored = stored?;
        stored.bytes = bytes.max(0).cast_unsigned();
        Ok(stored)
    }

    fn change<R>(&mut self, work: impl FnOnce(&mut V) -> R) -> R {
        let (result, more) = memory::measured(|| work(&mut self.value));
        self.bytes = self.bytes.saturating_add_signed(more);
        result
    }
}

/// An open key, which closes itself.
struct Open(*mut Key);

impl Drop for Open {
    fn drop(&mut self) {
        // SAFETY: the key is open, and closed once. It may be null.
        unsafe { (api().close_key)(self.0) };
    }
}

impl Open {
    fn new(call: &Call<'_>, place: usize, mode: i32) -> Self {
        // SAFETY: context and name are those of the running command.
        Self(unsafe { (api().open_key)(call.context, call.text(place), mode) })
    }

    /// Returns the value under the key. `None` if there is none.
    fn stored<V: Value>(&self) -> Result<Option<*mut Stored<V>>, Failure> {
        if self.0.is_null() {
            return Ok(None);
        }
        // SAFETY: the key is open.
        match unsafe { (api().key_type)(self.0) } {
            api::KEY_EMPTY => return Ok(None),
            api::KEY_MODULE => {}
            _ => return Err(WRONG_TYPE),
        }
        // SAFETY: the key is open, and its value is one of a module.
        let found = unsafe { (api().value_type)(self.0) };
        let is_ours =
            V::types().iter().any(|name| name.registered.load(Ordering::Relaxed) == found);
        if !is_ours {
            return Err(WRONG_TYPE);
        }
        // SAFETY: as above. Values of these types are made in `Stored::measured` for `V`.
        let stored = unsafe { (api().value)(self.0) }.cast::<Stored<V>>();
        debug_assert!(!stored.is_null() && stored.is_aligned());
        Ok(Some(stored))
    }
}

/// A value that is read while its key is open.
pub(crate) struct Reading<'a, V> {
    stored: &'a Stored<V>,
    _key: Open,
}

impl<'a, V: Value> Reading<'a, V> {
    pub(super) fn open(call: &'a Call<'_>, place: usize) -> Result<Option<Self>, Failure> {
        let key = Open::new(call, place, api::READ);
        let stored = key.stored()?;
        // SAFETY: the value lives as long as the key is open, which is as long as `Self`; commands run one at a time, and
        // nothing deletes a key while a command reads it.
        Ok(stored.map(|stored: *mut Stored<V>| Self { stored: unsafe { &*stored }, _key: key }))
    }

    /// Returns the bytes of the value.
    pub(crate) const fn bytes(&self) -> usize {
        self.stored.bytes
    }
}

impl<V> std::ops::Deref for Reading<'_, V> {
    type Target = V;

    #[inline]
    fn deref(&self) -> &V {
        &self.stored.value
    }
}

/// A key that is open for changes.
pub(crate) struct Writing<'a, V> {
    stored: Option<*mut Stored<V>>,
    key: Open,
    call: PhantomData<&'a V>,
}

impl<'a, V: Value> Writing<'a, V> {
    pub(super) fn open(call: &'a Call<'_>, place: usize) -> Result<Self, Failure> {
        let key = Open::new(call, place, api::READ | api::WRITE);
        Ok(Self { stored: key.stored()?, key, call: PhantomData })
    }

    /// Returns the value, if there is one.
    #[inline]
    pub(crate) fn value(&self) -> Option<&V> {
        // SAFETY: the value lives as long as the key is open, and `self` is borrowed.
        self.stored.map(|stored| unsafe { &(*stored).value })
    }

    /// Returns the bytes of the value, 0 if there is none.
    pub(crate) fn bytes(&self) -> usize {
        // SAFETY: as above.
        self.stored.map_or(0, |stored| unsafe { (*stored).bytes })
    }

    /// Changes the value, if there is one. What `work` allocates and does not free counts as memory of the value.
    #[inline]
    pub(crate) fn change<R>(&mut self, work: impl FnOnce(&mut V) -> R) -> Option<R> {
        // SAFETY: as above, and `self` is borrowed alone.
        self.stored.map(|stored| unsafe { &mut *stored }.change(work))
    }

    /// Puts a value that `build` makes under the key, in the place of what is there.
    pub(crate) fn put<E>(&mut self, build: impl FnOnce() -> Result<V, E>) -> Result<(), E> {
        let stored = Stored::measured(build)?;
        self.stored = Some(self.set(stored));
        Ok(())
    }

    /// Puts the value of another type that `build` makes of this one in its place. Returns whether there is one now.
    pub(crate) fn replace<U: Value>(&mut self, build: impl FnOnce(&V) -> Option<U>) -> bool {
        let Some(value) = self.value() else { return false };
        let Ok(stored) = Stored::measured(|| build(value).ok_or(())) else { return false };
        self.stored = None;
        self.set(stored);
        true
    }

    fn set<U: Value>(&self, stored: Box<Stored<U>>) -> *mut Stored<U> {
        let kind = U::types()[stored.value.type_index()].registered.load(Ordering::Relaxed);
        debug_assert!(!kind.is_null(), "types are registered before commands");
        let stored = Box::into_raw(stored);
        // SAFETY: the key is open.
        let expiry = unsafe { (api().expiry)(self.key.0) };
        // SAFETY: the key is open for writing, and the value is one of this type. The server frees the old one.
        unsafe { (api().set_value)(self.key.0, kind, stored.cast::<c_void>()) };
        // With the old value went the time at which the key expires. It is negative if the key does not.
        if expiry >= 0 {
            // SAFETY: the key is open for writing.
            unsafe { (api().set_expiry)(self.key.0, expiry) };
        }
        stored
    }

    /// Deletes the key.
    pub(crate) fn delete(&mut self) {
        self.stored = None;
        // SAFETY: the key is open for writing.
        unsafe { (api().delete_key)(self.key.0) };
    }
}
