//! Places that bytes come from, decompressed.

use crate::error::{Error, Result};
use crate::output::exact_size;
use alloc::sync::Arc;
use core::fmt;
use core::sync::atomic::{AtomicU64, Ordering};
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use flate2::bufread::GzDecoder;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

/// Bytes that are read from a source at once.
pub(super) const BLOCK: usize = 1 << 18;

/// A file, or standard input.
#[derive(Clone, Debug)]
pub(crate) enum Source {
    Stdin,
    File(PathBuf),
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stdin => f.write_str("standard input"),
            Self::File(path) => path.display().fmt(f),
        }
    }
}

impl Source {
    /// The sources that files and patterns name, in their order.
    ///
    /// # Errors
    /// A message about each that cannot be opened.
    pub(super) fn all(files: &[PathBuf]) -> Result<Vec<Self>> {
        if files.is_empty() {
            return Ok(vec![Self::Stdin]);
        }
        let (mut sources, mut wrong) = (Vec::new(), Vec::new());
        for file in files {
            match Self::named(file) {
                Ok(named) => sources.extend(named),
                Err(Error::Message(message)) => wrong.push(message),
                Err(error) => return Err(error),
            }
        }
        if sources.iter().filter(|source| matches!(source, Self::Stdin)).count() > 1 {
            wrong.push("standard input can be read only once: `-` stands there twice".to_owned());
        }
        if wrong.is_empty() { Ok(sources) } else { Err(all(wrong)) }
    }

    fn named(file: &Path) -> Result<Vec<Self>> {
        if file == Path::new("-") {
            return Ok(vec![Self::Stdin]);
        }
        // A shell that expands patterns leaves none. Other shells, and quotes, do.
        if !file.exists()
            && let Some(found) = expanded(file)?
        {
            if found.is_empty() {
                return Err(Error::at(file.display(), "no file has such a name"));
            }
            return found.into_iter().map(|path| Self::opened(&path)).collect();
        }
        Ok(vec![Self::opened(file)?])
    }

    /// A file that can be opened now. It is opened again when its turn comes: there may be more than a process may hold.
    fn opened(path: &Path) -> Result<Self> {
        let metadata = fs::metadata(path).map_err(|error| Error::at(path.display(), error))?;
        if metadata.is_dir() {
            return Err(Error::at(path.display(), "is a folder; name its files, as 'folder/*'"));
        }
        // A pipe is not opened twice.
        if metadata.is_file() {
            File::open(path).map_err(|error| Error::at(path.display(), error))?;
        }
        Ok(Self::File(path.to_owned()))
    }

    /// The path of a file.
    pub(super) fn path(&self) -> Option<&Path> {
        match self {
            Self::Stdin => None,
            Self::File(path) => Some(path),
        }
    }

    /// Reads the whole source, which may have at most so many bytes.
    pub(super) fn read_whole(&self, count: &Arc<AtomicU64>, most: usize) -> io::Result<Vec<u8>> {
        let mut text = Vec::new();
        self.open(count)?.take(most as u64 + 1).read_to_end(&mut text)?;
        if text.len() > most {
            return Err(io::Error::other(format!(
                "is longer than the {} that --max-record allows",
                exact_size(most as u64)
            )));
        }
        Ok(text)
    }

    /// The length of a regular file, as it is stored.
    pub(super) fn length(&self) -> Option<u64> {
        match self {
            Self::Stdin => None,
            Self::File(path) => {
                fs::metadata(path).ok().filter(fs::Metadata::is_file).map(|metadata| metadata.len())
            }
        }
    }

    /// Opens the source. `count` grows by what is read of it.
    pub(super) fn open(&self, count: &Arc<AtomicU64>) -> io::Result<Box<dyn Read + Send>> {
        let raw: Box<dyn Read + Send> = match self {
            Self::Stdin => Box::new(io::stdin()),
            Self::File(path) => Box::new(File::open(path)?),
        };
        let mut counted = Counted { inner: raw, count: Arc::clone(count) };
        let mut magic = Vec::new();
        while may_be_magic(&magic) {
            let mut byte = [0];
            match counted.inner.read(&mut byte) {
                Ok(0) => break,
                Ok(_) => magic.push(byte[0]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        let (is_gzip, is_zstd) = (magic.starts_with(GZIP), magic.len() == 4 && begins_zstd(&magic));
        if let Some((_, tool)) =
            OTHERS.iter().find(|(other, _)| agrees(other, &magic) && magic.len() == other.len())
        {
            return Err(io::Error::other(format!(
                "is compressed by {tool}, which is not read here; `{tool} -dc FILE | pds ...` gives its lines"
            )));
        }
        count.fetch_add(magic.len() as u64, Ordering::Relaxed);
        let whole = io::Cursor::new(magic).chain(counted);
        Ok(if is_gzip {
            let rest = BufReader::with_capacity(BLOCK, whole);
            Box::new(Members { decoder: Some(GzDecoder::new(rest)), is_later: false })
        } else if is_zstd {
            Box::new(Frames {
                rest: BufReader::with_capacity(BLOCK, whole),
                decoder: FrameDecoder::new(),
                is_in_frame: false,
            })
        } else {
            Box::new(whole)
        })
    }
}

const GZIP: &[u8] = &[0x1f, 0x8b, 8];
/// How files begin that would be taken for lines, and what reads them. A question mark stands for any byte.
const OTHERS: [(&[u8], &str); 3] =
    [(b"\xfd7zXZ\0", "xz"), (b"BZh?1AY&SY", "bzip2"), (b"\x04\x22\x4d\x18", "lz4")];

/// Whether bytes may go on as the beginning of a compressed file.
fn may_be_magic(magic: &[u8]) -> bool {
    let is_other = |(other, _): &(&[u8], _)| magic.len() < other.len() && agrees(other, magic);
    magic.len() < 4 && (GZIP.starts_with(magic) || begins_zstd(magic))
        || OTHERS.iter().any(is_other)
}

/// Whether the beginning of a pattern and bytes agree.
fn agrees(pattern: &[u8], bytes: &[u8]) -> bool {
    pattern.iter().zip(bytes).all(|(&pattern, &byte)| pattern == b'?' || pattern == byte)
}

/// Whether up to four bytes may begin a zstd file: a frame, or one that decoders skip.
fn begins_zstd(magic: &[u8]) -> bool {
    let skippable = |first: &u8| first & 0xf0 == 0x50;
    [0x28, 0xb5, 0x2f, 0xfd].starts_with(magic)
        || magic.first().is_none_or(skippable)
            && [0x2a, 0x4d, 0x18].starts_with(magic.get(1..).unwrap_or_default())
}

/// The files that match a pattern, or `None` if the name is none.
///
/// # Errors
/// A message about each folder that cannot be read.
fn expanded(file: &Path) -> Result<Option<Vec<PathBuf>>> {
    let Some(pattern) = file.to_str().filter(|name| name.contains(['*', '?', '['])) else {
        return Ok(None);
    };
    let Ok(found) = glob::glob(pattern) else { return Ok(None) };
    let (mut files, mut wrong) = (Vec::new(), Vec::new());
    for entry in found {
        match entry {
            Ok(path) if path.is_dir() => {}
            Ok(path) => files.push(path),
            Err(error) => wrong.push(format!("{}: {}", error.path().display(), error.error())),
        }
    }
    if wrong.is_empty() { Ok(Some(files)) } else { Err(all(wrong)) }
}

/// One error of several messages.
fn all(messages: Vec<String>) -> Error {
    Error::Message(messages.join("\npds: "))
}

/// Counts what is read.
struct Counted<R> {
    inner: R,
    count: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.count.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}

/// All members of a gzip file, one after another, as `gzip -d` takes them: zeros behind them do not count.
struct Members<R> {
    decoder: Option<GzDecoder<R>>,
    /// Whether a member was read to its end.
    is_later: bool,
}

/// The error of a compressed file that ends too early.
fn cut_off(format: &str) -> io::Error {
    let what = format!("the {format} data ends too early: the file is cut off");
    io::Error::new(io::ErrorKind::UnexpectedEof, what)
}

/// The error of other bytes behind compressed data.
fn behind(format: &str) -> io::Error {
    let what = format!("what follows the {format} data is no {format} data");
    io::Error::new(io::ErrorKind::InvalidData, what)
}

impl<R: BufRead> Read for Members<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while let Some(mut decoder) = self.decoder.take() {
            let read = decoder.read(buffer);
            let read = read.map_err(|error| match error.kind() {
                // The header of a later part is read here, that of the first one was seen.
                _ if decoder.header().is_none() && self.is_later => behind("gzip"),
                io::ErrorKind::UnexpectedEof => cut_off("gzip"),
                kind => io::Error::new(kind, format!("damaged gzip data: {error}")),
            });
            if !matches!(read, Ok(0)) || buffer.is_empty() {
                self.decoder = Some(decoder);
                return read;
            }
            let mut rest = decoder.into_inner();
            loop {
                let block = rest.fill_buf()?;
                let zeros = block.iter().take_while(|&&byte| byte == 0).count();
                if zeros == 0 {
                    break;
                }
                rest.consume(zeros);
            }
            if !rest.fill_buf()?.is_empty() {
                self.decoder = Some(GzDecoder::new(rest));
                self.is_later = true;
            }
        }
        Ok(0)
    }
}

/// All frames of a zstd file, one after another, as `zstd -d` takes them: checksums are compared, and frames to skip are.
struct Frames<R: BufRead> {
    rest: R,
    decoder: FrameDecoder,
    is_in_frame: bool,
}

impl<R: BufRead> Frames<R> {
    /// Begins the next frame. Returns whether there is one.
    fn begin(&mut self) -> io::Result<bool> {
        while !self.rest.fill_buf()?.is_empty() {
            match self.decoder.init(&mut self.rest) {
                Ok(()) => return Ok(true),
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                    length,
                    ..
                })) => {
                    let mut skipped = self.rest.by_ref().take(length.into());
                    if io::copy(&mut skipped, &mut io::sink())? < length.into() {
                        return Err(cut_off("zstd"));
                    }
                }
                Err(FrameDecoderError::ReadFrameHeaderError(
                    ReadFrameHeaderError::BadMagicNumber(_),
                )) => return Err(behind("zstd")),
                Err(error) => return Err(self.broken(&error)),
            }
        }
        Ok(false)
    }

    /// The error of a decoder that cannot go on.
    fn broken(&mut self, error: &FrameDecoderError) -> io::Error {
        match self.rest.fill_buf() {
            Ok([]) => cut_off("zstd"),
            Ok(_) => io::Error::other(format!("damaged zstd data: {error}")),
            Err(error) => error,
        }
    }

    /// Ends a frame of which all was read.
    fn end(&mut self) -> io::Result<()> {
        self.is_in_frame = false;
        let stated = self.decoder.get_checksum_from_data();
        if stated.is_some() && stated != self.decoder.get_calculated_checksum() {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "wrong checksum of a zstd frame",
            ));
        }
        Ok(())
    }
}

impl<R: BufRead> Read for Frames<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if self.is_in_frame {
                while self.decoder.can_collect() < buffer.len() && !self.decoder.is_finished() {
                    let most = BlockDecodingStrategy::UptoBytes(buffer.len());
                    let decoded = self.decoder.decode_blocks(&mut self.rest, most);
                    decoded.map_err(|error| self.broken(&error))?;
                }
                let read = self.decoder.read(buffer)?;
                if read > 0 || buffer.is_empty() {
                    return Ok(read);
                }
                self.end()?;
            }
            if !self.begin()? {
                return Ok(0);
            }
            self.is_in_frame = true;
        }
    }
}
