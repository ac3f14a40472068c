//! Values in chunks: `SCANDUMP` and `LOADCHUNK`, and append-only files.
//!
//! The protocol is that of RedisBloom: the first chunk has the iterator 1, and each further one has 1 more than the number
//! of bytes of all further chunks so far, itself included. What arrives is kept under the key as [`Parts`] until it is
//! complete. So a value is there as a whole or not at all, and it is verified before it answers.

use std::ffi::CStr;
use std::io::{self, Read, Write};

use crate::arguments::integer;
use crate::record::{self, Streamed};
use crate::server::{
    Call, Digest, Failure, Load, Outcome, PIECE_BYTES, Pieces, Rewrite, Save, TypeName, Value,
    Writing,
};

/// The longest chunk of `SCANDUMP`, that of RedisBloom.
const MAX_CHUNK: usize = 16 << 20;

/// The first chunk of a stream of this module: this, the length of the stream, and a checksum of both.
const FIRST_CHUNK: &[u8; 8] = b"pds-dump";

/// A value that comes in chunks.
pub(crate) trait Chunked: Value + Streamed {
    /// The number of the family, in the stream of parts.
    const FAMILY: u64;
    /// The reply to a first chunk for a key that has a value.
    const EXISTS: &'static str = "ERR item exists";
    /// The reply to a chunk for a key that has no value.
    const NOT_FOUND: &'static str = "ERR not found";
    /// The reply to chunks that are wrong.
    const BAD: &'static str = "ERR received bad data";

    /// Returns the number of bytes that follow a first chunk of RedisBloom. `None` if it is no such chunk.
    fn foreign_length(_first: &[u8]) -> Option<u64> {
        None
    }

    /// Reads a value from chunks of RedisBloom: the first one, and all others joined.
    fn from_foreign(_first: &[u8], _rest: &[u8]) -> Option<Self> {
        None
    }

    /// Returns the chunks of RedisBloom, with their iterators. `None` if the value is dumped as a stream of this module.
    fn foreign_chunks(&self) -> Option<Vec<(i64, Vec<u8>)>> {
        None
    }
}

/// The commands that load chunks, by the numbers of the families.
pub(crate) const LOADERS: [&CStr; 6] = [
    c"PDS.UNKNOWN",
    c"BF.LOADCHUNK",
    c"CF.LOADCHUNK",
    c"CMS.LOADCHUNK",
    c"TOPK.LOADCHUNK",
    c"ULL.LOADCHUNK",
];

/// The chunks of a value that is not complete.
#[derive(Debug)]
pub(crate) struct Parts {
    family: u64,
    /// The first chunk of RedisBloom. Empty for a stream of this module.
    first: Vec<u8>,
    /// The number of bytes that all further chunks will have.
    total: u64,
    bytes: Vec<u8>,
}

static TYPES: [TypeName; 1] = [TypeName::new("pds-parts", 0)];

/// Returns the first chunk of a stream of this length.
fn first_chunk(length: u64) -> Vec<u8> {
    let mut chunk = FIRST_CHUNK.to_vec();
    chunk.extend(length.to_le_bytes());
    chunk.extend(record::checksum(&chunk).to_le_bytes());
    chunk
}

/// Returns the length of the stream that a first chunk of this module announces.
fn announced(chunk: &[u8]) -> Option<u64> {
    let length = chunk.get(8..16)?.try_into().ok().map(u64::from_le_bytes)?;
    (first_chunk(length) == chunk).then_some(length)
}

impl Parts {
    /// Keeps a first chunk. `None` if it is none.
    fn begin<V: Chunked>(chunk: &[u8]) -> Option<Self> {
        let (first, total) = match announced(chunk) {
            Some(length) => (Vec::new(), length),
            None => (chunk.to_vec(), V::foreign_length(chunk)?),
        };
        Some(Self { family: V::FAMILY, first, total, bytes: Vec::new() })
    }

    /// Appends a further chunk. Returns `false` if it is not the next one, and changes nothing then.
    fn append<V: Chunked>(&mut self, iterator: i64, chunk: &[u8]) -> bool {
        let end = self.bytes.len() as u64 + chunk.len() as u64;
        let is_next = self.family == V::FAMILY
            && u64::try_from(iterator).is_ok_and(|iterator| iterator == end + 1)
            && !chunk.is_empty()
            && end <= self.total
            && self.bytes.try_reserve(chunk.len()).is_ok();
        if is_next {
            self.bytes.extend_from_slice(chunk);
        }
        is_next
    }

    const fn is_complete(&self) -> bool {
        self.bytes.len() as u64 == self.total
    }

    /// Reads the value.
    fn value<V: Chunked>(&self) -> Option<V> {
        if !self.first.is_empty() {
            return V::from_foreign(&self.first, &self.bytes);
        }
        let mut rest = self.bytes.as_slice();
        V::read_stream(&mut rest).ok().filter(|_| rest.is_empty())
    }
}

/// `LOADCHUNK key iterator bytes`.
pub(crate) fn load_chunk<V: Chunked>(call: &mut Call<'_>) -> Outcome {
    if call.len() != 4 {
        return Err(Failure::Arity);
    }
    let Some(iterator) = integer(call.argument(2)) else {
        return Err("ERR Second argument must be numeric".into());
    };
    let chunk = call.argument(3);
    let mut key: Writing<'_, Parts> = match call.write(1) {
        Ok(key) => key,
        Err(wrong) => return Err(if call.read::<V>(1).is_ok() { V::EXISTS.into() } else { wrong }),
    };
    if key.value().is_none() {
        if iterator != 1 {
            return Err(V::NOT_FOUND.into());
        }
        let has_begun = call.within_limits(0, || key.put(|| Parts::begin::<V>(chunk).ok_or(())));
        has_begun.map_err(|()| V::BAD)?;
    } else {
        let has = key.bytes();
        let is_next =
            call.within_limits(has, || key.change(|parts| parts.append::<V>(iterator, chunk)));
        if is_next != Some(true) {
            return Err(V::BAD.into());
        }
    }
    finish::<V>(call, &mut key, chunk.len())?;
    call.ok();
    call.changed(1, c"loadchunk");
    Ok(())
}

/// Puts the value in the place of its parts if they are complete. Takes the last chunk back if they are wrong.
fn finish<V: Chunked>(call: &Call<'_>, key: &mut Writing<'_, Parts>, last: usize) -> Outcome {
    let Some(parts) = key.value().filter(|parts| parts.is_complete()) else { return Ok(()) };
    let is_empty = parts.bytes.is_empty();
    if call.within_limits(0, || key.replace(Parts::value::<V>)) {
        return Ok(());
    }
    if is_empty {
        key.delete();
    } else {
        key.change(|parts| parts.bytes.truncate(parts.bytes.len() - last));
    }
    Err(V::BAD.into())
}

/// `SCANDUMP key iterator`.
pub(crate) fn scan_dump<V: Chunked>(call: &mut Call<'_>) -> Outcome {
    if call.len() != 3 {
        return Err(Failure::Arity);
    }
    let value = call.read::<V>(1)?.ok_or(V::NOT_FOUND)?;
    let iterator = integer(call.argument(2)).ok_or("Second argument must be numeric")?;
    // Any iterator behind the end is the end.
    let iterator = u64::try_from(iterator).unwrap_or(u64::MAX);
    if let Some(chunks) = value.foreign_chunks() {
        let at = iterator.cast_signed();
        // Each chunk begins where the one before it ends; the first one is asked for by 0.
        let begins = [0].into_iter().chain(chunks.iter().map(|&(end, _)| end));
        let found = begins.zip(&chunks).find(|&(begin, _)| begin == at);
        call.list(2);
        call.integer(found.map_or(0, |(_, &(end, _))| end));
        call.bytes(found.map_or(&[], |(_, (_, data))| data));
        return Ok(());
    }
    let chunk = match iterator {
        0 => first_chunk(record::length(&*value)),
        _ => record::window(&*value, iterator - 1, MAX_CHUNK),
    };
    let next = match (iterator, chunk.len() as u64) {
        (0, _) => 1,
        (_, 0) => 0,
        (_, len) => iterator.saturating_add(len),
    };
    call.list(2);
    call.count(next);
    call.bytes(&chunk);
    Ok(())
}

/// Writes the chunks of a value into an append-only file.
pub(crate) fn rewrite<V: Chunked>(value: &V, file: &mut Rewrite<'_>) {
    let command = LOADERS[usize::try_from(V::FAMILY).unwrap_or(0)];
    if let Some(chunks) = value.foreign_chunks() {
        return chunks.iter().for_each(|(iterator, data)| file.chunk(command, *iterator, data));
    }
    file.chunk(command, 1, &first_chunk(record::length(value)));
    let mut iterator = 1;
    let mut pieces = Pieces::new(|piece: &[u8]| {
        iterator += i64::try_from(piece.len()).unwrap_or(0);
        file.chunk(command, iterator, piece);
    });
    let _ = value.write_stream(&mut pieces);
    pieces.end();
}

impl Streamed for Parts {
    fn write_stream<W: Write>(&self, mut out: W) -> io::Result<()> {
        let lengths = [self.first.len() as u64, self.bytes.len() as u64];
        let sums = [record::checksum(&self.first), record::checksum(&self.bytes)];
        let numbers = [self.family, self.total, lengths[0], lengths[1], sums[0], sums[1]];
        record::write_head(&mut out, 0, &numbers)?;
        out.write_all(&self.first)?;
        out.write_all(&self.bytes)
    }

    fn read_stream<R: Read>(mut input: R) -> Result<Self, String> {
        let (layout, numbers) = record::read_head(&mut input)?;
        let (0, &[family, total, first, bytes, first_sum, bytes_sum]) =
            (layout, numbers.as_slice())
        else {
            return Err("no parts of a value".into());
        };
        let first = record::read_bytes(&mut input, first, first_sum)?;
        let bytes = record::read_bytes(&mut input, bytes, bytes_sum)?;
        if bytes.len() as u64 >= total {
            return Err("the parts of a value are complete".into());
        }
        Ok(Self { family, first, total, bytes })
    }
}

impl Value for Parts {
    fn types() -> &'static [TypeName] {
        &TYPES
    }

    fn save(&self, file: &mut Save<'_>) {
        record::save(self, file);
    }

    fn load(file: &mut Load<'_>, _: usize) -> Result<Self, String> {
        record::load(file)
    }

    fn rewrite(&self, file: &mut Rewrite<'_>) {
        let family = usize::try_from(self.family).unwrap_or(0);
        let command = LOADERS.get(family).unwrap_or(&LOADERS[0]);
        let first = match self.first.as_slice() {
            [] => &first_chunk(self.total),
            first => first,
        };
        file.chunk(command, 1, first);
        let mut iterator = 1;
        for piece in self.bytes.chunks(PIECE_BYTES) {
            iterator += i64::try_from(piece.len()).unwrap_or(0);
            file.chunk(command, iterator, piece);
        }
    }

    fn digest(&self, digest: &mut Digest<'_>) {
        record::digest(self, digest);
    }

    fn copied(&self) -> Option<Self> {
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(self.bytes.len()).ok()?;
        bytes.extend_from_slice(&self.bytes);
        Some(Self { family: self.family, first: self.first.clone(), total: self.total, bytes })
    }
}
