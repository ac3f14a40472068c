//! Views: banks that answer from portable bytes.

use pds_core::bytes::{ByteOptions, Envelope, OpenView};
use pds_core::error::DecodeError;
use pds_core::hash::{DefaultHashBuilder, PortableHasher};
use pds_core::storage::Stored;

use super::portable::{check_rows, params_of};
use super::rows::Rows;
use crate::FilterBank;

/// A read-only [`FilterBank`] that answers from its portable bytes, without a copy.
///
/// `B` is anything that gives bytes: `&[u8]`, `Vec<u8>`, `Arc<[u8]>`, a memory map. A view has all methods of
/// [`FilterBank`] that read, such as [`sets_with`](FilterBank::sets_with). What is said of the bytes of a
/// [`BloomFilterView`](crate::BloomFilterView) holds for these, too.
///
/// # Examples
/// ```
/// use bloom_core::{FilterBank, FilterBankView};
///
/// let mut bank = FilterBank::new(1_000, 0.001)?;
/// let set = bank.add_set()?;
/// bank.insert(set, "stored");
///
/// let view = FilterBankView::open(bank.to_bytes())?;
/// view.verify()?;
/// assert!(view.sets_with("stored").eq([set]));
/// assert_eq!(view.to_bank()?, bank);
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
pub type FilterBankView<B, S = DefaultHashBuilder> = FilterBank<S, Stored<B>>;

impl<B: AsRef<[u8]>> FilterBankView<B> {
    /// Opens portable bytes that hold one bank and nothing else. For a hasher with a secret key use
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

impl<B: AsRef<[u8]>, S: PortableHasher> FilterBankView<B, S> {
    /// Returns the bytes that the view was opened from.
    #[must_use]
    pub const fn get_ref(&self) -> &B {
        self.rows.storage().get_ref()
    }

    /// Verifies the payload: its checksum, and whether the unused bits are clear.
    ///
    /// # Errors
    /// [`DecodeError`] says what is wrong, and at which offset.
    ///
    /// # Complexity
    /// O(size): reads every byte.
    pub fn verify(&self) -> Result<(), DecodeError> {
        let envelope = self.rows.storage().envelope();
        envelope.verify()?;
        check_rows(&self.rows, envelope.header().payload_end() - self.size_in_bytes())
    }

    /// Verifies the bytes and copies the bank out of them.
    ///
    /// # Errors
    /// As [`verify`](Self::verify), and [`Alloc`](pds_core::error::DecodeErrorKind::Alloc) if the allocator refuses the
    /// memory.
    pub fn to_bank(&self) -> Result<FilterBank<S>, DecodeError>
    where
        S: Clone,
    {
        self.rows.storage().envelope().decode(Some(self.hasher.clone()))
    }
}

impl<B: AsRef<[u8]>, S: PortableHasher> OpenView<B> for FilterBankView<B, S> {
    type Hasher = S;

    fn open_view(envelope: Envelope<B>, hasher: Option<S>) -> Result<Self, DecodeError> {
        let (words, hasher) = Stored::open::<FilterBank<S>>(envelope, hasher)?;
        let (params, num_sets) = params_of(&words.envelope().header().shape)?;
        Ok(Self { rows: Rows::from_words(words, params.num_bits(), num_sets), params, hasher })
    }
}
