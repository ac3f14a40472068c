//! The stream of a value: a few numbers, and the portable bytes of the structure.
//!
//! Every byte of it is covered by a checksum: the numbers by one of their own, the rest by those of the portable format.

use std::io::{self, Read, Write};

use pds_core::bytes::ByteOptions;
use pds_core::hash::{DefaultHashBuilder, KeyHasher as _, Raw};

use crate::server::{Digest, Load, LoadStream, Pieces, Save};

/// The first bytes of a stream: name and version.
const MAGIC: [u8; 4] = *b"pds\x01";

/// The server limits strings and memory; no envelope is too long for it.
pub(crate) const ANY_LENGTH: ByteOptions = ByteOptions::new().max_bytes(u64::MAX);

/// The most numbers before the portable bytes.
const MAX_NUMBERS: usize = 8;

/// A value that has such a stream.
pub(crate) trait Streamed: Sized {
    /// Writes the stream.
    fn write_stream<W: Write>(&self, out: W) -> io::Result<()>;

    /// Reads the stream, and nothing behind it.
    ///
    /// # Errors
    /// A text that says what is wrong.
    fn read_stream<R: Read>(input: R) -> Result<Self, String>;
}

/// Returns the checksum of bytes.
pub(crate) fn checksum(bytes: &[u8]) -> u64 {
    DefaultHashBuilder::with_seed(0).hash_key(&Raw(bytes))
}

/// Writes the head of a stream: which layout follows, and its numbers.
pub(crate) fn write_head<W: Write>(mut out: W, layout: u8, numbers: &[u64]) -> io::Result<()> {
    debug_assert!(numbers.len() <= MAX_NUMBERS);
    let mut head = MAGIC.to_vec();
    head.push(layout);
    head.push(u8::try_from(numbers.len()).map_err(io::Error::other)?);
    numbers.iter().for_each(|number| head.extend(number.to_le_bytes()));
    head.extend(checksum(&head).to_le_bytes());
    out.write_all(&head)
}

/// Reads the head of a stream.
pub(crate) fn read_head<R: Read>(mut input: R) -> Result<(u8, Vec<u64>), String> {
    let mut head = vec![0; MAGIC.len() + 2];
    input.read_exact(&mut head).map_err(|error| error.to_string())?;
    let (layout, count) = (head[MAGIC.len()], usize::from(head[MAGIC.len() + 1]));
    if head[..MAGIC.len()] != MAGIC || count > MAX_NUMBERS {
        return Err("the value does not begin as those of this module".into());
    }
    let begin = head.len();
    head.resize(begin + 8 * count + 8, 0);
    input.read_exact(&mut head[begin..]).map_err(|error| error.to_string())?;
    let numbers: Vec<u64> =
        head[begin..].as_chunks().0.iter().map(|&bytes| u64::from_le_bytes(bytes)).collect();
    let Some((&stored, numbers)) = numbers.split_last() else { return Err("no checksum".into()) };
    if stored != checksum(&head[..head.len() - 8]) {
        return Err("the checksum of the head is wrong".into());
    }
    Ok((layout, numbers.to_vec()))
}

/// Writes a head, and bytes that have no checksum of their own.
pub(crate) fn write_bytes<W: Write>(
    mut out: W,
    layout: u8,
    numbers: &[u64],
    bytes: &[u8],
) -> io::Result<()> {
    let numbers = [numbers, &[bytes.len() as u64, checksum(bytes)]].concat();
    write_head(&mut out, layout, &numbers)?;
    out.write_all(bytes)
}

/// Reads the bytes whose length and checksum are the last numbers of a head. Allocates no more than arrives.
pub(crate) fn read_bytes<R: Read>(input: R, length: u64, sum: u64) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let taken = input.take(length).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    if taken as u64 == length && checksum(&bytes) == sum {
        Ok(bytes)
    } else {
        Err("the checksum of the value is wrong".into())
    }
}

/// Writes the stream of a value into a snapshot, in pieces.
pub(crate) fn save<V: Streamed>(value: &V, file: &mut Save<'_>) {
    let mut pieces = Pieces::new(|piece: &[u8]| file.bytes(piece));
    // The pieces take everything; errors of the file are the server's to report.
    let _ = value.write_stream(&mut pieces);
    pieces.end();
}

/// Reads the stream of a value from a snapshot.
pub(crate) fn load<V: Streamed>(file: &mut Load<'_>) -> Result<V, String> {
    let mut stream = LoadStream::new(file);
    let value = V::read_stream(&mut stream)?;
    if stream.is_at_end() { Ok(value) } else { Err("bytes behind the value".into()) }
}

/// Feeds the stream of a value to a digest.
pub(crate) fn digest<V: Streamed>(value: &V, digest: &mut Digest<'_>) {
    let mut pieces = Pieces::new(|piece: &[u8]| digest.bytes(piece));
    let _ = value.write_stream(&mut pieces);
    pieces.end();
}

/// Returns the length of the stream of a value in bytes.
pub(crate) fn length<V: Streamed>(value: &V) -> u64 {
    /// Counts what is written.
    struct Count(u64);
    impl Write for Count {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 += bytes.len() as u64;
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut count = Count(0);
    let _ = value.write_stream(&mut count);
    count.0
}

/// Returns the bytes of the stream of a value from an offset on, at most so many.
pub(crate) fn window<V: Streamed>(value: &V, offset: u64, most: usize) -> Vec<u8> {
    /// Keeps a window of what is written, and ends the writing behind it.
    struct Window {
        skip: u64,
        most: usize,
        bytes: Vec<u8>,
    }
    impl Write for Window {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let skipped = self.skip.min(bytes.len() as u64);
            self.skip -= skipped;
            let rest = &bytes[usize::try_from(skipped).map_err(io::Error::other)?..];
            let taken = rest.len().min(self.most - self.bytes.len());
            self.bytes.extend_from_slice(&rest[..taken]);
            if self.bytes.len() == self.most {
                return Err(io::Error::other("the window is full"));
            }
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut window = Window { skip: offset, most, bytes: Vec::new() };
    let _ = value.write_stream(&mut window);
    window.bytes
}
