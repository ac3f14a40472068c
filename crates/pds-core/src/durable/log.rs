//! The log: a head, and a record of 16 bytes for each insert. `docs/format.md` of the workspace specifies them.

use alloc::vec::Vec;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::path::Path;

use xxhash_rust::xxh3::xxh3_64;

/// First bytes of a log.
const MAGIC: u64 = u64::from_le_bytes(*b"\x89PDSLOG\n");

/// Length of a log without records.
pub(super) const HEAD_BYTES: usize = 32;
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

    /// Opens a log behind its first `records` records, cuts off what follows, and syncs it: the process before may not have.
    pub(super) fn open(path: &Path, identity: Identity, records: u64) -> io::Result<Self> {
        // Not `append`: on Windows, such a file cannot be cut.
        let mut file = File::options().write(true).open(path)?;
        let length = HEAD_BYTES as u64 + records * RECORD_BYTES as u64;
        if file.metadata()?.len() != length {
            file.set_len(length)?;
        }
        file.sync_all()?;
        file.seek(SeekFrom::Start(length))?;
        Ok(Self { file, identity, records })
    }

    pub(super) const fn records(&self) -> u64 {
        self.records
    }

    /// Appends a record for each hash, in one write. After an error it is unknown which are there.
    pub(super) fn append(&mut self, hashes: &[u64]) -> io::Result<()> {
        let records = (self.records..).zip(hashes);
        let numbers = records.flat_map(|(index, &hash)| self.identity.record(index, hash));
        let bytes: Vec<_> = numbers.map(u64::to_le_bytes).collect();
        self.file.write_all(bytes.as_flattened())?;
        self.records += hashes.len() as u64;
        Ok(())
    }

    pub(super) fn sync(&self) -> io::Result<()> {
        self.file.sync_data()
    }
}

/// How a log is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Condition {
    /// The head and the records are right, up to an end that an interrupted insert leaves.
    Sound,
    /// Something is wrong that no interrupted insert explains.
    Damaged,
    /// Neither the head nor any record is right.
    Foreign,
}

/// What a log holds.
pub(super) struct Contents {
    /// Hashes of the right records.
    pub(super) hashes: Vec<u64>,
    /// Number of right records before the first wrong one or, if the head is wrong, 0.
    pub(super) whole: u64,
    /// Number of bytes of a wrong head and of wrong records.
    pub(super) lost_bytes: u64,
    pub(super) condition: Condition,
}

/// Reads a log. Each right record counts, whatever is before it: its checksum covers the checkpoint and its place.
pub(super) fn read(path: &Path, identity: Identity) -> io::Result<Contents> {
    let mut file = BufReader::new(File::open(path)?);
    let mut head = [0; HEAD_BYTES];
    let head_bytes = fill(&mut file, &mut head)?;
    let has_head = head == identity.head().map(u64::to_le_bytes).as_flattened();
    let (mut hashes, mut whole, mut rest, mut is_zero) = (Vec::new(), 0, 0, true);
    for index in 0.. {
        let mut bytes = [0; RECORD_BYTES];
        let filled = fill(&mut file, &mut bytes)?;
        let (hash, _) = bytes.split_first_chunk().expect("a record is longer");
        let hash = u64::from_le_bytes(*hash);
        let record = identity.record(index, hash).map(u64::to_le_bytes);
        if filled == RECORD_BYTES && bytes == record.as_flattened() {
            whole += u64::from(rest == 0);
            hashes.push(hash);
        } else {
            rest += filled;
            is_zero &= bytes == [0; RECORD_BYTES];
        }
        if filled < RECORD_BYTES {
            break;
        }
    }
    // A process that is killed leaves a prefix of what it wrote: less than a record is wrong then. A system that fails may have made
    // the file longer without writing into it: that reads as zeros. A record never lies in two sectors of a disk, so no other end is
    // torn. Where many records were not synced, parts of them can be missing: this looks like the loss of synced records, and so it
    // is damage.
    let is_torn = rest < RECORD_BYTES || is_zero;
    let condition = if has_head && is_torn && hashes.len() as u64 == whole {
        Condition::Sound
    } else if has_head || head_bytes == 0 || !hashes.is_empty() {
        Condition::Damaged
    } else {
        Condition::Foreign
    };
    if !has_head {
        (whole, rest) = (0, rest + head_bytes);
    }
    Ok(Contents { hashes, whole, lost_bytes: rest as u64, condition })
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
