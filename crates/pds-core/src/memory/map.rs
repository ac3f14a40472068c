//! Files in the address space.

use std::fs::File;
use std::io;
use std::path::Path;

use memmap2::Mmap;

/// A file that is read where it lies: opening takes microseconds whatever its size, and only the pages that are read are
/// loaded.
///
/// Views of structures take it as their bytes.
///
/// Do not truncate a file while it is mapped: the system then ends the process on access (`SIGBUS`), and no library can
/// prevent it. If another process changes the bytes, answers may be wrong. Replace files by renaming, as
/// [`ByteOptions::save`](crate::bytes::ByteOptions::save) does: a map keeps the old file.
///
/// # Examples
/// ```
/// # let path = std::env::temp_dir().join(format!("pds-map-{}", std::process::id()));
/// use pds_core::bytes::MappedFile;
///
/// std::fs::write(&path, "bytes")?;
/// assert_eq!(MappedFile::open(&path)?.as_ref(), b"bytes");
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct MappedFile(Mmap);

impl MappedFile {
    /// Maps a file.
    ///
    /// # Errors
    /// If the file cannot be opened or mapped: a pipe or a device cannot.
    pub fn open(path: impl AsRef<Path>) -> io::Result<Self> {
        let file = File::open(path)?;
        // SAFETY: the map is read only. All readers of this crate take bytes that change as other bytes: they check each
        // length against the slice, so that no read leaves it. That the file is not truncated is the caller's part, which
        // the documentation names. Its breach ends the process and gives no access to other memory.
        let map = unsafe { Mmap::map(&file)? };
        debug_assert!(
            file.metadata().is_ok_and(|file| file.len() >= map.len() as u64),
            "a map of the file"
        );
        Ok(Self(map))
    }
}

impl AsRef<[u8]> for MappedFile {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}
