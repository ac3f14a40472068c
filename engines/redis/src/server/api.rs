//! The functions of the server, by the names under which it hands them out.
//!
//! Only what the module uses is declared. The signatures are those of the interface of Redis 7.0; what came later is
//! optional, and `None` on older servers.

use std::ffi::{c_char, c_double, c_int, c_longlong, c_void};
use std::ptr;
use std::sync::OnceLock;

/// The objects of the server, which only it can look into.
macro_rules! opaque {
    ($($(#[$doc:meta])* $name:ident)*) => {$(
        $(#[$doc])*
        #[repr(C)]
        #[derive(Debug)]
        pub(super) struct $name {
            _private: [u8; 0],
        }
    )*};
}

opaque! {
    /// The context of a call.
    Context
    /// A string of the server.
    Text
    /// An open key.
    Key
    /// A registered type of values.
    Type
    /// A stream of an RDB or AOF file.
    Io
    /// A command.
    Command
    /// The digest of `DEBUG DIGEST`.
    Digest
    /// A defragmentation run.
    Defrag
    /// The answer of the server about itself.
    ServerInfo
}

pub(super) const OK: c_int = 0;
pub(super) const ERR: c_int = 1;
pub(super) const API_VERSION: c_int = 1;

pub(super) const READ: c_int = 1;
pub(super) const WRITE: c_int = 2;

pub(super) const KEY_EMPTY: c_int = 0;
pub(super) const KEY_MODULE: c_int = 6;

pub(super) const FLAG_REPLICA: c_int = 1 << 3;
pub(super) const FLAG_MAXMEMORY: c_int = 1 << 8;
pub(super) const FLAG_EVICT: c_int = 1 << 9;
pub(super) const FLAG_REPLICATED: c_int = 1 << 12;
pub(super) const FLAG_LOADING: c_int = 1 << 13;
pub(super) const FLAG_RESP3: c_int = 1 << 22;

pub(super) const NOTIFY_MODULE: c_int = 1 << 13;
pub(super) const HANDLE_IO_ERRORS: c_int = 1;
pub(super) const CONFIG_DEFAULT: u32 = 0;
/// A number of bytes, which may be given as `1gb`.
pub(super) const CONFIG_MEMORY: u32 = 1 << 7;

/// The functions that the server calls for the values of a type. Version 4 of the struct.
#[repr(C)]
#[derive(Debug)]
pub(super) struct TypeMethods {
    pub(super) version: u64,
    pub(super) rdb_load: unsafe extern "C" fn(*mut Io, c_int) -> *mut c_void,
    pub(super) rdb_save: unsafe extern "C" fn(*mut Io, *mut c_void),
    pub(super) aof_rewrite: unsafe extern "C" fn(*mut Io, *mut Text, *mut c_void),
    pub(super) mem_usage: unsafe extern "C" fn(*const c_void) -> usize,
    pub(super) digest: unsafe extern "C" fn(*mut Digest, *mut c_void),
    pub(super) free: unsafe extern "C" fn(*mut c_void),
    pub(super) aux_load: Option<unsafe extern "C" fn()>,
    pub(super) aux_save: Option<unsafe extern "C" fn()>,
    pub(super) aux_save_triggers: c_int,
    pub(super) free_effort: unsafe extern "C" fn(*mut Text, *const c_void) -> usize,
    pub(super) unlink: Option<unsafe extern "C" fn()>,
    pub(super) copy: unsafe extern "C" fn(*mut Text, *mut Text, *const c_void) -> *mut c_void,
    pub(super) defrag: unsafe extern "C" fn(*mut Defrag, *mut Text, *mut *mut c_void) -> c_int,
    pub(super) mem_usage2: Option<unsafe extern "C" fn()>,
    pub(super) free_effort2: Option<unsafe extern "C" fn()>,
    pub(super) unlink2: Option<unsafe extern "C" fn()>,
    pub(super) copy2: Option<unsafe extern "C" fn()>,
}

pub(super) const TYPE_METHODS_VERSION: u64 = 4;

/// Sizes of the structs below, by which the server finds their ends.
#[repr(C)]
#[derive(Debug)]
pub(super) struct CommandInfoVersion {
    pub(super) version: c_int,
    pub(super) history_bytes: usize,
    pub(super) key_spec_bytes: usize,
    pub(super) argument_bytes: usize,
}

/// The server's knowledge of a command.
#[repr(C)]
#[derive(Debug)]
pub(super) struct CommandInfo {
    pub(super) version: *const CommandInfoVersion,
    pub(super) summary: *const c_char,
    pub(super) complexity: *const c_char,
    pub(super) since: *const c_char,
    pub(super) history: *const c_void,
    pub(super) tips: *const c_char,
    pub(super) arity: c_int,
    pub(super) key_specs: *const KeySpec,
    pub(super) arguments: *const c_void,
}

/// Which arguments of a command are keys. The unions of the interface are written out as their longest members.
#[repr(C)]
#[derive(Debug)]
pub(super) struct KeySpec {
    pub(super) notes: *const c_char,
    pub(super) flags: u64,
    pub(super) begin: c_int,
    pub(super) begin_at: BeginAt,
    pub(super) find: c_int,
    /// Of a range: last key, step, limit. Of a counted list: place of the number, first key, step.
    pub(super) find_by: [c_int; 3],
}

/// Where the keys begin: `index` alone for a place, padded to the size of the other member of the union.
#[repr(C, align(8))]
#[derive(Debug)]
pub(super) struct BeginAt {
    pub(super) index: c_int,
    pub(super) padding: [c_int; 3],
}

pub(super) const BEGIN_INDEX: c_int = 2;
pub(super) const FIND_RANGE: c_int = 2;
pub(super) const FIND_COUNTED: c_int = 3;

pub(super) const KEY_READ_ONLY: u64 = 1;
pub(super) const KEY_READ_WRITE: u64 = 1 << 1;
pub(super) const KEY_ACCESS: u64 = 1 << 4;
pub(super) const KEY_UPDATE: u64 = 1 << 5;

type GetApi = unsafe extern "C" fn(*const c_char, *mut *mut c_void) -> c_int;

type GetNumber = unsafe extern "C" fn(*const c_char, *mut c_void) -> c_longlong;
type SetNumber =
    unsafe extern "C" fn(*const c_char, c_longlong, *mut c_void, *mut *mut Text) -> c_int;
type GetText = unsafe extern "C" fn(*const c_char, *mut c_void) -> *mut Text;
type SetText = unsafe extern "C" fn(*const c_char, *mut Text, *mut c_void, *mut *mut Text) -> c_int;
type Apply = unsafe extern "C" fn(*mut Context, *mut c_void, *mut *mut Text) -> c_int;
type Run = unsafe extern "C" fn(*mut Context, *mut *mut Text, c_int) -> c_int;

/// Declares the functions: those that every server has, and those that only newer ones have.
macro_rules! functions {
    (
        required { $($field:ident: $name:literal = $signature:ty;)* }
        optional { $($newer:ident: $newer_name:literal = $newer_signature:ty;)* }
    ) => {
        /// The functions of the server.
        #[derive(Debug)]
        pub(super) struct Api {
            $(pub(super) $field: $signature,)*
            $(pub(super) $newer: Option<$newer_signature>,)*
        }

        impl Api {
            /// Asks the server for its functions. `None` if it lacks one.
            ///
            /// # Safety
            /// `get` is the function by which a server hands out those of its interface.
            unsafe fn load(get: GetApi) -> Option<Self> {
                Some(Self {
                    $($field: {
                        // SAFETY: as the caller promises.
                        let found = unsafe { find(get, concat!("RedisModule_", $name, "\0")) }?;
                        debug_assert_eq!(size_of::<$signature>(), size_of::<*mut c_void>());
                        // SAFETY: the server has a function of this signature by this name, and `found` is not null.
                        unsafe { std::mem::transmute::<*mut c_void, $signature>(found) }
                    },)*
                    $($newer: {
                        // SAFETY: as the caller promises.
                        let found = unsafe { find(get, concat!("RedisModule_", $newer_name, "\0")) };
                        debug_assert_eq!(size_of::<$newer_signature>(), size_of::<*mut c_void>());
                        // SAFETY: as above.
                        found.map(|found| unsafe {
                            std::mem::transmute::<*mut c_void, $newer_signature>(found)
                        })
                    },)*
                })
            }
        }
    };
}

functions! {
    required {
        set_module_attribs: "SetModuleAttribs" = unsafe extern "C" fn(*mut Context, *const c_char, c_int, c_int);
        is_module_name_busy: "IsModuleNameBusy" = unsafe extern "C" fn(*const c_char) -> c_int;
        set_module_options: "SetModuleOptions" = unsafe extern "C" fn(*mut Context, c_int);
        log: "Log" = unsafe extern "C" fn(*mut Context, *const c_char, *const c_char, ...);

        calloc: "Calloc" = unsafe extern "C" fn(usize, usize) -> *mut c_void;
        try_alloc: "TryAlloc" = unsafe extern "C" fn(usize) -> *mut c_void;
        realloc: "Realloc" = unsafe extern "C" fn(*mut c_void, usize) -> *mut c_void;
        free: "Free" = unsafe extern "C" fn(*mut c_void);
        malloc_size: "MallocSize" = unsafe extern "C" fn(*mut c_void) -> usize;
        get_server_info: "GetServerInfo" = unsafe extern "C" fn(*mut Context, *const c_char) -> *mut ServerInfo;
        free_server_info: "FreeServerInfo" = unsafe extern "C" fn(*mut Context, *mut ServerInfo);
        server_info_unsigned: "ServerInfoGetFieldUnsigned" = unsafe extern "C" fn(*mut ServerInfo, *const c_char, *mut c_int) -> u64;

        create_command: "CreateCommand" = unsafe extern "C" fn(*mut Context, *const c_char, Run, *const c_char, c_int, c_int, c_int) -> c_int;
        get_command: "GetCommand" = unsafe extern "C" fn(*mut Context, *const c_char) -> *mut Command;
        set_command_info: "SetCommandInfo" = unsafe extern "C" fn(*mut Command, *const CommandInfo) -> c_int;
        context_flags: "GetContextFlags" = unsafe extern "C" fn(*mut Context) -> c_int;
        wrong_arity: "WrongArity" = unsafe extern "C" fn(*mut Context) -> c_int;
        is_keys_request: "IsKeysPositionRequest" = unsafe extern "C" fn(*mut Context) -> c_int;
        key_at: "KeyAtPos" = unsafe extern "C" fn(*mut Context, c_int);
        text_bytes: "StringPtrLen" = unsafe extern "C" fn(*const Text, *mut usize) -> *const c_char;
        create_text: "CreateString" = unsafe extern "C" fn(*mut Context, *const c_char, usize) -> *mut Text;
        free_text: "FreeString" = unsafe extern "C" fn(*mut Context, *mut Text);

        reply_integer: "ReplyWithLongLong" = unsafe extern "C" fn(*mut Context, c_longlong) -> c_int;
        reply_bool: "ReplyWithBool" = unsafe extern "C" fn(*mut Context, c_int) -> c_int;
        reply_double: "ReplyWithDouble" = unsafe extern "C" fn(*mut Context, c_double) -> c_int;
        reply_null: "ReplyWithNull" = unsafe extern "C" fn(*mut Context) -> c_int;
        reply_error: "ReplyWithError" = unsafe extern "C" fn(*mut Context, *const c_char) -> c_int;
        reply_simple: "ReplyWithSimpleString" = unsafe extern "C" fn(*mut Context, *const c_char) -> c_int;
        reply_bytes: "ReplyWithStringBuffer" = unsafe extern "C" fn(*mut Context, *const c_char, usize) -> c_int;
        reply_array: "ReplyWithArray" = unsafe extern "C" fn(*mut Context, i64) -> c_int;
        reply_map: "ReplyWithMap" = unsafe extern "C" fn(*mut Context, i64) -> c_int;

        open_key: "OpenKey" = unsafe extern "C" fn(*mut Context, *mut Text, c_int) -> *mut Key;
        close_key: "CloseKey" = unsafe extern "C" fn(*mut Key);
        key_type: "KeyType" = unsafe extern "C" fn(*mut Key) -> c_int;
        delete_key: "DeleteKey" = unsafe extern "C" fn(*mut Key) -> c_int;
        value_type: "ModuleTypeGetType" = unsafe extern "C" fn(*mut Key) -> *mut Type;
        value: "ModuleTypeGetValue" = unsafe extern "C" fn(*mut Key) -> *mut c_void;
        set_value: "ModuleTypeSetValue" = unsafe extern "C" fn(*mut Key, *mut Type, *mut c_void) -> c_int;
        expiry: "GetAbsExpire" = unsafe extern "C" fn(*mut Key) -> c_longlong;
        set_expiry: "SetAbsExpire" = unsafe extern "C" fn(*mut Key, c_longlong) -> c_int;
        create_type: "CreateDataType" = unsafe extern "C" fn(*mut Context, *const c_char, c_int, *const TypeMethods) -> *mut Type;

        replicate_verbatim: "ReplicateVerbatim" = unsafe extern "C" fn(*mut Context) -> c_int;
        replicate: "Replicate" = unsafe extern "C" fn(*mut Context, *const c_char, *const c_char, ...) -> c_int;
        notify: "NotifyKeyspaceEvent" = unsafe extern "C" fn(*mut Context, c_int, *const c_char, *mut Text) -> c_int;

        save_bytes: "SaveStringBuffer" = unsafe extern "C" fn(*mut Io, *const c_char, usize);
        load_bytes: "LoadStringBuffer" = unsafe extern "C" fn(*mut Io, *mut usize) -> *mut c_char;
        save_unsigned: "SaveUnsigned" = unsafe extern "C" fn(*mut Io, u64);
        load_unsigned: "LoadUnsigned" = unsafe extern "C" fn(*mut Io) -> u64;
        save_double: "SaveDouble" = unsafe extern "C" fn(*mut Io, c_double);
        load_double: "LoadDouble" = unsafe extern "C" fn(*mut Io) -> c_double;
        is_io_error: "IsIOError" = unsafe extern "C" fn(*mut Io) -> c_int;
        log_io_error: "LogIOError" = unsafe extern "C" fn(*mut Io, *const c_char, *const c_char, ...);
        emit_aof: "EmitAOF" = unsafe extern "C" fn(*mut Io, *const c_char, *const c_char, ...);
        digest_bytes: "DigestAddStringBuffer" = unsafe extern "C" fn(*mut Digest, *const c_char, usize);
        digest_end: "DigestEndSequence" = unsafe extern "C" fn(*mut Digest);
        defrag_alloc: "DefragAlloc" = unsafe extern "C" fn(*mut Defrag, *mut c_void) -> *mut c_void;

        register_number: "RegisterNumericConfig" = unsafe extern "C" fn(*mut Context, *const c_char, c_longlong, u32, c_longlong, c_longlong, GetNumber, SetNumber, Option<Apply>, *mut c_void) -> c_int;
        register_text: "RegisterStringConfig" = unsafe extern "C" fn(*mut Context, *const c_char, *const c_char, u32, GetText, SetText, Option<Apply>, *mut c_void) -> c_int;
        load_configs: "LoadConfigs" = unsafe extern "C" fn(*mut Context) -> c_int;
    }
    optional {
        try_calloc: "TryCalloc" = unsafe extern "C" fn(usize, usize) -> *mut c_void;
        add_acl_category: "AddACLCategory" = unsafe extern "C" fn(*mut Context, *const c_char) -> c_int;
        set_acl_categories: "SetCommandACLCategories" = unsafe extern "C" fn(*mut Command, *const c_char) -> c_int;
    }
}

/// Returns the function of a name that ends with a zero byte.
///
/// # Safety
/// As [`Api::load`].
unsafe fn find(get: GetApi, name: &'static str) -> Option<*mut c_void> {
    debug_assert!(name.ends_with('\0'));
    let mut found = ptr::null_mut();
    // SAFETY: `name` ends with a zero byte, and `found` is a place for a pointer.
    let status = unsafe { get(name.as_ptr().cast(), &raw mut found) };
    (status == OK && !found.is_null()).then_some(found)
}

static API: OnceLock<Api> = OnceLock::new();

/// Takes the functions of the server out of the context of `RedisModule_OnLoad`. Returns `false` if it lacks one.
///
/// # Safety
/// `context` is what the server calls `RedisModule_OnLoad` with.
pub(super) unsafe fn connect(context: *mut Context) -> bool {
    // SAFETY: the first field of a context is the function that hands out the others.
    let get = unsafe { *context.cast::<Option<GetApi>>() };
    // SAFETY: it is that function.
    let api = get.and_then(|get| unsafe { Api::load(get) });
    // A second load of the module, after an unload, keeps the functions of the first.
    api.is_some_and(|api| API.set(api).is_ok() || API.get().is_some())
}

/// Returns the functions of the server, `None` before the module is loaded.
pub(super) fn get() -> Option<&'static Api> {
    API.get()
}

/// Returns the functions of the server.
///
/// # Panics
/// If the module is not loaded. The server calls nothing before.
#[inline]
pub(super) fn api() -> &'static Api {
    API.get().expect("the server loads a module before it calls it")
}
