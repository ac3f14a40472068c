//! Views: sketches that answer from portable bytes.

use pds_core::bytes::{ByteOptions, Envelope, OpenView};
use pds_core::error::DecodeError;
use pds_core::hash::{DefaultHashBuilder, PortableHasher};
use pds_core::internal::StoredWord;
use pds_core::storage::{Stored, WordSource};

use crate::cells::{index, words_for};
use crate::portable::{TALLY_BYTES, check_sketch, counted_of, params_of, sketch_params_of};
use crate::{CountMinSketch, CountSketch, Counter};

/// A read-only [`CountMinSketch`] that answers from its portable bytes, without a copy.
///
/// `B` is anything that gives bytes: `&[u8]`, `Vec<u8>`, `Arc<[u8]>`, a memory map. The view owns the `B`, so a program
/// can keep many views in one collection without lifetimes. The bytes may start at any address.
///
/// A view has all methods of [`CountMinSketch`] that read, such as [`estimate`](CountMinSketch::estimate).
///
/// [`open`](Self::open) checks the head and the length in constant time. Call [`verify`](Self::verify) to check the
/// payload too.
///
/// # Guarantees
/// - The answers are those of the sketch that wrote the bytes.
/// - If the payload is damaged and was not verified, answers may be wrong in both directions. No query panics, and
///   none reads outside the bytes.
/// - Do not truncate a file while it is mapped: the system then ends the process on access (`SIGBUS`). Replace files by
///   renaming, as [`ByteOptions::save`] does.
///
/// # Examples
/// ```
/// use std::sync::Arc;
/// use cms::{CountMinSketch, CountMinSketchView};
///
/// let mut sketch = CountMinSketch::new(0.01, 0.01)?;
/// sketch.insert_many("stored", 3);
/// let bytes: Arc<[u8]> = sketch.to_bytes().into();
///
/// let view: CountMinSketchView<Arc<[u8]>> = CountMinSketchView::open(bytes)?;
/// view.verify()?;
/// assert_eq!((view.estimate("stored").value(), view.estimate("absent").value()), (3, 0));
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
pub type CountMinSketchView<B, S = DefaultHashBuilder, C = u32> = CountMinSketch<S, C, Stored<B>>;

impl<B: AsRef<[u8]>, C: Counter> CountMinSketchView<B, DefaultHashBuilder, C> {
    /// Opens portable bytes that hold one sketch and nothing else. For a hasher with a secret key use
    /// [`ByteOptions::open`].
    ///
    /// # Errors
    /// [`DecodeError`] says what is wrong, and at which offset.
    ///
    /// # Complexity
    /// Constant. Reads the head, and the two numbers after the counters.
    pub fn open(bytes: B) -> Result<Self, DecodeError> {
        ByteOptions::new().open(bytes)
    }
}

impl<B: AsRef<[u8]>, S: PortableHasher, C: Counter> CountMinSketchView<B, S, C> {
    /// Returns the bytes that the view was opened from.
    #[must_use]
    pub const fn get_ref(&self) -> &B {
        self.counters.get_ref()
    }

    /// Verifies the payload: its checksum, and whether the counters, their total and their limit fit together.
    ///
    /// # Errors
    /// [`DecodeError`] says what is wrong, and at which offset.
    ///
    /// # Complexity
    /// O(size): reads every byte.
    pub fn verify(&self) -> Result<(), DecodeError> {
        let envelope = self.counters.envelope();
        envelope.verify()?;
        let words = words_for::<C>(self.params.counters());
        let end = envelope.header().payload_end() - TALLY_BYTES;
        let last_word = self.counters.as_words()[index(words) - 1].value();
        check_sketch(self.rows(), &self.params, last_word, counted_of(envelope.payload()), end)
    }

    /// Verifies the bytes and copies the sketch out of them.
    ///
    /// # Errors
    /// As [`verify`](Self::verify), and [`Alloc`](pds_core::error::DecodeErrorKind::Alloc) if the allocator refuses the
    /// memory.
    pub fn to_sketch(&self) -> Result<CountMinSketch<S, C>, DecodeError>
    where
        S: Clone,
    {
        self.counters.envelope().decode(Some(self.hasher.clone()))
    }
}

impl<B: AsRef<[u8]>, S: PortableHasher, C: Counter> OpenView<B> for CountMinSketchView<B, S, C> {
    type Hasher = S;

    fn open_view(envelope: Envelope<B>, hasher: Option<S>) -> Result<Self, DecodeError> {
        let (words, hasher) = Stored::open::<CountMinSketch<S, C>>(envelope, hasher)?;
        let (params, update) = params_of::<C, Stored<B>>(&words.envelope().header().shape)?;
        let counted = counted_of(words.payload());
        Ok(Self::from_parts(words, params, update, counted, hasher))
    }
}

/// A read-only [`CountSketch`] that answers from its portable bytes, without a copy.
///
/// It has all methods of [`CountSketch`] that read. For `B`, and for damaged bytes, see [`CountMinSketchView`].
///
/// # Examples
/// ```
/// use cms::{CountSketch, CountSketchView};
///
/// let mut stock = CountSketch::new(0.01, 0.01)?;
/// stock.insert_many("apples", 10);
/// stock.remove_many("apples", 3);
///
/// let view = CountSketchView::open(stock.to_bytes())?;
/// view.verify()?;
/// assert_eq!((view.estimate("apples").value(), view.estimate("pears").value()), (7, 0));
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
pub type CountSketchView<B, S = DefaultHashBuilder> = CountSketch<S, Stored<B>>;

impl<B: AsRef<[u8]>> CountSketchView<B> {
    /// Opens portable bytes that hold one sketch and nothing else. For a hasher with a secret key use
    /// [`ByteOptions::open`].
    ///
    /// # Errors
    /// [`DecodeError`] says what is wrong, and at which offset.
    ///
    /// # Complexity
    /// Constant.
    pub fn open(bytes: B) -> Result<Self, DecodeError> {
        ByteOptions::new().open(bytes)
    }
}

impl<B: AsRef<[u8]>, S: PortableHasher> CountSketchView<B, S> {
    /// Returns the bytes that the view was opened from.
    #[must_use]
    pub const fn get_ref(&self) -> &B {
        self.counters.get_ref()
    }

    /// Verifies the checksum of the payload. Any counters can be those of a sketch.
    ///
    /// # Errors
    /// [`DecodeError`] says what is wrong, and at which offset.
    ///
    /// # Complexity
    /// O(size): reads every byte.
    pub fn verify(&self) -> Result<(), DecodeError> {
        self.counters.envelope().verify()
    }

    /// Verifies the bytes and copies the sketch out of them.
    ///
    /// # Errors
    /// As [`verify`](Self::verify), and [`Alloc`](pds_core::error::DecodeErrorKind::Alloc) if the allocator refuses the
    /// memory.
    pub fn to_sketch(&self) -> Result<CountSketch<S>, DecodeError>
    where
        S: Clone,
    {
        self.counters.envelope().decode(Some(self.hasher.clone()))
    }
}

impl<B: AsRef<[u8]>, S: PortableHasher> OpenView<B> for CountSketchView<B, S> {
    type Hasher = S;

    fn open_view(envelope: Envelope<B>, hasher: Option<S>) -> Result<Self, DecodeError> {
        let (counters, hasher) = Stored::open::<CountSketch<S>>(envelope, hasher)?;
        let params = sketch_params_of(&counters.envelope().header().shape)?;
        Ok(Self { counters, params, hasher })
    }
}
