//! Functions of the WebAssembly module.
//!
//! The page writes a request into the memory that `input` returns, calls `ask`, and reads the answer. All numbers are lengths and
//! addresses in the memory of the module.

#![expect(
    unsafe_code,
    reason = "a name that the linker keeps is declared by an attribute that counts as unsafe"
)]

use core::cell::RefCell;

use crate::session::{Answer, Session};

#[derive(Default)]
struct State {
    input: Vec<u8>,
    session: Session,
    answer: Answer,
}

std::thread_local! {
    static STATE: RefCell<State> = RefCell::default();
}

fn with<T>(act: impl FnOnce(&mut State) -> T) -> T {
    STATE.with_borrow_mut(act)
}

/// Makes room for an input of `length` bytes, and returns its address.
#[unsafe(no_mangle)]
extern "C" fn input(length: usize) -> *mut u8 {
    with(|state| {
        state.input.clear();
        state.input.resize(length, 0);
        state.input.as_mut_ptr()
    })
}

/// Answers the input, whose first `length` bytes are the request. Lines of a file follow.
#[unsafe(no_mangle)]
extern "C" fn ask(length: usize) {
    with(|state| {
        let (request, lines) = state.input.split_at(length.min(state.input.len()));
        state.answer = state.session.ask(request, lines);
    });
}

/// Returns the address of the answer's text.
#[unsafe(no_mangle)]
extern "C" fn text() -> *const u8 {
    with(|state| state.answer.text.as_ptr())
}

/// Returns the length of the answer's text.
#[unsafe(no_mangle)]
extern "C" fn text_length() -> usize {
    with(|state| state.answer.text.len())
}

/// Returns the address of the answer's bytes.
#[unsafe(no_mangle)]
extern "C" fn bytes() -> *const u8 {
    with(|state| state.answer.bytes.as_ptr())
}

/// Returns the length of the answer's bytes.
#[unsafe(no_mangle)]
extern "C" fn bytes_length() -> usize {
    with(|state| state.answer.bytes.len())
}
