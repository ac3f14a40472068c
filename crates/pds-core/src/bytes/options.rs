use alloc::vec::Vec;
#[cfg(feature = "std")]
use std::{
    fs::File,
    io::{self, Read, Write},
    path::Path,
};

use super::{
    Compressed, Envelope, FromEnvelope, MaybeHasher, NoHasher, OpenView, SecretKey, ToEnvelope,
};
#[cfg(feature = "std")]
use super::{EnvelopeReader, file, stream};
use crate::error::DecodeError;
#[cfg(feature = "std")]
use crate::error::{FileError, ReadError};
use crate::hash::{PortableHasher, PublicSeed};

/// Options for writing and reading portable bytes: which hasher, whether its secret key is written, and how long the
/// bytes may be.
///
/// The types of the family have short methods for the usual case (`to_bytes`, `write_to`, `from_bytes`, `read_from`).
/// Use the options for files, for other hashers than the default one, for secret keys and for limits.
///
/// # Secret keys
/// The seed of the default hasher is no secret, and is written with every structure. A hasher with a secret key, such
/// as
/// [`SipHashBuilder`](crate::hash::SipHashBuilder), needs a choice. [`with_key`](Self::with_key) writes the key in clear:
/// whoever can read the bytes can craft keys. [`without_key`](Self::without_key) omits it. Keep the key elsewhere then,
/// and pass the hasher to [`hasher`](Self::hasher) when you read.
///
/// # Examples
/// ```
/// # #[cfg(feature = "std")] {
/// use pds_core::bytes::{ByteOptions, NoHasher, Portable, Shape, Sink, Source};
/// # use core::ops::RangeInclusive;
/// # use pds_core::bytes::Kind;
/// # use pds_core::error::DecodeError;
/// # #[derive(Debug, PartialEq)]
/// # struct Pair(u64, u64);
/// # impl Portable for Pair {
/// #     type Hasher = NoHasher;
/// #     const KIND: Kind = Kind::new(0x8002, "pair");
/// #     fn portable_hasher(&self) -> &NoHasher { &NoHasher }
/// #     fn shape(&self) -> Shape { Shape::new([]) }
/// #     fn payload_range(_: &Shape) -> Result<RangeInclusive<u64>, DecodeError> { Ok(16..=16) }
/// #     fn write_payload<W: Sink>(&self, sink: &mut W) -> Result<(), W::Error> {
/// #         sink.put_u64(self.0)?;
/// #         sink.put_u64(self.1)
/// #     }
/// #     fn read_payload<R: Source>(_: &Shape, _: NoHasher, source: &mut R) -> Result<Self, R::Error> {
/// #         Ok(Self(source.take_u64()?, source.take_u64()?))
/// #     }
/// # }
/// # let folder = std::env::temp_dir().join(format!("pds-options-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder)?;
/// # let path = folder.join("pair.pds");
/// let structure = Pair(1, 2);
/// ByteOptions::new().save(&structure, &path)?;
/// let loaded: Pair = ByteOptions::new().load(&path)?;
/// assert_eq!(loaded, structure);
///
/// // From the network: at most a kilobyte.
/// let bytes = ByteOptions::new().to_bytes(&structure);
/// let read: Pair = ByteOptions::new().max_bytes(1_000).read_from(bytes.as_slice())?;
/// # assert_eq!(read, structure);
/// # std::fs::remove_dir_all(&folder)?;
/// # }
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[must_use]
pub struct ByteOptions<H = (), K = ()> {
    hasher: H,
    key: K,
    max_bytes: Option<u64>,
}

impl ByteOptions {
    /// The longest envelope that is read from a stream if [`max_bytes`](Self::max_bytes) is not set: 1 GiB.
    pub const DEFAULT_MAX_BYTES: u64 = 1 << 30;

    /// Returns the usual options: the hasher of the bytes, no secret key, and at most
    /// [`DEFAULT_MAX_BYTES`](Self::DEFAULT_MAX_BYTES) from a stream.
    pub const fn new() -> Self {
        Self { hasher: (), key: (), max_bytes: None }
    }
}

impl Default for ByteOptions {
    fn default() -> Self {
        Self::new()
    }
}

impl<H, K> ByteOptions<H, K> {
    /// Reads with `hasher`. Use it for bytes that were written [`without_key`](Self::without_key).
    ///
    /// A reader that is given another hasher than the one that built the structure returns
    /// [`KeyMismatch`](crate::error::DecodeErrorKind::KeyMismatch).
    pub fn hasher<S: PortableHasher>(self, hasher: S) -> ByteOptions<S, K> {
        ByteOptions { hasher, key: self.key, max_bytes: self.max_bytes }
    }

    /// Writes the secret key of the hasher in clear, so that a reader needs nothing else.
    pub fn with_key(self) -> ByteOptions<H, SecretKey> {
        ByteOptions { hasher: self.hasher, key: SecretKey::Include, max_bytes: self.max_bytes }
    }

    /// Omits the secret key of the hasher. Keep the key elsewhere: without it the bytes are lost.
    ///
    /// For a hasher without a secret this changes nothing.
    pub fn without_key(self) -> ByteOptions<H, SecretKey> {
        ByteOptions { hasher: self.hasher, key: SecretKey::Omit, max_bytes: self.max_bytes }
    }

    /// Reads envelopes of at most this many bytes, whatever their source. Longer ones are
    /// [`Limit`](crate::error::DecodeErrorKind::Limit).
    ///
    /// Reading allocates no more than this and a constant, which for an `UltraLogLog` is 256 KiB. Pass `u64::MAX` for streams that are trusted.
    pub const fn max_bytes(mut self, max_bytes: u64) -> Self {
        self.max_bytes = Some(max_bytes);
        self
    }

    /// Returns the choice of the key of a hasher `S`.
    #[cfg(feature = "std")]
    pub(crate) fn secret_key<S>(&self) -> SecretKey
    where
        K: KeyChoice<S>,
    {
        self.key.choice()
    }

    /// Returns the portable bytes of a structure.
    ///
    /// # Complexity
    /// O(size); allocates the bytes.
    #[must_use]
    pub fn to_bytes<P: ToEnvelope>(&self, structure: &P) -> Vec<u8>
    where
        K: KeyChoice<P::Hasher>,
    {
        super::writer::to_vec(structure, self.key.choice())
    }

    /// Writes the portable bytes of a structure, 16 KiB at a time.
    ///
    /// # Errors
    /// Those of the writer.
    #[cfg(feature = "std")]
    pub fn write_to<P: ToEnvelope>(&self, structure: &P, writer: impl Write) -> io::Result<()>
    where
        K: KeyChoice<P::Hasher>,
    {
        stream::write_to(structure, self.key.choice(), writer)
    }

    /// Saves the portable bytes of a structure to a file. A crash leaves the old file or the new one, complete.
    ///
    /// Writes a temporary file in the same folder, syncs it, renames it, and syncs the folder.
    ///
    /// On Unix the file has the permissions of the one that it replaces. If there is none, and it holds a secret key, only its
    /// owner can read it (mode 0600).
    ///
    /// # Errors
    /// [`FileError`] names the path. Until the rename the old file is unchanged, and the temporary file is removed.
    #[cfg(feature = "std")]
    pub fn save<P: ToEnvelope>(
        &self,
        structure: &P,
        path: impl AsRef<Path>,
    ) -> Result<(), FileError>
    where
        K: KeyChoice<P::Hasher>,
    {
        let (path, key) = (path.as_ref(), self.key.choice());
        file::save(structure, key, path).map_err(|error| FileError::new(path, error))
    }

    /// Reads portable bytes that hold one structure and nothing else.
    ///
    /// # Errors
    /// [`DecodeError`] says what is wrong, and at which offset.
    ///
    /// # Complexity
    /// O(length of the bytes). Allocates no more than the bytes justify. An `UltraLogLog` takes all of its registers, 256 KiB
    /// at the most.
    pub fn from_bytes<P: FromEnvelope>(self, bytes: &[u8]) -> Result<P, DecodeError>
    where
        H: HasherChoice<P::Hasher>,
    {
        P::from_envelope(self.envelope(bytes)?, self.hasher.choice())
    }

    /// Opens portable bytes as a view, which answers from them without a copy.
    ///
    /// # Errors
    /// [`DecodeError`] says what is wrong, and at which offset.
    ///
    /// # Complexity
    /// Constant.
    pub fn open<B: AsRef<[u8]>, V: OpenView<B>>(self, bytes: B) -> Result<V, DecodeError>
    where
        H: HasherChoice<V::Hasher>,
    {
        V::open_view(self.envelope(bytes)?, self.hasher.choice())
    }

    fn envelope<B: AsRef<[u8]>>(&self, bytes: B) -> Result<Envelope<B>, DecodeError> {
        let envelope = Envelope::open(bytes)?;
        self.max_bytes.map_or(Ok(()), |most| envelope.header().expect_at_most(most))?;
        Ok(envelope)
    }

    /// Compresses a structure.
    ///
    /// # Complexity
    /// O(size); allocates the portable bytes, and then their code.
    #[must_use]
    pub fn compress<P: ToEnvelope>(&self, structure: &P) -> Compressed
    where
        K: KeyChoice<P::Hasher>,
    {
        Compressed::with(structure, self.key.choice())
    }

    /// Decodes a compressed structure, and verifies all of it.
    ///
    /// Few compressed bytes can stand for many: [`max_bytes`](Self::max_bytes) limits the portable bytes, to
    /// [`DEFAULT_MAX_BYTES`](ByteOptions::DEFAULT_MAX_BYTES) if it is not set.
    ///
    /// # Errors
    /// As [`Compressed::decompress`].
    pub fn decompress<P: FromEnvelope>(self, compressed: &Compressed) -> Result<P, DecodeError>
    where
        H: HasherChoice<P::Hasher>,
    {
        let max_bytes = self.max_bytes.unwrap_or(ByteOptions::DEFAULT_MAX_BYTES);
        compressed.header().expect_at_most(max_bytes)?;
        P::from_envelope(Envelope::open(compressed.envelope()?)?, self.hasher.choice())
    }

    /// Reads one structure from a stream. Leaves what follows it in the reader.
    ///
    /// Allocates the contents once, and refuses more than [`max_bytes`](Self::max_bytes) allows.
    ///
    /// # Errors
    /// [`ReadError`] if reading fails, or if the bytes are wrong.
    #[cfg(feature = "std")]
    pub fn read_from<P: FromEnvelope>(self, reader: impl Read) -> Result<P, ReadError>
    where
        H: HasherChoice<P::Hasher>,
    {
        P::from_envelope(self.open_stream(reader)?, self.hasher.choice())
    }

    /// Loads a file that holds one structure and nothing else.
    ///
    /// # Errors
    /// [`FileError`] names the path, and says why it cannot be read or what is wrong with its bytes.
    #[cfg(feature = "std")]
    pub fn load<P: FromEnvelope>(self, path: impl AsRef<Path>) -> Result<P, FileError>
    where
        H: HasherChoice<P::Hasher>,
    {
        let path = path.as_ref();
        let opened = self.open_file(path)?;
        P::from_envelope(opened, self.hasher.choice()).map_err(|error| FileError::new(path, error))
    }

    /// Reads the head of an envelope in a stream, and no more.
    ///
    /// # Errors
    /// [`ReadError`] if reading fails, or if the head is wrong.
    #[cfg(feature = "std")]
    pub fn open_stream<R: Read>(&self, reader: R) -> Result<EnvelopeReader<R>, ReadError> {
        let max_bytes = self.max_bytes.unwrap_or(ByteOptions::DEFAULT_MAX_BYTES);
        EnvelopeReader::open(reader, max_bytes)
    }

    /// Reads the head of a file that holds one envelope and nothing else.
    ///
    /// A regular file is limited by its length. Anything else, such as a pipe, is limited as a stream is.
    ///
    /// # Errors
    /// [`FileError`] names the path, and says why it cannot be read or what is wrong with the head.
    #[cfg(feature = "std")]
    pub fn open_file(&self, path: impl AsRef<Path>) -> Result<EnvelopeReader<File>, FileError> {
        let path = path.as_ref();
        EnvelopeReader::open_file(path, self.max_bytes).map_err(|error| FileError::new(path, error))
    }
}

/// Which hasher [`ByteOptions`] read with: `()` takes the one in the bytes.
///
/// Implemented for `()` and for every [`PortableHasher`], and for nothing else.
#[diagnostic::on_unimplemented(
    message = "a structure with the hasher `{S}` cannot be read with `{Self}`",
    label = "the structure has another hasher",
    note = "let the compiler infer the hasher of the structure: `ByteOptions::new().hasher(hasher).from_bytes::<BloomFilter<_>>(&bytes)`"
)]
pub trait HasherChoice<S>: sealed::Sealed {
    #[doc(hidden)]
    fn choice(self) -> Option<S>;
}

impl<S> HasherChoice<S> for () {
    fn choice(self) -> Option<S> {
        None
    }
}

impl<S: PortableHasher> HasherChoice<S> for S {
    fn choice(self) -> Option<S> {
        Some(self)
    }
}

/// Whether [`ByteOptions`] write the secret key of a hasher `S`: `()` needs a hasher without one.
///
/// Implemented for `()` and for [`SecretKey`], and for nothing else.
#[diagnostic::on_unimplemented(
    message = "the key of `{S}` is a secret: say whether it is written with the structure",
    label = "`ByteOptions` need a choice before this call",
    note = "`.with_key()` writes the key in clear: `ByteOptions::new().with_key().save(&filter, path)`",
    note = "`.without_key()` omits the key: keep it, and pass the hasher to `ByteOptions::new().hasher(hasher)` to read. Without \
            the key the bytes are lost"
)]
pub trait KeyChoice<S>: sealed::Sealed {
    #[doc(hidden)]
    fn choice(&self) -> SecretKey;
}

impl<S: PublicSeed> KeyChoice<S> for () {
    fn choice(&self) -> SecretKey {
        SecretKey::Include
    }
}

impl KeyChoice<NoHasher> for () {
    fn choice(&self) -> SecretKey {
        SecretKey::Omit
    }
}

impl<S: MaybeHasher> KeyChoice<S> for SecretKey {
    fn choice(&self) -> SecretKey {
        *self
    }
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for () {}
    impl Sealed for super::SecretKey {}
    impl<S: crate::hash::PortableHasher> Sealed for S {}
}
