//! The log: a head, and a record of 16 bytes for each insert. `docs/format.md` of the workspace specifies them.

use alloc::vec::Vec;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::path::Path;

use xxhash_rust::xxh3::xxh3_64;

use super::SyncPolicy;
use crate::bytes::file::Files;

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

/// A file that can be brought to the disk. A trait, so that a test can watch the order of the calls.
pub(super) trait Synced: Write {
    /// Brings the contents and the length to the disk.
    fn sync(&mut self) -> io::Result<()>;
}

impl Synced for File {
    fn sync(&mut self) -> io::Result<()> {
        self.sync_data()
    }
}

#[cfg(test)]
impl Synced for crate::bytes::file::recorded::RecordedFile {
    fn sync(&mut self) -> io::Result<()> {
        Self::sync(self)
    }
}

/// A log that is open for further records.
#[derive(Debug)]
pub(super) struct Log<F = File> {
    file: F,
    identity: Identity,
    policy: SyncPolicy,
    records: u64,
    /// Number of records that were not synced.
    unsynced: u64,
}

impl Log {
    /// Opens a log behind its first `records` records, cuts off what follows, and syncs it: the process before may not have.
    pub(super) fn open(
        path: &Path,
        identity: Identity,
        policy: SyncPolicy,
        records: u64,
    ) -> io::Result<Self> {
        // Not `append`: on Windows, such a file cannot be cut.
        let mut file = File::options().write(true).open(path)?;
        let length = HEAD_BYTES as u64 + records * RECORD_BYTES as u64;
        if file.metadata()?.len() != length {
            file.set_len(length)?;
        }
        file.seek(SeekFrom::Start(length))?;
        Self::synced(file, identity, policy, records)
    }
}

impl<F: Synced> Log<F> {
    /// Creates a log without records, and syncs it. An older file of this name is replaced.
    pub(super) fn create(
        files: &mut impl Files<File = F>,
        path: &Path,
        identity: Identity,
        policy: SyncPolicy,
    ) -> io::Result<Self> {
        let mut file = files.create(path)?;
        file.write_all(identity.head().map(u64::to_le_bytes).as_flattened())?;
        Self::synced(file, identity, policy, 0)
    }

    /// Syncs a file that holds `records` records.
    fn synced(
        mut file: F,
        identity: Identity,
        policy: SyncPolicy,
        records: u64,
    ) -> io::Result<Self> {
        file.sync()?;
        Ok(Self { file, identity, policy, records, unsynced: 0 })
    }

    pub(super) const fn records(&self) -> u64 {
        self.records
    }

    /// Appends a record for each hash, in one write, and syncs them if the policy asks for it. After an error it is unknown which are
    /// there.
    pub(super) fn append(&mut self, hashes: &[u64]) -> io::Result<()> {
        self.write(hashes)?;
        let limit = match self.policy {
            SyncPolicy::EveryRecord => 1,
            SyncPolicy::Every(records) => records.get(),
            SyncPolicy::ByCaller => u64::MAX,
        };
        if self.unsynced >= limit { self.sync() } else { Ok(()) }
    }

    /// Appends records as [`append`](Self::append) does, without a sync: more of the batch follow.
    pub(super) fn write(&mut self, hashes: &[u64]) -> io::Result<()> {
        let records = (self.records..).zip(hashes);
        let numbers = records.flat_map(|(index, &hash)| self.identity.record(index, hash));
        let bytes: Vec<_> = numbers.map(u64::to_le_bytes).collect();
        self.file.write_all(bytes.as_flattened())?;
        self.records += hashes.len() as u64;
        self.unsynced += hashes.len() as u64;
        Ok(())
    }

    pub(super) fn sync(&mut self) -> io::Result<()> {
        self.file.sync()?;
        self.unsynced = 0;
        Ok(())
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

/// Contents of a log.
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
    let (mut hashes, mut whole, mut rest, mut is_zero) = (Vec::new(), 0, 0_u64, true);
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
            rest += filled as u64;
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
    let is_torn = rest < RECORD_BYTES as u64 || is_zero;
    let condition = if has_head && is_torn && hashes.len() as u64 == whole {
        Condition::Sound
    } else if has_head || head_bytes == 0 || !hashes.is_empty() {
        Condition::Damaged
    } else {
        Condition::Foreign
    };
    if !has_head {
        (whole, rest) = (0, rest + head_bytes as u64);
    }
    Ok(Contents { hashes, whole, lost_bytes: rest, condition })
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

#[cfg(test)]
mod tests {
    use core::num::NonZeroU64;

    use super::*;

    /// Records the number of bytes of each write, and 0 for a sync.
    #[derive(Default)]
    struct Recorded(Vec<usize>);

    impl Write for Recorded {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.push(bytes.len());
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl Synced for Recorded {
        fn sync(&mut self) -> io::Result<()> {
            self.0.push(0);
            Ok(())
        }
    }

    /// Returns the calls for seven inserts, a batch of three and a sync by the caller.
    fn calls_of(policy: SyncPolicy) -> Vec<usize> {
        let identity = Identity { generation: 1, fingerprint: 2 };
        let mut log = Log::synced(Recorded::default(), identity, policy, 4).unwrap();
        for hashes in [&[9][..]; 7].into_iter().chain([&[1, 2, 3][..]]) {
            log.append(hashes).unwrap();
        }
        log.sync().unwrap();
        assert_eq!(log.records(), 4 + 7 + 3);
        log.file.0
    }

    #[test]
    fn records_are_synced_when_the_policy_says() {
        // Records that were in the log before are synced first.
        let each = [0, 16, 0, 16, 0, 16, 0, 16, 0, 16, 0, 16, 0, 16, 0, 48, 0, 0];
        assert_eq!(calls_of(SyncPolicy::EveryRecord), each);
        let third = [0, 16, 16, 16, 0, 16, 16, 16, 0, 16, 48, 0, 0];
        assert_eq!(calls_of(SyncPolicy::Every(NonZeroU64::new(3).unwrap())), third);
        let caller = [0, 16, 16, 16, 16, 16, 16, 16, 48, 0];
        assert_eq!(calls_of(SyncPolicy::ByCaller), caller);
    }
}
