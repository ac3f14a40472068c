//! Dumps in chunks: a header, and then tables that are cut into pieces.

use alloc::vec::Vec;

use crate::FormatError;
use crate::memory::reserved;

/// The longest piece of a table.
const MAX_BYTES: usize = 16 << 20;

/// A chunk of a dump, as `SCANDUMP` returns and `LOADCHUNK` takes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chunk<D = Vec<u8>> {
    /// 1 for the header. For a piece of a table, 1 more than the number of bytes of all pieces so far, itself included.
    pub iterator: i64,
    /// The bytes.
    pub data: D,
}

/// Joins chunks, whose iterators must fit.
pub(super) fn join<D: AsRef<[u8]>>(
    format: &'static str,
    chunks: &[Chunk<D>],
) -> Result<Vec<u8>, FormatError> {
    let all = chunks.iter().map(|chunk| chunk.data.as_ref().len() as u64).sum();
    let mut bytes = reserved(all).map_err(|error| FormatError::alloc(format, error))?;
    let mut expected = 1;
    for (number, chunk) in chunks.iter().enumerate() {
        let data = chunk.data.as_ref();
        if number > 0 {
            expected += length(data);
        }
        if chunk.iterator != expected {
            let (offset, allowed) = (bytes.len() as u64, alloc::format!("{expected}"));
            let field = "iterator of the chunk";
            return Err(FormatError::invalid(format, field, offset, chunk.iterator, allowed));
        }
        bytes.extend_from_slice(data);
    }
    Ok(bytes)
}

fn length(bytes: &[u8]) -> i64 {
    i64::try_from(bytes.len()).expect("memory has less than 2^63 bytes")
}

/// Cuts tables into chunks behind a header. No chunk has bytes of two tables.
pub(super) fn split(header: Vec<u8>, tables: impl Iterator<Item = Vec<u8>>) -> Vec<Chunk> {
    let mut chunks = alloc::vec![Chunk { iterator: 1, data: header }];
    let mut iterator = 1;
    for table in tables {
        for piece in table.chunks(MAX_BYTES) {
            iterator += length(piece);
            chunks.push(Chunk { iterator, data: piece.to_vec() });
        }
    }
    chunks
}
