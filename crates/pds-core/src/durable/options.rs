//! Options of durable structures.

use core::num::NonZeroU64;
use std::fs;
use std::path::Path;

use super::{Durable, DurableError};
use crate::bytes::{ByteOptions, FromEnvelope, HasherChoice, KeyChoice, ToEnvelope};
use crate::error::FileError;
use crate::traits::DynInsert;

/// When the log is synced, that is, when the system is told to bring it to the disk.
///
/// An insert that has returned survives the end of the process under each policy, also by SIGKILL. The policy says what survives the
/// end of the system, such as a power failure, on a disk that keeps what it was synced. Only Unix can sync the names of files:
/// elsewhere, a power failure can undo the last creation or checkpoint, with all inserts since.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SyncPolicy {
    /// Before each insert returns. Every acknowledged insert survives. Each takes as long as the disk does.
    #[default]
    EveryRecord,
    /// After this many records, n. At most the last n - 1 acknowledged inserts are lost.
    Every(NonZeroU64),
    /// When [`Durable::sync`] or [`Durable::checkpoint`] is called. The inserts before the last call survive.
    ByCaller,
}

/// Options to create and open a [`Durable`] structure.
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct DurableOptions<H = (), K = ()> {
    bytes: ByteOptions<H, K>,
    sync: SyncPolicy,
    salvages: bool,
}

impl DurableOptions {
    /// Returns the usual options: every record is synced, and the seed of the hasher is in the checkpoint.
    pub const fn new() -> Self {
        Self { bytes: ByteOptions::new(), sync: SyncPolicy::EveryRecord, salvages: false }
    }
}

impl Default for DurableOptions {
    fn default() -> Self {
        Self::new()
    }
}

impl<H, K> DurableOptions<H, K> {
    /// Sets when the log is synced.
    pub const fn sync(mut self, sync: SyncPolicy) -> Self {
        self.sync = sync;
        self
    }

    /// Sets how checkpoints are written and read: with a secret key or without, and up to which length.
    pub fn bytes<I, L>(self, bytes: ByteOptions<I, L>) -> DurableOptions<I, L> {
        DurableOptions { bytes, sync: self.sync, salvages: self.salvages }
    }

    /// Opens a structure whose log is damaged with what is left: all records that are right. It then writes a checkpoint.
    ///
    /// The end of a process never damages a log. The end of the system can, where it had not been synced; other damage
    /// loses acknowledged inserts. [`Durable::recovery`] says how many bytes of the log were lost. A log without any part of this
    /// structure stays an error: [`DurableError::Foreign`].
    pub const fn salvage(mut self, salvages: bool) -> Self {
        self.salvages = salvages;
        self
    }

    /// Puts a structure into a folder of its own, which is created if it is missing.
    ///
    /// # Errors
    /// [`DurableError::Exists`] if the folder holds one already, or other files, [`DurableError::Locked`] if it is open elsewhere, and
    /// [`DurableError::File`].
    pub fn create<P: ToEnvelope + DynInsert>(
        self,
        folder: impl AsRef<Path>,
        structure: P,
    ) -> Result<Durable<P>, DurableError>
    where
        K: KeyChoice<P::Hasher>,
    {
        Durable::create(folder.as_ref(), structure, self.bytes.secret_key::<P::Hasher>(), self.sync)
    }

    /// Opens the structure in a folder: reads the checkpoint, and inserts what is in the log.
    ///
    /// A log that ends in less than a record, or in zeros, is cut there: an insert was interrupted. Other wrong records are damage.
    ///
    /// # Errors
    /// [`DurableError`] says what is wrong, and with which file. The checkpoint and the log are not changed then.
    ///
    /// # Complexity
    /// O(size + records of the log); allocates the bytes of the checkpoint, and 8 bytes per record.
    pub fn open<P: ToEnvelope + FromEnvelope<Hasher = <P as ToEnvelope>::Hasher> + DynInsert>(
        self,
        folder: impl AsRef<Path>,
    ) -> Result<Durable<P>, DurableError>
    where
        H: HasherChoice<<P as ToEnvelope>::Hasher>,
        K: KeyChoice<<P as ToEnvelope>::Hasher>,
    {
        let key = self.bytes.secret_key::<<P as ToEnvelope>::Hasher>();
        let load = |path: &Path| {
            // The head is checked before the file is read: its length may be wrong, or too much.
            self.bytes.open_file(path)?;
            let bytes = fs::read(path).map_err(|error| FileError::new(path, error))?;
            let structure = self.bytes.from_bytes(&bytes);
            Ok((structure.map_err(|error| FileError::new(path, error))?, bytes))
        };
        Durable::open(folder.as_ref(), load, key, self.sync, self.salvages)
    }
}
