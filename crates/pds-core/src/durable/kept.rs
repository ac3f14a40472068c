//! A structure in memory with its contents in a folder.

use alloc::vec::Vec;
use core::fmt;
use core::hash::Hash;
use std::io::Write;
use std::path::Path;

use super::folder::Folder;
use super::log::{self, Condition, Identity, Log, Synced};
use super::{DurableError, SyncPolicy};
use crate::bytes::file::{Access, Files, System, replace};
use crate::bytes::{Envelope, MaybeHasher as _, SecretKey, ToEnvelope, fingerprint_of, to_vec};
use crate::error::{FileError, InsertError};
use crate::traits::DynInsert;

/// Number of keys whose records are written at once.
const CHUNK: usize = 4_096;

/// A structure that survives crashes: what was inserted is in a folder, as a checkpoint and a log of the inserts since.
///
/// Use it for any structure that has portable bytes and grows by inserts, if saving all of it after each change
/// takes too long. [`DurableOptions`](super::DurableOptions) create and open it.
///
/// Only inserts are logged, and only those through this type. [`structure`](Self::structure) returns a shared reference. Some
/// structures, such as `AtomicBloomFilter`, can be changed through it: such a change is lost unless a checkpoint follows. A structure that
/// needs other calls than inserts, such as `TimedBloomFilter`, which has to be advanced, cannot be kept this way.
///
/// # Guarantees
/// - Every insert that returned `Ok` survives if the process ends, at any moment and by any cause, SIGKILL included. If
///   the system ends, those survive that the [`SyncPolicy`] promises.
/// - An insert that did not return may be there or not, as a whole. Of the keys of an [`insert_all`](Self::insert_all), the first
///   may be there.
/// - Replay is idempotent: opening inserts each record exactly once, even after an interrupted open or checkpoint.
/// - A log of another structure, a wrong checkpoint and a damaged log are typed errors. Only the loss of the last record cannot be
///   told from an insert that was interrupted.
/// - On Unix, a checkpoint has the permissions of the one before it. Only the owner can read the first one if it holds a secret key.
///   The log has the usual permissions: it holds hashes, and no key.
/// - Size: 16 bytes per insert since the last checkpoint. A checkpoint needs room for a second copy of the structure.
/// - Time: a system call per insert, or per 4,096 keys of a batch, and what syncing takes.
///
/// A key that the structure contains already is logged again. If most keys are, and copies do not count, ask
/// [`structure`](Self::structure) before.
///
/// # Examples
/// ```
/// # use core::ops::RangeInclusive;
/// # use pds_core::bytes::{Kind, Portable, Shape, Sink, Source};
/// # use pds_core::error::{DecodeError, InsertError};
/// # use pds_core::hash::{DefaultHashBuilder, KeyHasher};
/// # use pds_core::traits::{Insert, Membership};
/// use pds_core::durable::DurableOptions;
/// # /// A set of 64 bits: a filter of one hash function.
/// # #[derive(Default)]
/// # struct Filter(u64, DefaultHashBuilder);
/// # impl KeyHasher for Filter {
/// #     fn hash_key_dyn(&self, feed: &mut dyn FnMut(&mut dyn core::hash::Hasher)) -> u64 { self.1.hash_key_dyn(feed) }
/// # }
/// # impl Membership for Filter {
/// #     fn contains_hash(&self, hash: u64) -> bool { self.0 >> (hash % 64) & 1 == 1 }
/// # }
/// # impl Insert for Filter {
/// #     type Error = core::convert::Infallible;
/// #     fn insert_hash(&mut self, hash: u64) -> Result<bool, Self::Error> {
/// #         let new = !self.contains_hash(hash);
/// #         self.0 |= 1 << (hash % 64);
/// #         Ok(new)
/// #     }
/// # }
/// # impl Portable for Filter {
/// #     type Hasher = DefaultHashBuilder;
/// #     const KIND: Kind = Kind::new(0x8004, "filter");
/// #     fn portable_hasher(&self) -> &DefaultHashBuilder { &self.1 }
/// #     fn shape(&self) -> Shape { Shape::new([]) }
/// #     fn payload_range(_: &Shape) -> Result<RangeInclusive<u64>, DecodeError> { Ok(8..=8) }
/// #     fn write_payload<W: Sink>(&self, sink: &mut W) -> Result<(), W::Error> { sink.put_u64(self.0) }
/// #     fn read_payload<R: Source>(_: &Shape, hasher: DefaultHashBuilder, source: &mut R) -> Result<Self, R::Error> {
/// #         Ok(Self(source.take_u64()?, hasher))
/// #     }
/// # }
/// # let folder = std::env::temp_dir().join(format!("pds-durable-{}", std::process::id()));
/// # let _ = std::fs::remove_dir_all(&folder);
/// let mut seen = DurableOptions::new().create(&folder, Filter::default())?;
/// seen.insert("first")?;
/// seen.checkpoint()?;
/// seen.insert("second")?;
/// drop(seen);
///
/// let seen = DurableOptions::new().open::<Filter>(&folder)?;
/// assert!(seen.structure().contains("first") && seen.structure().contains("second"));
/// assert_eq!(seen.log_records(), 1);
/// # std::fs::remove_dir_all(&folder)?;
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
pub struct Durable<P> {
    structure: P,
    folder: Folder,
    log: Log,
    generation: u64,
    /// Whether it is unknown what the log holds.
    is_broken: bool,
    sync: SyncPolicy,
    key: SecretKey,
    recovery: Recovery,
}

/// Records that opening found in the log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Recovery {
    /// Number of records that were inserted.
    pub replayed: u64,
    /// Number of bytes that were no record: the end of an insert that was interrupted, or damage.
    pub lost_bytes: u64,
}

impl<P: ToEnvelope + DynInsert> Durable<P> {
    pub(super) fn create(
        path: &Path,
        structure: P,
        key: SecretKey,
        sync: SyncPolicy,
    ) -> Result<Self, DurableError> {
        let folder = Folder::create(path)?;
        let bytes = to_vec(&structure, key);
        let first = Generation::of::<P>(0, &bytes, key, sync);
        let log = write_generation(&mut System, &folder, &first)?;
        Ok(Self {
            structure,
            folder,
            log,
            generation: 0,
            is_broken: false,
            sync,
            key,
            recovery: Recovery::default(),
        })
    }

    pub(super) fn open(
        path: &Path,
        load: impl FnOnce(&Path) -> Result<(P, Vec<u8>), FileError>,
        key: SecretKey,
        sync: SyncPolicy,
        salvages: bool,
    ) -> Result<Self, DurableError> {
        let (folder, mut generation) = Folder::open(path)?;
        let loaded = load(&folder.checkpoint(generation));
        let (mut structure, bytes) = loaded.map_err(DurableError::File)?;
        let identity = identity_of(generation, &bytes);
        drop(bytes);

        let path = folder.log(generation);
        let contents =
            log::read(&path, identity).map_err(|error| DurableError::io(&path, error))?;
        let records = contents.whole;
        match contents.condition {
            Condition::Foreign => return Err(DurableError::Foreign(path)),
            Condition::Damaged if !salvages => return Err(DurableError::Damaged { path, records }),
            Condition::Damaged | Condition::Sound => {}
        }
        for (records, &hash) in (0..).zip(&contents.hashes) {
            if let Err(error) = structure.try_insert_hash(hash) {
                return Err(DurableError::Replay { path, records, error });
            }
        }
        let log = if contents.condition == Condition::Sound {
            Log::open(&path, identity, sync, records)
                .map_err(|error| DurableError::io(&path, error))?
        } else {
            // A damaged log stays as it is until a checkpoint holds what was left in it.
            generation = folder.next(generation)?;
            let bytes = to_vec(&structure, key);
            let next = Generation::of::<P>(generation, &bytes, key, sync);
            write_generation(&mut System, &folder, &next)?
        };
        folder.clean(generation)?;
        let replayed = contents.hashes.len() as u64;
        let recovery = Recovery { replayed, lost_bytes: contents.lost_bytes };
        Ok(Self { structure, folder, log, generation, is_broken: false, sync, key, recovery })
    }

    /// Returns the structure, to ask it.
    #[must_use]
    pub const fn structure(&self) -> &P {
        &self.structure
    }

    /// Returns the structure, and closes the folder.
    #[must_use]
    pub fn into_structure(self) -> P {
        self.structure
    }

    /// Inserts `key`, and logs it. Returns `true` if it was not contained before.
    ///
    /// # Errors
    /// [`DurableError::Insert`] if the structure refuses the key; nothing is changed then. [`DurableError::File`] if it
    /// cannot be logged: all further inserts are [`DurableError::Broken`] until a [`checkpoint`](Self::checkpoint) succeeds. The
    /// key is in memory then, and in that checkpoint: do not insert it again. Without a checkpoint, it may be there after the
    /// next opening or not.
    pub fn insert<K: Hash + ?Sized>(&mut self, key: &K) -> Result<bool, DurableError> {
        self.insert_hash(self.structure.hash_key(key))
    }

    /// Inserts a key by its [hash](crate::hash::KeyHasher#hashes-of-your-own), and logs it. Returns `true` if it was not
    /// contained before.
    ///
    /// # Errors
    /// As [`insert`](Self::insert).
    pub fn insert_hash(&mut self, hash: u64) -> Result<bool, DurableError> {
        self.check()?;
        let is_new = self.structure.try_insert_hash(hash).map_err(DurableError::Insert)?;
        self.append(&[hash])?;
        Ok(is_new)
    }

    /// Inserts keys, and logs them with one write per 4,096 keys and at most one sync. Returns how many were not contained before.
    ///
    /// Allocates no more for more keys.
    ///
    /// # Errors
    /// As [`insert`](Self::insert). If the structure refuses a key, the keys before it are inserted and logged, and up to 4,095
    /// after it may have been taken from the iterator.
    pub fn insert_all<K: Hash>(
        &mut self,
        keys: impl IntoIterator<Item = K>,
    ) -> Result<u64, DurableError> {
        self.check()?;
        let (mut keys, mut hashes, mut new) = (keys.into_iter(), Vec::new(), 0);
        loop {
            // The code of the caller runs here. If it panics, no key of the chunk is in the structure yet.
            hashes.clear();
            hashes.extend(keys.by_ref().take(CHUNK).map(|key| self.structure.hash_key(&key)));
            let is_last = hashes.len() < CHUNK;
            let refused = self.insert_hashes(&mut hashes, &mut new);
            if is_last || refused.is_some() {
                self.append(&hashes)?;
                return refused.map_or(Ok(new), |error| Err(DurableError::Insert(error)));
            }
            let result = self.log.write(&hashes);
            self.finish(result)?;
        }
    }

    /// Inserts hashes until the structure refuses one, counts the new ones, and removes those that are not in it.
    fn insert_hashes(&mut self, hashes: &mut Vec<u64>, new: &mut u64) -> Option<InsertError> {
        for index in 0..hashes.len() {
            match self.structure.try_insert_hash(hashes[index]) {
                Ok(is_new) => *new += u64::from(is_new),
                Err(error) => {
                    hashes.truncate(index);
                    return Some(error);
                }
            }
        }
        None
    }

    /// Brings all records to the disk.
    ///
    /// # Errors
    /// As those of [`insert`](Self::insert) about the log.
    pub fn sync(&mut self) -> Result<(), DurableError> {
        self.check()?;
        let result = self.log.sync();
        // After a failure, the system may take what it could not write for written.
        self.finish(result)
    }

    /// Replaces the checkpoint by the structure as it is, and starts an empty log.
    ///
    /// # Errors
    /// [`DurableError::File`]. If the old checkpoint is still the latest, it stays in use, with its log.
    ///
    /// # Complexity
    /// O(size); allocates the portable bytes.
    pub fn checkpoint(&mut self) -> Result<(), DurableError> {
        let new = self.folder.next(self.generation)?;
        let bytes = to_vec(&self.structure, self.key);
        let next = Generation::of::<P>(new, &bytes, self.key, self.sync);
        match advance(&mut System, &self.folder, &next) {
            Ok(log) => {
                (self.log, self.generation, self.is_broken) = (log, new, false);
                Ok(())
            }
            Err(error) => {
                // The next opening takes the new checkpoint if it is there, so that the old log is of no use then.
                if self.folder.checkpoint(new).try_exists().unwrap_or(true) {
                    (self.generation, self.is_broken) = (new, true);
                } else {
                    self.folder.remove(&mut System, new);
                }
                Err(error)
            }
        }
    }

    /// Returns the number of records in the log, which opening would insert.
    #[must_use]
    pub const fn log_records(&self) -> u64 {
        self.log.records()
    }

    /// Returns what opening found in the log.
    #[must_use]
    pub const fn recovery(&self) -> Recovery {
        self.recovery
    }

    /// Returns the folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    fn append(&mut self, hashes: &[u64]) -> Result<(), DurableError> {
        let result = self.log.append(hashes);
        self.finish(result)
    }

    fn check(&self) -> Result<(), DurableError> {
        let path = || self.folder.log(self.generation);
        if self.is_broken { Err(DurableError::Broken(path())) } else { Ok(()) }
    }

    /// Returns the result of a call about the log. After an error, the log is not used any more.
    fn finish(&mut self, result: std::io::Result<()>) -> Result<(), DurableError> {
        self.is_broken |= result.is_err();
        result.map_err(|error| DurableError::io(&self.folder.log(self.generation), error))
    }
}

/// A checkpoint that is to be written, with an empty log.
struct Generation<'a> {
    identity: Identity,
    bytes: &'a [u8],
    /// Whether the secret key of a hasher is in the bytes.
    is_secret: bool,
    sync: SyncPolicy,
}

impl<'a> Generation<'a> {
    /// Returns the checkpoint of this number, whose bytes are right.
    fn of<P: ToEnvelope>(number: u64, bytes: &'a [u8], key: SecretKey, sync: SyncPolicy) -> Self {
        let (identity, is_secret) = (identity_of(number, bytes), P::Hasher::is_secret(key));
        Self { identity, bytes, is_secret, sync }
    }
}

/// Writes a generation, and removes the one before it.
fn advance<F: Files<File: Synced>>(
    files: &mut F,
    folder: &Folder,
    new: &Generation<'_>,
) -> Result<Log<F::File>, DurableError> {
    let log = write_generation(files, folder, new)?;
    folder.remove(files, new.identity.generation - 1);
    Ok(log)
}

/// Writes an empty log and a checkpoint. The rename of the checkpoint is the moment from which both count.
fn write_generation<F: Files<File: Synced>>(
    files: &mut F,
    folder: &Folder,
    new: &Generation<'_>,
) -> Result<Log<F::File>, DurableError> {
    let Generation { identity, bytes, is_secret, sync } = *new;
    let path = folder.log(identity.generation);
    let log = Log::create(files, &path, identity, sync);
    let log = log.and_then(|log| files.sync_folder(folder.path()).map(|()| log));
    let log = log.map_err(|error| DurableError::io(&path, error))?;
    let path = folder.checkpoint(identity.generation);
    // The permissions are those of the checkpoint before.
    let old = folder.checkpoint(identity.generation.saturating_sub(1));
    replace(files, &path, &Access::new(&old, is_secret), |file| file.write_all(bytes))
        .map_err(|error| DurableError::io(&path, error))?;
    Ok(log)
}

/// Returns the identity of the log of a checkpoint, whose bytes are right.
fn identity_of(generation: u64, bytes: &[u8]) -> Identity {
    Identity { generation, fingerprint: fingerprint_of(&Envelope::written(bytes)) }
}

impl<P> fmt::Debug for Durable<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Durable")
            .field("folder", &self.folder.path())
            .field("generation", &self.generation)
            .field("log_records", &self.log.records())
            .field("is_broken", &self.is_broken)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use alloc::format;
    use alloc::string::String;

    use super::*;
    use crate::bytes::file::recorded::Recorded;

    const ORDER: [&str; 11] = [
        "create 4.pdslog",
        "write 4.pdslog",
        "sync 4.pdslog",
        "sync folder",
        "create .4.pds.tmp",
        "write .4.pds.tmp",
        "sync .4.pds.tmp",
        "rename to 4.pds",
        "sync folder",
        "remove 3.pds",
        "remove 3.pdslog",
    ];

    /// Returns whether a checkpoint succeeds, and its calls.
    fn calls_of(fails: Option<usize>) -> (bool, Vec<String>) {
        let path = std::env::temp_dir().join(format!("pds-order-{}-{fails:?}", std::process::id()));
        let folder = Folder::create(&path.join("folder")).unwrap();
        let mut files = Recorded { fails, ..Recorded::default() };
        let identity = Identity { generation: 4, fingerprint: 5 };
        let sync = SyncPolicy::EveryRecord;
        let new = Generation { identity, bytes: b"checkpoint", is_secret: false, sync };
        let result = advance(&mut files, &folder, &new);
        drop(folder);
        std::fs::remove_dir_all(path).unwrap();
        (result.is_ok(), files.calls.take())
    }

    /// Each name counts only once what it names is on the disk, and nothing is removed before the new checkpoint counts.
    #[test]
    fn a_checkpoint_is_synced_renamed_and_its_folder_synced_before_the_old_log_is_removed() {
        assert_eq!(calls_of(None), (true, ORDER.map(String::from).to_vec()));
    }

    #[test]
    fn a_checkpoint_that_fails_removes_nothing_of_the_old_one() {
        for fails in 0..9 {
            let (ok, calls) = calls_of(Some(fails));
            assert!(!ok, "{}", ORDER[fails]);
            assert_eq!(calls[..=fails], ORDER[..=fails]);
            let rest = calls[fails + 1..].iter();
            assert!(rest.eq(&["remove .4.pds.tmp"][..usize::from((5..8).contains(&fails))]));
        }
    }
}
