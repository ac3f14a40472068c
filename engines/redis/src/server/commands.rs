//! Registration of commands.

use std::ffi::{CString, c_int};
use std::mem::offset_of;
use std::ptr;

use super::api::{self, BeginAt, CommandInfo, CommandInfoVersion, Context, KeySpec, Text, api};
use super::call::{RawArguments, RawContext};

/// The function by which the server calls a command, made by `door!`.
pub(crate) type Door = extern "C" fn(RawContext, RawArguments, c_int) -> c_int;

/// The effect of a command on its keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// It reads, in a time that does not depend on the value.
    Reads,
    /// It reads the whole value.
    Scans,
    /// It writes, and may take memory.
    Writes,
    /// It writes, and takes no memory.
    Removes,
}

/// Which arguments are keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keys {
    /// The first.
    First,
    /// The first is written, the others are read: up to the last.
    FirstAndSources,
    /// All are read.
    All,
    /// The first is written. The second argument counts the sources that follow it. Such a command begins with
    /// [`Call::tells_keys`](super::Call::tells_keys).
    FirstAndCounted,
}

/// A command.
#[derive(Debug)]
pub(crate) struct Command {
    /// Lower case, as the server names it in errors.
    pub(crate) name: &'static str,
    /// The effect on its keys.
    pub(crate) effect: Effect,
    /// Which arguments are keys.
    pub(crate) keys: Keys,
    /// The number of arguments with the name; at least so many if it is negative.
    pub(crate) arity: i32,
    /// One line.
    pub(crate) summary: &'static str,
    /// The function.
    pub(crate) door: Door,
}

/// Makes the entry of a command: its name, what it does, which arguments are keys, its arity, its function, and a line that
/// says what it is for.
macro_rules! command {
    ($name:literal, $effect:ident, $keys:ident, $arity:literal, $command:path, $summary:literal) => {
        $crate::server::Command {
            name: $name,
            effect: $crate::server::Effect::$effect,
            keys: $crate::server::Keys::$keys,
            arity: $arity,
            summary: $summary,
            door: $crate::server::door!($command),
        }
    };
}
pub(crate) use command;

static VERSION: CommandInfoVersion = CommandInfoVersion {
    version: 1,
    history_bytes: 2 * size_of::<usize>(),
    key_spec_bytes: size_of::<KeySpec>(),
    // Only counts where there are arguments, which are not described.
    argument_bytes: 9 * size_of::<usize>(),
};

// The layout of the interface on 64-bit machines.
const _: () = assert!(size_of::<KeySpec>() == 56 && offset_of!(KeySpec, find_by) == 44);

/// Registers commands in a category of their own. Returns whether the server took them.
pub(super) fn register(context: *mut Context, category: &str, commands: &[Command]) -> bool {
    let category_text = c_text(category);
    let has_category = api().add_acl_category.is_some_and(|add| {
        // SAFETY: context of the load; the server copies the name.
        unsafe { add(context, category_text.as_ptr()) == api::OK }
    });
    commands.iter().all(|command| register_one(context, command, has_category.then_some(category)))
}

fn register_one(context: *mut Context, command: &Command, category: Option<&str>) -> bool {
    let flags = match command.effect {
        Effect::Reads => "readonly fast",
        Effect::Scans => "readonly",
        // Redis 7.0 asks such commands for their keys in a cluster, where it ignores the specification below.
        Effect::Writes if command.keys == Keys::FirstAndCounted => "write deny-oom getkeys-api",
        Effect::Writes => "write deny-oom",
        Effect::Removes => "write fast",
    };
    let (name, flags_text) = (c_text(command.name), c_text(flags));
    type Run = unsafe extern "C" fn(*mut Context, *mut *mut Text, c_int) -> c_int;
    // SAFETY: the arguments of a door are transparent wrappers of these pointers.
    let run = unsafe { std::mem::transmute::<Door, Run>(command.door) };
    let last =
        if command.keys == Keys::First || command.keys == Keys::FirstAndCounted { 1 } else { -1 };
    // SAFETY: context of the load; the server copies the texts.
    let status = unsafe {
        (api().create_command)(context, name.as_ptr(), run, flags_text.as_ptr(), 1, last, 1)
    };
    status == api::OK && describe(context, command) && categorize(context, command, category)
}

/// Tells the server arity, summary and keys of a command.
fn describe(context: *mut Context, command: &Command) -> bool {
    let key = |flags: u64, place: c_int, find: c_int, find_by: [c_int; 3]| KeySpec {
        notes: ptr::null(),
        flags,
        begin: api::BEGIN_INDEX,
        begin_at: BeginAt { index: place, padding: [0; 3] },
        find,
        find_by,
    };
    let read = api::KEY_READ_ONLY | api::KEY_ACCESS;
    let first = match command.effect {
        Effect::Reads | Effect::Scans => read,
        Effect::Writes | Effect::Removes => api::KEY_READ_WRITE | api::KEY_ACCESS | api::KEY_UPDATE,
    };
    let target = api::KEY_READ_WRITE | api::KEY_ACCESS | api::KEY_UPDATE;
    // After the last of these, a key specification of zeros ends the list.
    let end = || key(0, 0, 0, [0; 3]).ended();
    let specs = match command.keys {
        Keys::First => [key(first, 1, api::FIND_RANGE, [0, 1, 0]), end(), end()],
        Keys::All => [key(read, 1, api::FIND_RANGE, [-1, 1, 0]), end(), end()],
        Keys::FirstAndSources => [
            key(target, 1, api::FIND_RANGE, [0, 1, 0]),
            key(read, 2, api::FIND_RANGE, [-1, 1, 0]),
            end(),
        ],
        Keys::FirstAndCounted => [
            key(target, 1, api::FIND_RANGE, [0, 1, 0]),
            key(read, 2, api::FIND_COUNTED, [0, 1, 1]),
            end(),
        ],
    };
    let (name, summary) = (c_text(command.name), c_text(command.summary));
    let info = CommandInfo {
        version: &raw const VERSION,
        summary: summary.as_ptr(),
        complexity: ptr::null(),
        since: ptr::null(),
        history: ptr::null(),
        tips: ptr::null(),
        arity: command.arity,
        key_specs: specs.as_ptr(),
        arguments: ptr::null(),
    };
    // SAFETY: context of the load. The command was just created; the server copies what it is told.
    unsafe {
        let created = (api().get_command)(context, name.as_ptr());
        !created.is_null() && (api().set_command_info)(created, &raw const info) == api::OK
    }
}

impl KeySpec {
    /// Makes this the end of a list.
    const fn ended(mut self) -> Self {
        self.begin = 0;
        self
    }
}

/// Puts a command into its category, where the server has such.
fn categorize(context: *mut Context, command: &Command, category: Option<&str>) -> bool {
    let (Some(set), Some(category)) = (api().set_acl_categories, category) else { return true };
    let kind = match command.effect {
        Effect::Reads => "read fast",
        Effect::Scans => "read",
        Effect::Writes => "write",
        Effect::Removes => "write fast",
    };
    let (name, categories) = (c_text(command.name), c_text(&format!("{category} {kind}")));
    // SAFETY: context of the load. The command was created before; the server copies the text.
    unsafe {
        let created = (api().get_command)(context, name.as_ptr());
        !created.is_null() && set(created, categories.as_ptr()) == api::OK
    }
}

fn c_text(text: &str) -> CString {
    debug_assert!(!text.contains('\0'));
    CString::new(text).unwrap_or_default()
}
