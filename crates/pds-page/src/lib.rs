#![doc = include_str!("../README.md")]
// The exports of the module need attributes that the compiler counts as unsafe; no code is.
#![deny(unsafe_code)]

extern crate alloc;

mod calculator;
mod demo;
#[cfg(target_family = "wasm")]
mod exports;
#[cfg(not(target_family = "wasm"))]
mod files;
mod json;
#[cfg(not(target_family = "wasm"))]
mod server;
mod session;

#[cfg(not(target_family = "wasm"))]
pub use files::{FILES, File};
#[cfg(not(target_family = "wasm"))]
pub use server::Server;
pub use session::{Answer, Session};
