//! A blocked counting Bloom filter that answers from its stored bytes.

use pds_core::bytes::{ByteOptions, Envelope, OpenView};
use pds_core::error::DecodeError;
use pds_core::hash::{DefaultHashBuilder, PortableHasher};
use pds_core::storage::Stored;

use crate::BlockedCountingBloomFilter;
use crate::lines::Lines;
use crate::portable::blocked_params_of;

/// A read-only [`BlockedCountingBloomFilter`] that answers from its portable bytes, without a copy.
///
/// `B` is anything that gives bytes: `&[u8]`, `Vec<u8>`, `Arc<[u8]>`, a memory map. The view owns the `B`, so a program
/// can keep many views in one collection without lifetimes. The bytes may start at any address. A lookup
/// reads one cache line if the bytes start at a multiple of 64, and two otherwise.
///
/// A view has all methods of [`BlockedCountingBloomFilter`] that read, such as
/// [`contains`](BlockedCountingBloomFilter::contains).
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
/// use bloom_counting::{BlockedCountingBloomFilter, BlockedCountingBloomFilterView};
///
/// let mut filter = BlockedCountingBloomFilter::new(1_000, 0.01)?;
/// filter.extend(["stored", "stored"]);
///
/// let view: BlockedCountingBloomFilterView<Vec<u8>> = BlockedCountingBloomFilterView::open(filter.to_bytes())?;
/// view.verify()?;
/// assert_eq!((view.estimate("stored"), view.estimate("absent")), (2, 0));
/// assert_eq!(view.to_filter()?, filter);
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
pub type BlockedCountingBloomFilterView<B, S = DefaultHashBuilder> =
    BlockedCountingBloomFilter<S, Stored<B>>;

impl<B: AsRef<[u8]>> BlockedCountingBloomFilterView<B> {
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

impl<B: AsRef<[u8]>, S: PortableHasher> BlockedCountingBloomFilterView<B, S> {
    /// Returns the bytes that the view was opened from.
    #[must_use]
    pub fn get_ref(&self) -> &B {
        self.counters.words().get_ref()
    }

    /// Verifies the payload: its checksum.
    ///
    /// # Errors
    /// [`DecodeError`] says what is wrong, and at which offset.
    ///
    /// # Complexity
    /// O(size): reads every byte.
    pub fn verify(&self) -> Result<(), DecodeError> {
        self.counters.words().envelope().verify()
    }

    /// Verifies the bytes and copies the filter out of them.
    ///
    /// # Errors
    /// As [`verify`](Self::verify), and [`Alloc`](pds_core::error::DecodeErrorKind::Alloc) if the allocator refuses the
    /// memory.
    pub fn to_filter(&self) -> Result<BlockedCountingBloomFilter<S>, DecodeError>
    where
        S: Clone,
    {
        self.counters.words().envelope().decode(Some(self.hasher.clone()))
    }
}

impl<B: AsRef<[u8]>, S: PortableHasher> OpenView<B> for BlockedCountingBloomFilterView<B, S> {
    type Hasher = S;

    fn open_view(envelope: Envelope<B>, hasher: Option<S>) -> Result<Self, DecodeError> {
        let (words, hasher) = Stored::open::<BlockedCountingBloomFilter<S>>(envelope, hasher)?;
        let params = blocked_params_of(&words.envelope().header().shape)?;
        Ok(Self { counters: Lines::from_words(words, &params), params, hasher })
    }
}
