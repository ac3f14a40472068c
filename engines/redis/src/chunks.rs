//! Values in chunks: `SCANDUMP` and `LOADCHUNK`, and append-only files.
//!
//! The protocol is that of RedisBloom: the first chunk has the iterator 1, and each further one has 1 more than the number
//! of bytes of all further chunks so far, itself included. What arrives is kept under the key as [`Parts`] until it is
//! complete. So a value is there as a whole or not at all, and it is verified before it answers.

use std::ffi::CStr;
use std::io::{self, Read, Write};

use crate::arguments::integer;
use crate::bloom::Bloom;
use crate::count_min::CountMin;
use crate::cuckoo::Cuckoo;
use crate::distinct::Distinct;
use crate::foreign::{self, Recorder};
use crate::quality::{Described, Description, Quality};
use crate::record::{self, Streamed};
use crate::server::{
    Call, Digest, Failure, Load, Outcome, PIECE_BYTES, Pieces, Rewrite, Save, TypeName, Value,
    Writing,
};
use crate::top_k::TopK;

/// The longest chunk of `SCANDUMP`, that of RedisBloom.
const MAX_CHUNK: usize = 16 << 20;

/// The first chunk of a stream of this module: this, the length of the stream, and a checksum of both.
const FIRST_CHUNK: &[u8; 8] = b"pds-dump";

/// A value that comes in chunks. All values are, but those of which chunks are missing.
pub(crate) trait Chunked: Streamed + 'static {
    /// The number of the family, in the stream of parts.
    const FAMILY: u64;
    /// The command that loads chunks.
    const LOADER: &'static CStr;
    /// The reply to a first chunk for a key that has a value.
    const EXISTS: &'static str = "ERR item exists";
    /// The reply to a chunk for a key that has no value.
    const NOT_FOUND: &'static str = "ERR not found";
    /// The reply to chunks that are wrong.
    const BAD: &'static str = "ERR received bad data";

    /// The reply to a further chunk for a key that has a value.
    const NO_CHUNKS: &'static str = Self::EXISTS;
    /// Whether positions are checked as `CF` does: wrong ones have a reply of their own, and the end is nil.
    const IS_STRICT: bool = false;

    /// Returns the types that hold such values: ours, and that of RedisBloom, if it has one.
    fn type_names() -> &'static [TypeName];

    /// Copies the value. `None` if memory is refused.
    fn copy(&self) -> Option<Self>;

    /// Returns whether a snapshot has the value as RedisBloom writes it.
    fn is_foreign(&self) -> bool {
        false
    }

    /// Returns the payload of `DUMP` of a value that [is foreign](Self::is_foreign).
    fn payload(&self) -> Option<Vec<u8>> {
        None
    }

    /// Reads what RedisBloom wrote into a snapshot.
    ///
    /// # Errors
    /// A text for the log of the server.
    fn read_foreign(_fields: Recorder<'_, '_>) -> Result<Self, String> {
        Err("RedisBloom has no such values".into())
    }

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

impl<V: Chunked> Value for V {
    fn types() -> &'static [TypeName] {
        V::type_names()
    }

    fn type_index(&self) -> usize {
        usize::from(self.is_foreign())
    }

    fn save(&self, file: &mut Save<'_>) {
        match self.payload() {
            Some(payload) => foreign::save(&payload, file),
            None => record::save(self, file),
        }
    }

    fn load(file: &mut Load<'_>, type_index: usize) -> Result<Self, String> {
        match type_index {
            0 => record::load(file),
            _ => V::read_foreign(Recorder::new(file, &V::type_names()[type_index])),
        }
    }

    fn rewrite(&self, file: &mut Rewrite<'_>) {
        rewrite(self, file);
    }

    fn digest(&self, digest: &mut Digest<'_>) {
        record::digest(self, digest);
    }

    fn copied(&self) -> Option<Self> {
        self.copy()
    }
}

/// The reply to a wrong position, where positions are checked.
const WRONG_POSITION: &str = "Invalid position";

const NO_MEMORY: &str = "ERR Insufficient memory to load the value";

/// The family of values that chunks belong to.
#[derive(Clone, Copy, Debug)]
struct Family {
    number: u64,
    loader: &'static CStr,
    foreign_length: fn(&[u8]) -> Option<u64>,
}

impl Family {
    const fn of<V: Chunked>() -> Self {
        Self { number: V::FAMILY, loader: V::LOADER, foreign_length: V::foreign_length }
    }
}

static FAMILIES: [Family; 5] = [
    Family::of::<Bloom>(),
    Family::of::<Cuckoo>(),
    Family::of::<CountMin>(),
    Family::of::<TopK>(),
    Family::of::<Distinct>(),
];

/// The chunks of a value that is not complete.
#[derive(Debug)]
pub(crate) struct Parts {
    family: &'static Family,
    /// The first chunk of RedisBloom. Empty for a stream of this module.
    first: Vec<u8>,
    /// The number of bytes that all further chunks will have.
    total: u64,
    bytes: Vec<u8>,
}

static TYPES: [TypeName; 1] = [TypeName::new("pds-parts", 0)];

/// Returns the first chunk of a stream of this family and length.
fn first_chunk(family: u64, length: u64) -> Vec<u8> {
    let mut chunk = FIRST_CHUNK.to_vec();
    chunk.extend(length.to_le_bytes());
    let sum = record::checksum(&[&chunk[..], &family.to_le_bytes()].concat());
    chunk.extend(sum.to_le_bytes());
    chunk
}

/// Returns the length of the stream that a first chunk of this module announces.
fn announced(family: u64, chunk: &[u8]) -> Option<u64> {
    let length = chunk.get(8..16)?.try_into().ok().map(u64::from_le_bytes)?;
    (first_chunk(family, length) == chunk).then_some(length)
}

impl Parts {
    /// Keeps a first chunk.
    fn begin<V: Chunked>(call: &Call<'_>, chunk: &[u8]) -> Result<Self, Failure> {
        let length = announced(V::FAMILY, chunk);
        let total = length.or_else(|| V::foreign_length(chunk)).ok_or(V::BAD)?;
        if !call.has_room(total, total) {
            return Err(NO_MEMORY.into());
        }
        let first = if length.is_some() { Vec::new() } else { chunk.to_vec() };
        let family = FAMILIES.iter().find(|family| family.number == V::FAMILY).ok_or(V::BAD)?;
        Ok(Self { family, first, total, bytes: Vec::new() })
    }

    /// Appends a further chunk. Changes nothing if it is not the next one.
    fn append<V: Chunked>(&mut self, call: &Call<'_>, iterator: i64, chunk: &[u8]) -> Outcome {
        let end = self.bytes.len() as u64 + chunk.len() as u64;
        let is_next = self.family.number == V::FAMILY
            && u64::try_from(iterator).is_ok_and(|iterator| iterator == end + 1)
            && !chunk.is_empty()
            && end <= self.total;
        if !is_next {
            return Err(V::BAD.into());
        }
        // Room for as much again at least, and never for more than follows.
        let most = usize::try_from(self.total).unwrap_or(usize::MAX) - self.bytes.len();
        let more = if self.bytes.capacity() - self.bytes.len() < chunk.len() {
            chunk.len().max(self.bytes.len()).min(most)
        } else {
            0
        };
        if !call.has_room(self.total, more as u64) || self.bytes.try_reserve_exact(more).is_err() {
            return Err(NO_MEMORY.into());
        }
        self.bytes.extend_from_slice(chunk);
        Ok(())
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
    let iterator = integer(call.argument(2)).filter(|&iterator| !V::IS_STRICT || iterator > 0);
    let wrong = if V::IS_STRICT { WRONG_POSITION } else { "ERR Second argument must be numeric" };
    let iterator = iterator.ok_or(wrong)?;
    let chunk = call.argument(3);
    let mut key: Writing<'_, Parts> = match call.write(1) {
        Ok(key) => key,
        Err(wrong) if call.read::<V>(1).is_err() => return Err(wrong),
        Err(_) => return Err(if iterator == 1 { V::EXISTS } else { V::NO_CHUNKS }.into()),
    };
    if key.value().is_none() {
        if iterator != 1 {
            return Err(V::NOT_FOUND.into());
        }
        key.put(|| Parts::begin::<V>(call, chunk))?;
    } else if let Some(appended) = key.change(|parts| parts.append::<V>(call, iterator, chunk)) {
        appended?;
    }
    finish::<V>(call, &mut key, chunk.len())?;
    call.ok();
    call.changed(1, c"loadchunk");
    Ok(())
}

/// Puts the value in the place of its parts if they are complete. Takes the last chunk back if they are wrong.
fn finish<V: Chunked>(call: &Call<'_>, key: &mut Writing<'_, Parts>, last: usize) -> Outcome {
    let Some(parts) = key.value().filter(|parts| parts.is_complete()) else { return Ok(()) };
    let (is_empty, total) = (parts.bytes.is_empty(), parts.total);
    let has_room = call.has_room(total, total);
    if has_room && key.replace(Parts::value::<V>) {
        return Ok(());
    }
    if is_empty {
        key.delete();
    } else {
        key.change(|parts| parts.bytes.truncate(parts.bytes.len() - last));
    }
    Err(if has_room { V::BAD } else { NO_MEMORY }.into())
}

/// `SCANDUMP key iterator`.
pub(crate) fn scan_dump<V: Chunked>(call: &mut Call<'_>) -> Outcome {
    if call.len() != 3 {
        return Err(Failure::Arity);
    }
    let value = call.read::<V>(1)?.ok_or(V::NOT_FOUND)?;
    let iterator = integer(call.argument(2)).filter(|&iterator| !V::IS_STRICT || iterator >= 0);
    let wrong = if V::IS_STRICT { WRONG_POSITION } else { "Second argument must be numeric" };
    let iterator = iterator.ok_or(wrong)?;
    // Any iterator behind the end is the end.
    let iterator = u64::try_from(iterator).unwrap_or(u64::MAX);
    if let Some(chunks) = value.foreign_chunks() {
        let at = iterator.cast_signed();
        // Each chunk begins where the one before it ends; the first one is asked for by 0.
        let begins = [0].into_iter().chain(chunks.iter().map(|&(end, _)| end));
        let found = begins.zip(&chunks).find(|&(begin, _)| begin == at);
        match found {
            Some((_, (end, data))) => reply_chunk::<V>(call, end.unsigned_abs(), data),
            None => reply_chunk::<V>(call, 0, &[]),
        }
        return Ok(());
    }
    let chunk = match iterator {
        0 => first_chunk(V::FAMILY, record::length(&*value)),
        _ => record::window(&*value, iterator - 1, MAX_CHUNK),
    };
    let next = match (iterator, chunk.len() as u64) {
        (0, _) => 1,
        (_, 0) => 0,
        (_, len) => iterator.saturating_add(len),
    };
    reply_chunk::<V>(call, next, &chunk);
    Ok(())
}

fn reply_chunk<V: Chunked>(call: &Call<'_>, next: u64, chunk: &[u8]) {
    call.list(2);
    call.count(next);
    if V::IS_STRICT && next == 0 { call.null() } else { call.bytes(chunk) }
}

/// Writes the chunks of a value into an append-only file.
fn rewrite<V: Chunked>(value: &V, file: &mut Rewrite<'_>) {
    let command = V::LOADER;
    if let Some(chunks) = value.foreign_chunks() {
        return chunks.iter().for_each(|(iterator, data)| file.chunk(command, *iterator, data));
    }
    file.chunk(command, 1, &first_chunk(V::FAMILY, record::length(value)));
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
        let numbers = [self.family.number, self.total, lengths[0], lengths[1], sums[0], sums[1]];
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
        // An append-only file says it in commands, which have to load.
        let family = FAMILIES.iter().find(|known| known.number == family);
        let family = family.ok_or("the parts of a value of an unknown family")?;
        if !first.is_empty() && (family.foreign_length)(&first) != Some(total) {
            return Err("the first chunk is not that of the others".into());
        }
        Ok(Self { family, first, total, bytes })
    }
}

impl Described for Parts {
    fn describe(&self) -> Description {
        #[expect(clippy::cast_precision_loss, reason = "a share")]
        let missing = 1.0 - self.bytes.len() as f64 / self.total as f64;
        let quality = Quality::without_promise(missing);
        let items = self.bytes.len() as u64;
        Description { layout: "chunks, more are missing", items, measure: "missing share", quality }
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
        let command = self.family.loader;
        let first = match self.first.as_slice() {
            [] => &first_chunk(self.family.number, self.total),
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
