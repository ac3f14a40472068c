//! A running command: its arguments, its reply, and what it replicates.

use std::borrow::Cow;
use std::ffi::{CStr, CString, c_char, c_int};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::slice;

use super::api::{self, Context, Text, api};
use super::keys::Value;
use super::memory;

/// Why a command has no other reply than an error.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The number of arguments is wrong.
    Arity,
    /// A text, which begins with the word that clients match on.
    Error(Cow<'static, str>),
}

/// The reply to a command for a key of another type.
pub(crate) const WRONG_TYPE: Failure = Failure::Error(Cow::Borrowed(
    "WRONGTYPE Operation against a key holding the wrong kind of value",
));

impl From<&'static str> for Failure {
    fn from(text: &'static str) -> Self {
        Self::Error(text.into())
    }
}

impl From<String> for Failure {
    fn from(text: String) -> Self {
        Self::Error(text.into())
    }
}

/// The result of a command after its reply.
pub(crate) type Outcome = Result<(), Failure>;

/// The arguments with which the server calls a command. Only the server makes them.
#[repr(transparent)]
#[derive(Debug)]
pub(crate) struct RawContext(*mut Context);

/// The arguments of a command, the name first. Only the server makes them, as many as it says.
#[repr(transparent)]
#[derive(Debug)]
pub(crate) struct RawArguments(*const *mut Text);

/// A running command.
#[derive(Debug)]
pub(crate) struct Call<'a> {
    pub(super) context: *mut Context,
    arguments: &'a [*mut Text],
}

/// Runs a command behind the door by which the server calls it.
///
/// A panic becomes an error reply: it must not reach the server.
pub(crate) fn run(
    context: RawContext,
    arguments: RawArguments,
    count: c_int,
    command: fn(&mut Call<'_>) -> Outcome,
) -> c_int {
    let count = usize::try_from(count).unwrap_or(0);
    debug_assert!(count > 0 && !arguments.0.is_null());
    // SAFETY: the server passes `count` pointers to strings, which live until the command ends.
    let arguments = unsafe { slice::from_raw_parts(arguments.0, count) };
    let mut call = Call { context: context.0, arguments };
    let outcome = catch_unwind(AssertUnwindSafe(|| command(&mut call)));
    match outcome
        .unwrap_or_else(|_| Err("ERR internal error of the module; please report it".into()))
    {
        Ok(()) => {}
        Err(Failure::Arity) => {
            // SAFETY: the context is that of this command.
            unsafe { (api().wrong_arity)(call.context) };
        }
        Err(Failure::Error(text)) => call.error(&text),
    }
    api::OK
}

/// Defines the function by which the server calls a command.
macro_rules! door {
    ($command:path) => {{
        extern "C" fn door(
            context: $crate::server::RawContext,
            arguments: $crate::server::RawArguments,
            count: ::std::ffi::c_int,
        ) -> ::std::ffi::c_int {
            $crate::server::run(context, arguments, count, $command)
        }
        door
    }};
}
pub(crate) use door;

/// Returns a text as the server takes it. A zero byte ends it.
fn c_text(text: &str) -> CString {
    CString::new(text).unwrap_or_else(|error| {
        let end = error.nul_position();
        CString::new(&text[..end]).unwrap_or_default()
    })
}

impl<'a> Call<'a> {
    /// Returns the number of arguments, the name included.
    pub(crate) const fn len(&self) -> usize {
        self.arguments.len()
    }

    /// Returns an argument. Empty if there is none, which commands rule out by their arity.
    #[inline]
    pub(crate) fn argument(&self, place: usize) -> &'a [u8] {
        self.arguments.get(place).map_or(&[], |&text| bytes_of(text))
    }

    /// Returns the arguments from a place on.
    pub(crate) fn arguments_from(
        &self,
        place: usize,
    ) -> impl ExactSizeIterator<Item = &'a [u8]> + use<'a, '_> {
        (place.min(self.len())..self.len()).map(|place| self.argument(place))
    }

    pub(super) fn text(&self, place: usize) -> *mut Text {
        debug_assert!(place < self.arguments.len());
        self.arguments[place]
    }

    /// Returns whether the server asks which arguments are keys, and tells it: the first one, and as many from the third on
    /// as the second says. The command must do nothing else then.
    pub(crate) fn tells_keys(&self) -> bool {
        // SAFETY: the context is that of this command.
        if unsafe { (api().is_keys_request)(self.context) } == 0 {
            return false;
        }
        let count = std::str::from_utf8(self.argument(2)).ok().and_then(|text| text.parse().ok());
        let sources = (3..self.len()).take(count.unwrap_or(0));
        for place in std::iter::once(1).chain(sources) {
            // SAFETY: as above; the place is that of an argument.
            unsafe { (api().key_at)(self.context, c_int::try_from(place).unwrap_or(1)) };
        }
        true
    }

    fn flags(&self) -> c_int {
        // SAFETY: the context is that of this command.
        unsafe { (api().context_flags)(self.context) }
    }

    /// Returns whether the client talks RESP3.
    pub(crate) fn is_resp3(&self) -> bool {
        self.flags() & api::FLAG_RESP3 != 0
    }

    /// Returns whether the command comes from a primary or an append-only file.
    pub(crate) fn is_replayed(&self) -> bool {
        self.flags() & (api::FLAG_REPLICATED | api::FLAG_LOADING) != 0
    }

    /// Returns whether the limits of the server and of the module allow a value of so many bytes, for which the command takes
    /// `more` bytes of memory.
    pub(crate) fn has_room(&self, value: u64, more: u64) -> bool {
        memory::has_room(self.context, value, more)
    }

    /// Lets `work` build or change a value, within the limits of the server and of the module.
    ///
    /// `has` is the number of bytes that the value has already. New blocks of 64 KiB and more are refused beyond the limits, so
    /// `work` has to take them by means that report an error, as the tables of structures do. Nothing else belongs in it: no
    /// copies of arguments, and no lists as long as them.
    pub(crate) fn within_limits<R>(&self, has: usize, work: impl FnOnce() -> R) -> R {
        memory::limited(self.context, has, work)
    }

    // Replies.

    /// Replies with a number.
    pub(crate) fn integer(&self, number: i64) {
        // SAFETY: the context is that of this command.
        unsafe { (api().reply_integer)(self.context, number) };
    }

    /// Replies with a count, which clients get as a signed number.
    pub(crate) fn count(&self, number: u64) {
        self.integer(i64::try_from(number).unwrap_or(i64::MAX));
    }

    /// Replies with a truth value: 1 or 0 under RESP2.
    #[inline]
    pub(crate) fn bool(&self, value: bool) {
        // SAFETY: as above.
        unsafe { (api().reply_bool)(self.context, value.into()) };
    }

    /// Replies with a double, a string under RESP2.
    pub(crate) fn double(&self, value: f64) {
        // SAFETY: as above.
        unsafe { (api().reply_double)(self.context, value) };
    }

    /// Replies with nil.
    pub(crate) fn null(&self) {
        // SAFETY: as above.
        unsafe { (api().reply_null)(self.context) };
    }

    /// Replies with bytes.
    pub(crate) fn bytes(&self, bytes: &[u8]) {
        // SAFETY: as above; the server copies the bytes.
        unsafe { (api().reply_bytes)(self.context, bytes.as_ptr().cast(), bytes.len()) };
    }

    /// Replies with a simple string.
    pub(crate) fn simple(&self, text: &str) {
        self.simple_c(&c_text(text));
    }

    fn simple_c(&self, text: &CStr) {
        // SAFETY: as above; the server copies the text.
        unsafe { (api().reply_simple)(self.context, text.as_ptr()) };
    }

    /// Replies with `OK`.
    pub(crate) fn ok(&self) {
        self.simple_c(c"OK");
    }

    /// Replies with an error, also as an element of a list.
    pub(crate) fn error(&self, text: &str) {
        // SAFETY: as above; the server copies the text.
        unsafe { (api().reply_error)(self.context, c_text(text).as_ptr()) };
    }

    /// Begins a list. That many replies must follow.
    pub(crate) fn list(&self, len: usize) {
        // SAFETY: as above.
        unsafe { (api().reply_array)(self.context, i64::try_from(len).unwrap_or(0)) };
    }

    /// Begins a map. That many pairs must follow.
    pub(crate) fn map(&self, len: usize) {
        // SAFETY: as above.
        unsafe { (api().reply_map)(self.context, i64::try_from(len).unwrap_or(0)) };
    }

    // Effects.

    /// Tells replicas and the append-only file to run this command, and subscribers that it changed the key.
    pub(crate) fn changed(&self, key: usize, event: &CStr) {
        self.replicate_verbatim();
        self.notify(key, event);
    }

    /// Tells replicas and the append-only file to run this command.
    pub(crate) fn replicate_verbatim(&self) {
        // SAFETY: as above.
        unsafe { (api().replicate_verbatim)(self.context) };
    }

    /// Tells replicas and the append-only file to run another command: a name, a key, and other arguments.
    pub(crate) fn replicate(&self, name: &str, key: usize, arguments: &[&[u8]]) {
        let create = |bytes: &&[u8]| {
            // SAFETY: as above; the server copies the bytes.
            unsafe { (api().create_text)(self.context, bytes.as_ptr().cast(), bytes.len()) }
        };
        let texts: Vec<*mut Text> = arguments.iter().map(create).collect();
        // SAFETY: as above; `s` takes a string, `v` a pointer to strings and their number.
        unsafe {
            (api().replicate)(
                self.context,
                c_text(name).as_ptr(),
                c"sv".as_ptr(),
                self.text(key),
                texts.as_ptr(),
                texts.len(),
            )
        };
        for text in texts {
            // SAFETY: it was created above, and the server has taken what it needs.
            unsafe { (api().free_text)(self.context, text) };
        }
    }

    /// Tells subscribers that a key was changed.
    pub(crate) fn notify(&self, key: usize, event: &CStr) {
        // SAFETY: as above.
        unsafe { (api().notify)(self.context, api::NOTIFY_MODULE, event.as_ptr(), self.text(key)) };
    }

    /// Returns whether an argument is a word, in upper or lower case.
    pub(crate) fn is_word(&self, place: usize, word: &str) -> bool {
        self.argument(place).eq_ignore_ascii_case(word.as_bytes())
    }

    /// Opens a key to read it. `None` if there is none.
    pub(crate) fn read<V: Value>(
        &self,
        place: usize,
    ) -> Result<Option<super::keys::Reading<'_, V>>, Failure> {
        super::keys::Reading::open(self, place)
    }

    /// Opens a key to change it.
    pub(crate) fn write<V: Value>(
        &self,
        place: usize,
    ) -> Result<super::keys::Writing<'_, V>, Failure> {
        super::keys::Writing::open(self, place)
    }
}

/// Returns the bytes of a string that the server passes.
#[inline]
pub(super) fn bytes_of<'a>(text: *mut Text) -> &'a [u8] {
    let mut bytes = 0;
    // SAFETY: arguments live as long as the command, and so do their bytes.
    let first = unsafe { (api().text_bytes)(text, &raw mut bytes) };
    debug_assert!(!first.is_null());
    // SAFETY: there are that many bytes, which nobody changes meanwhile.
    unsafe { slice::from_raw_parts(first.cast(), bytes) }
}

/// Writes a line to the log of the server.
pub(super) fn log(context: *mut Context, level: &str, text: &str) {
    // SAFETY: the context is one of the server, or null. The text is passed as an argument, not as the format.
    unsafe {
        (api().log)(
            context,
            c_text(level).as_ptr(),
            c"%s".as_ptr(),
            c_text(text).as_ptr() as *const c_char,
        )
    };
}
