//! The log: a head, and a record of 16 bytes for each insert. `docs/format.md` of the workspace specifies them.

use alloc::vec::Vec;
use std::fs::File;
use std::io::{self, BufReader, Read, Write};
use std::path::Path;

use xxhash_rust::xxh3::xxh3_64;

/// First bytes of a log.
const MAGIC: u64 = u64::from_le_bytes(*b"\x89PDSLOG\n");

const HEAD_BYTES: usize = 32;
const RECORD_BYTES: usize = 16;

/// Numbers that a log and its checkpoint share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Identity {
    /// Number of the checkpoint.
    pub(super) generation: u64,
    /// Fingerprint of the structure in it.
    pub(super) fingerprint: u64,
}

impl Identity {
    /// Returns the head. Its last number is a checksum of those before it.
    fn head(self) -> [u64; 4] {
        let numbers = [MAGIC, self.generation, self.fingerprint];
        [MAGIC, self.generation, self.fingerprint, sum_of(&numbers)]
    }

    /// Returns the record of a hash. Its checksum depends on the checkpoint and on its place in the log.
    fn record(self, index: u64, hash: u64) -> [u64; 2] {
        [hash, sum_of(&[self.generation, self.fingerprint, index, hash])]
    }
}

fn sum_of<const N: usize>(numbers: &[u64; N]) -> u64 {
    xxh3_64(numbers.map(u64::to_le_bytes).as_flattened())
}

/// A log that is open for further records.
#[derive(Debug)]
pub(super) struct Log {
    file: File,
    identity: Identity,
    records: u64,
}

impl Log {
    /// Creates a log without records, and syncs it. An older file of this name is overwritten.
    pub(super) fn create(path: &Path, identity: Identity) -> io::Result<Self> {
        let mut file = File::create(path)?;
        file.write_all(identity.head().map(u64::to_le_bytes).as_flattened())?;
        file.sync_all()?;
        Ok(Self { file, identity, records: 0 })
    }

    /// Opens a log behind its first `records` records, and cuts off what follows.
    pub(super) fn open(path: &Path, identity: Identity, records: u64) -> io::Result<Self> {
        let file = File::options().append(true).open(path)?;
        let length = HEAD_BYTES as u64 + records * RECORD_BYTES as u64;
        if file.metadata()?.len() != length {
            file.set_len(length)?;
            file.sync_all()?;
        }
        Ok(Self { file, identity, records })
    }

    pub(super) const fn records(&self) -> u64 {
        self.records
    }

    /// Appends a record for each hash, in one write. After an error it is unknown which are there.
    pub(super) fn append(&mut self, hashes: &[u64]) -> io::Result<()> {
        let records = (self.records..).zip(hashes);
        let records: Vec<_> =
            records.flat_map(|(index, &hash)| self.identity.record(index, hash)).collect();
        let bytes: Vec<_> = records.into_iter().map(u64::to_le_bytes).collect();
        self.file.write_all(bytes.as_flattened())?;
        self.records += hashes.len() as u64;
        Ok(())
    }

    pub(super) fn sync(&self) -> io::Result<()> {
        self.file.sync_data()
    }
}

/// What a log holds.
pub(super) struct Contents {
    /// Hashes of the right records.
    pub(super) hashes: Vec<u64>,
    /// Number of right records before the first wrong one.
    pub(super) whole: u64,
    /// Number of bytes from the first wrong record on.
    pub(super) rest: u64,
    /// Whether the head is wrong, or a right record follows a wrong one.
    pub(super) is_damaged: bool,
}

/// Reads a log. Wrong records are skipped, as each has its place.
pub(super) fn read(path: &Path, identity: Identity) -> io::Result<Contents> {
    let mut contents = Contents { hashes: Vec::new(), whole: 0, rest: 0, is_damaged: false };
    let mut file = BufReader::new(File::open(path)?);
    let head = identity.head().map(u64::to_le_bytes);
    let mut bytes = [0; HEAD_BYTES];
    let filled = fill(&mut file, &mut bytes)?;
    if bytes != head.as_flattened() {
        let rest = io::copy(&mut file, &mut io::sink())?;
        contents.is_damaged = true;
        contents.rest = filled as u64 + rest;
        return Ok(contents);
    }
    for index in 0.. {
        let mut bytes = [0; RECORD_BYTES];
        let filled = fill(&mut file, &mut bytes)?;
        let (hash, _) = bytes.split_first_chunk().expect("a record is longer");
        let hash = u64::from_le_bytes(*hash);
        let record = identity.record(index, hash).map(u64::to_le_bytes);
        if filled == RECORD_BYTES && bytes == record.as_flattened() {
            contents.is_damaged |= contents.rest > 0;
            contents.whole += u64::from(contents.rest == 0);
            contents.hashes.push(hash);
        } else {
            contents.rest += filled as u64;
        }
        if filled < RECORD_BYTES {
            break;
        }
    }
    Ok(contents)
}

/// Reads until `into` is full or the file ends. Returns the number of bytes read.
fn fill(file: &mut impl Read, into: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < into.len() {
        match file.read(&mut into[filled..]) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}
