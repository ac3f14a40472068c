//! A counting Bloom filter that answers from its stored bytes.

use pds_core::bytes::{ByteOptions, Envelope, OpenView};
use pds_core::error::DecodeError;
use pds_core::hash::{DefaultHashBuilder, PortableHasher};
use pds_core::storage::Stored;

use crate::counters::Counters;
use crate::portable::params_of;
use crate::{Bits4, Counter, CountingBloomFilter};

/// A read-only [`CountingBloomFilter`] that answers from its portable bytes, without a copy.
///
/// `B` is anything that gives bytes: `&[u8]`, `Vec<u8>`, `Arc<[u8]>`, a memory map. The view owns the `B`, so a program
/// can keep many views in one collection without lifetimes. The bytes may start at any address.
///
/// A view has all methods of [`CountingBloomFilter`] that read, such as [`contains`](CountingBloomFilter::contains).
///
/// [`open`](Self::open) checks the head and the length in constant time. Call [`verify`](Self::verify) to check the
/// payload too.
///
/// # Guarantees
/// - The answers are those of the filter that wrote the bytes.
/// - If the payload is damaged and was not verified, answers may be wrong in both directions. No question panics, and
///   none reads outside the bytes.
/// - Do not truncate a file while it is mapped: the system then ends the process on access (`SIGBUS`). Replace files by
///   renaming, as [`ByteOptions::save`] does.
///
/// # Examples
/// ```
/// use bloom_counting::{CountingBloomFilter, CountingBloomFilterView};
///
/// let mut filter = CountingBloomFilter::new(1_000, 0.01)?;
/// filter.extend(["stored", "stored"]);
///
/// let view: CountingBloomFilterView<Vec<u8>> = CountingBloomFilterView::open(filter.to_bytes())?;
/// view.verify()?;
/// assert_eq!((view.estimate("stored"), view.estimate("absent")), (2, 0));
/// assert_eq!(view.to_filter()?, filter);
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
pub type CountingBloomFilterView<B, S = DefaultHashBuilder, C = Bits4> =
    CountingBloomFilter<S, C, Stored<B>>;

impl<B: AsRef<[u8]>, C: Counter> CountingBloomFilterView<B, DefaultHashBuilder, C> {
    /// Opens portable bytes that hold one filter and nothing else. For a hasher with a secret key use
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

impl<B: AsRef<[u8]>, S: PortableHasher, C: Counter> CountingBloomFilterView<B, S, C> {
    /// Returns the bytes that the view was opened from.
    #[must_use]
    pub const fn get_ref(&self) -> &B {
        self.counters.words().get_ref()
    }

    /// Verifies the payload: its checksum, and the unused bits.
    ///
    /// # Errors
    /// [`DecodeError`] says what is wrong, and at which offset.
    ///
    /// # Complexity
    /// O(size): reads every byte.
    pub fn verify(&self) -> Result<(), DecodeError> {
        let envelope = self.counters.words().envelope();
        envelope.verify()?;
        self.counters.check_padding(envelope.header().payload_end())
    }

    /// Verifies the bytes and copies the filter out of them.
    ///
    /// # Errors
    /// As [`verify`](Self::verify), and [`Alloc`](pds_core::error::DecodeErrorKind::Alloc) if the allocator refuses the
    /// memory.
    pub fn to_filter(&self) -> Result<CountingBloomFilter<S, C>, DecodeError>
    where
        S: Clone,
    {
        self.counters.words().envelope().decode(Some(self.hasher.clone()))
    }
}

impl<B: AsRef<[u8]>, S: PortableHasher, C: Counter> OpenView<B>
    for CountingBloomFilterView<B, S, C>
{
    type Hasher = S;

    fn open_view(envelope: Envelope<B>, hasher: Option<S>) -> Result<Self, DecodeError> {
        let (words, hasher) = Stored::open::<CountingBloomFilter<S, C>>(envelope, hasher)?;
        let params = params_of::<C>(&words.envelope().header().shape)?;
        Ok(Self { counters: Counters::from_words(words, params.num_bits()), params, hasher })
    }
}
