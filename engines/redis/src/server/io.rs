//! Snapshots, append-only files and digests of values.

use std::ffi::{c_char, c_longlong};
use std::io::{self, Read, Write};
use std::marker::PhantomData;
use std::slice;

use super::api::{self, Io, Text, api};

/// Bytes of a piece. No string of a snapshot or an append-only file is longer, so that neither side needs the value twice.
pub(crate) const PIECE_BYTES: usize = 1 << 20;

/// A snapshot that is written.
#[derive(Debug)]
pub(crate) struct Save<'a>(pub(super) *mut Io, pub(super) PhantomData<&'a ()>);

impl Save<'_> {
    /// Writes a number.
    pub(crate) fn unsigned(&mut self, number: u64) {
        // SAFETY: the server passes an open file.
        unsafe { (api().save_unsigned)(self.0, number) };
    }

    /// Writes a floating-point number.
    pub(crate) fn double(&mut self, number: f64) {
        // SAFETY: as above.
        unsafe { (api().save_double)(self.0, number) };
    }

    /// Writes a string of bytes.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        // SAFETY: as above; the server copies the bytes.
        unsafe { (api().save_bytes)(self.0, bytes.as_ptr().cast(), bytes.len()) };
    }
}

/// A snapshot that is read.
#[derive(Debug)]
pub(crate) struct Load<'a>(pub(super) *mut Io, pub(super) PhantomData<&'a ()>);

/// The error of a snapshot that ends too early, or has a value of another kind.
const CUT_OFF: &str = "the value ends too early";

impl Load<'_> {
    fn checked<T>(&self, value: T) -> Result<T, String> {
        // SAFETY: the server passes an open file.
        if unsafe { (api().is_io_error)(self.0) } == 0 { Ok(value) } else { Err(CUT_OFF.into()) }
    }

    /// Reads a number.
    pub(crate) fn unsigned(&mut self) -> Result<u64, String> {
        // SAFETY: as above.
        let number = unsafe { (api().load_unsigned)(self.0) };
        self.checked(number)
    }

    /// Reads a floating-point number.
    pub(crate) fn double(&mut self) -> Result<f64, String> {
        // SAFETY: as above.
        let number = unsafe { (api().load_double)(self.0) };
        self.checked(number)
    }

    /// Reads a string of bytes.
    pub(crate) fn bytes(&mut self) -> Result<Piece, String> {
        let mut len = 0;
        // SAFETY: as above.
        let first = unsafe { (api().load_bytes)(self.0, &raw mut len) };
        let piece = Piece { first, len };
        self.checked(())?;
        if first.is_null() { Err(CUT_OFF.into()) } else { Ok(piece) }
    }
}

/// A string that the server has read, and that is given back to it.
#[derive(Debug)]
pub(crate) struct Piece {
    first: *mut c_char,
    len: usize,
}

impl std::ops::Deref for Piece {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        if self.first.is_null() {
            return &[];
        }
        // SAFETY: the server has allocated that many bytes, which nobody else knows.
        unsafe { slice::from_raw_parts(self.first.cast(), self.len) }
    }
}

impl Drop for Piece {
    fn drop(&mut self) {
        if !self.first.is_null() {
            // SAFETY: it came from the server's allocator, and is given back once.
            unsafe { (api().free)(self.first.cast()) };
        }
    }
}

/// A stream of bytes that is cut into pieces.
pub(crate) struct Pieces<F> {
    piece: Vec<u8>,
    take: F,
}

impl<F: FnMut(&[u8])> Pieces<F> {
    /// Passes the stream to `take`, in pieces of at most [`PIECE_BYTES`].
    pub(crate) fn new(take: F) -> Self {
        Self { piece: Vec::new(), take }
    }

    /// Passes the last piece.
    pub(crate) fn end(mut self) {
        if !self.piece.is_empty() {
            (self.take)(&self.piece);
        }
    }
}

impl<F: FnMut(&[u8])> Write for Pieces<F> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = bytes.len().min(PIECE_BYTES - self.piece.len());
        self.piece.extend_from_slice(&bytes[..taken]);
        if self.piece.len() == PIECE_BYTES {
            (self.take)(&self.piece);
            self.piece.clear();
        }
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The pieces of a snapshot as a stream.
pub(crate) struct LoadStream<'a, 'b> {
    file: &'a mut Load<'b>,
    piece: Option<Piece>,
    taken: usize,
}

impl<'a, 'b> LoadStream<'a, 'b> {
    /// Reads the pieces that follow in `file`.
    pub(crate) const fn new(file: &'a mut Load<'b>) -> Self {
        Self { file, piece: None, taken: 0 }
    }

    /// Returns whether the last piece was read to its end.
    pub(crate) fn is_at_end(&self) -> bool {
        self.piece.as_ref().is_none_or(|piece| piece.len() == self.taken)
    }
}

impl Read for LoadStream<'_, '_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.is_at_end() {
            let piece = self.file.bytes().map_err(io::Error::other)?;
            // Only the last piece may be shorter, and none is empty.
            let follows_short = self.piece.as_ref().is_some_and(|last| last.len() != PIECE_BYTES);
            if piece.is_empty() || piece.len() > PIECE_BYTES || follows_short {
                return Err(io::Error::other("a piece has a wrong length"));
            }
            (self.piece, self.taken) = (Some(piece), 0);
        }
        let left = self.piece.as_deref().map_or(&[][..], |piece| &piece[self.taken..]);
        let count = left.len().min(out.len());
        out[..count].copy_from_slice(&left[..count]);
        self.taken += count;
        Ok(count)
    }
}

/// An append-only file that is written anew.
#[derive(Debug)]
pub(crate) struct Rewrite<'a> {
    pub(super) file: *mut Io,
    pub(super) key: *mut Text,
    pub(super) life: PhantomData<&'a ()>,
}

impl Rewrite<'_> {
    /// Writes a command with the key, a number, and bytes.
    pub(crate) fn chunk(&mut self, command: &std::ffi::CStr, number: i64, bytes: &[u8]) {
        // SAFETY: the server passes an open file and the name of the key. `s` takes a string, `l` a number, `b` bytes and
        // their number.
        unsafe {
            (api().emit_aof)(
                self.file,
                command.as_ptr(),
                c"slb".as_ptr(),
                self.key,
                c_longlong::from(number),
                bytes.as_ptr().cast::<c_char>(),
                bytes.len(),
            )
        };
    }
}

/// A digest for `DEBUG DIGEST`.
#[derive(Debug)]
pub(crate) struct Digest<'a>(pub(super) *mut api::Digest, pub(super) PhantomData<&'a ()>);

impl Digest<'_> {
    /// Adds bytes.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        // SAFETY: the server passes an open digest, and copies the bytes.
        unsafe { (api().digest_bytes)(self.0, bytes.as_ptr().cast(), bytes.len()) };
    }

    pub(super) fn end(&mut self) {
        // SAFETY: as above.
        unsafe { (api().digest_end)(self.0) };
    }
}

/// Writes a text to the log of the server, beside the name of the file.
pub(super) fn log_failure(file: *mut Io, text: &str) {
    let text = std::ffi::CString::new(text.replace('\0', " ")).unwrap_or_default();
    // SAFETY: the server passes an open file. The text is passed as an argument, not as the format.
    unsafe { (api().log_io_error)(file, c"warning".as_ptr(), c"%s".as_ptr(), text.as_ptr()) };
}
