//! The interface to the server: the one part of the module with `unsafe` code.
//!
//! It follows the public interface of modules of Redis 7.0, which Valkey kept. Functions that came later are asked for by
//! name, and left out where the server lacks them.

// The interface is one of C.
#![allow(unsafe_code)]

mod api;
mod call;
mod commands;
mod config;
mod io;
mod keys;
mod memory;
mod types;

use std::ffi::c_int;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::slice;

pub(crate) use call::{Call, Failure, Outcome, RawArguments, RawContext, door, run};
pub(crate) use commands::{Command, Effect, Keys, command};
pub(crate) use config::{cuckoo_size, error_rate, expansion, initial_size};
pub(crate) use io::{Digest, Load, LoadStream, PIECE_BYTES, Pieces, Rewrite, Save};
pub(crate) use keys::{TypeName, Value, Writing};

use api::{Context, Text, api};

/// The name under which clients look for the module.
const NAME: &std::ffi::CStr = c"bf";

/// The version that clients see. They use the commands of RedisBloom from 2.8 on, which is 20800.
const VERSION: c_int = 20_900;

/// The module while it is loaded, which registers types and commands.
#[derive(Debug)]
pub(crate) struct Registry(*mut Context);

impl Registry {
    /// Registers the types of a value. Returns whether the server took them.
    pub(crate) fn types<V: Value>(&mut self) -> bool {
        types::register::<V>(self.0)
    }

    /// Registers commands in an ACL category. Returns whether the server took them.
    pub(crate) fn commands(&mut self, category: &str, commands: &[Command]) -> bool {
        commands::register(self.0, category, commands)
    }
}

/// Loads the module.
///
/// # Safety
/// Only the server calls it, once for each load.
#[unsafe(no_mangle)]
// The name that the server looks for.
pub(crate) unsafe extern "C" fn RedisModule_OnLoad(
    context: *mut ModuleContext,
    arguments: *const *mut ModuleText,
    count: c_int,
) -> c_int {
    let context = context.cast::<Context>();
    // SAFETY: the server calls this function with its context.
    if context.is_null() || !unsafe { api::connect(context) } {
        return api::ERR;
    }
    // SAFETY: the name ends with a zero byte.
    if unsafe { (api().is_module_name_busy)(NAME.as_ptr()) } != 0 {
        return api::ERR;
    }
    // SAFETY: as above.
    unsafe { (api().set_module_attribs)(context, NAME.as_ptr(), VERSION, api::API_VERSION) };
    // SAFETY: a damaged value is reported, and does not end the server.
    unsafe { (api().set_module_options)(context, api::HANDLE_IO_ERRORS) };
    let count = usize::try_from(count).unwrap_or(0);
    let texts: &[*mut Text] = if count == 0 {
        &[]
    } else {
        debug_assert!(!arguments.is_null());
        // SAFETY: the server passes `count` pointers to strings, which live until this function returns.
        unsafe { slice::from_raw_parts(arguments.cast(), count) }
    };
    let loaded = catch_unwind(AssertUnwindSafe(|| {
        let arguments: Vec<&[u8]> = texts.iter().map(|&text| call::bytes_of(text)).collect();
        config::register(context, &arguments)?;
        if crate::register(&mut Registry(context)) {
            Ok(())
        } else {
            Err("the server refused a type or a command: is another module loaded that has it?"
                .into())
        }
    }));
    match loaded.unwrap_or_else(|_| Err("internal error of the module".to_string())) {
        Ok(()) => api::OK,
        Err(error) => {
            call::log(context, "warning", &error);
            api::ERR
        }
    }
}

/// The context of the load, which only the server can look into.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct ModuleContext {
    _private: [u8; 0],
}

/// A string of the server, which only it can look into.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct ModuleText {
    _private: [u8; 0],
}
