//! Bloom filters of many sets, side by side: construction, and the methods that change a bank.

pub(crate) mod portable;
pub(crate) mod push_error;
mod reading;
mod rows;
pub(crate) mod sets;
pub(crate) mod view;

use core::hash::Hash;

use pds_core::error::{AllocError, BuildError, Incompatible};
use pds_core::hash::{DefaultHashBuilder, KeyHasher};
use pds_core::storage::{WordSource, Words};
use pds_params::BloomParams;

use crate::{BloomFilter, PushError};
use rows::Rows;

/// Bloom filters of many sets, which answer together in which sets a key is.
///
/// A bank answers as its filters would one by one: for a set that contains the key, always, and for each other set at the
/// false-positive rate. Of 1,000 sets at 0.1 %, one on average is named wrongly.
///
/// The filters have one shape and one hasher. Their bits are stored by position: bit s of row p is bit p of the filter of
/// set s. One lookup reads a row per hash function, and the sets that have all of these bits remain. The sets are numbered
/// from 0 up, in the order in which they were added.
///
/// The sets should have about as many keys, because each takes the memory of the largest one.
///
/// # Storage
/// `S` is the hasher. `W` is the [storage](pds_core::storage): `FilterBank` has words of its own, and a
/// [`FilterBankView<B>`](crate::FilterBankView) answers from portable bytes of the type `B`.
///
/// # Guarantees
/// - False negatives: never, if `Hash` of a key always feeds the same bytes.
/// - False positives: per set, those of a [`BloomFilter`] of this shape.
/// - Memory: m / 8 bytes per set of m bits, for the number of sets rounded up to a multiple of 64.
/// - Time: a lookup is O(k N / 64) for k hashes and N sets. It reads k cache lines per 512 sets.
///
/// # Examples
/// ```
/// use bloom_core::FilterBank;
///
/// let mut days = FilterBank::new(1_000, 0.001)?;
/// for users in [["ann", "bob"], ["bob", "eve"], ["eve", "joe"]] {
///     let day = days.add_set()?;
///     users.iter().for_each(|user| _ = days.insert(day, user));
/// }
/// assert!(days.sets_with("bob").eq([0, 1]));
/// assert!(days.sets_with("ida").eq([]));
/// # Ok::<(), bloom_core::error::BuildError>(())
/// ```
///
/// # References
/// Phelim Bradley, Henk C. den Bakker, Eduardo P. C. Rocha, Gil McVean and Zamin Iqbal, "Ultrafast Search of All Deposited
/// Bacterial and Viral Genomic Data", Nature Biotechnology 37, 2019 (the bit-sliced matrix); Timo Bingmann, Phelim
/// Bradley, Florian Gauger and Zamin Iqbal, "COBS: A Compact Bit-Sliced Signature Index", SPIRE 2019.
#[derive(Clone)]
pub struct FilterBank<S = DefaultHashBuilder, W = Words> {
    pub(crate) rows: Rows<W>,
    /// Shape and design of each filter.
    params: BloomParams,
    /// From keys to hashes.
    hasher: S,
}

impl FilterBank {
    /// Creates a bank without sets. Each set keeps the false-positive rate `rate` up to `expected_items` distinct items.
    ///
    /// For other sizes, a seed or another hasher, use [`BloomFilter::builder`] and its
    /// [`build_bank`](crate::BloomFilterBuilder::build_bank).
    ///
    /// # Errors
    /// [`BuildError::Param`] as for [`BloomFilter::new`].
    pub fn new(expected_items: u64, rate: f64) -> Result<Self, BuildError> {
        BloomFilter::builder().expected_items(expected_items).false_positive_rate(rate).build_bank()
    }
}

impl<S: KeyHasher> FilterBank<S> {
    /// Creates a bank without sets, for filters with exactly these parameters.
    pub fn from_params(params: BloomParams, hasher: S) -> Self {
        Self { rows: Rows::new(params.num_bits()), params, hasher }
    }

    /// Adds an empty set. Returns its number.
    ///
    /// # Errors
    /// [`AllocError`] if the allocator refuses the memory. Nothing is changed then.
    ///
    /// # Complexity
    /// O(m) amortised, for m bits per set.
    pub fn add_set(&mut self) -> Result<usize, AllocError> {
        let set = self.num_sets();
        self.rows.extend(1)?;
        Ok(set)
    }

    /// Adds a set that contains what `filter` contains. Returns its number. The filter can be in any storage.
    ///
    /// For many filters, [`extend_from`](Self::extend_from) is several times as fast.
    ///
    /// # Errors
    /// [`PushError::Incompatible`] if bits, hashes or hasher are not those of the bank. [`PushError::Alloc`] if the allocator
    /// refuses the memory. Nothing is changed then.
    ///
    /// # Complexity
    /// O(m) amortised, for m bits per set.
    ///
    /// # Examples
    /// ```
    /// use bloom_core::{BloomFilter, FilterBank};
    ///
    /// let mut filter = BloomFilter::new(100, 0.01)?;
    /// filter.insert("stored");
    /// let mut bank = FilterBank::new(100, 0.01)?;
    /// assert_eq!(bank.push(&filter)?, 0);
    /// assert!(bank.sets_with("stored").eq([0]));
    ///
    /// let other = BloomFilter::new(200, 0.01)?;
    /// let error = bank.push(&other).unwrap_err();
    /// assert_eq!(error.to_string(), "the number of bits differs: 962 here, 1921 in the other");
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn push(&mut self, filter: &BloomFilter<S, impl WordSource>) -> Result<usize, PushError> {
        let set = self.num_sets();
        self.extend_from([filter])?;
        Ok(set)
    }

    /// Adds a set for each filter, in their order. The filters can be in any storage.
    ///
    /// # Errors
    /// As [`push`](Self::push): no filter is added if one differs from the bank.
    ///
    /// # Complexity
    /// O(m) per filter of m bits.
    pub fn extend_from<'a, V: WordSource + 'a>(
        &mut self,
        filters: impl IntoIterator<Item = &'a BloomFilter<S, V>, IntoIter: Clone>,
    ) -> Result<(), PushError>
    where
        S: 'a,
    {
        let mut filters = filters.into_iter();
        let mut added = 0;
        for filter in filters.clone() {
            self.check_compatible(filter)?;
            added += 1;
        }
        let (mut set, end) = (self.num_sets(), self.num_sets() + added);
        self.rows.extend(added)?;
        while set < end {
            let count = (64 - set % 64).min(end - set);
            let mut words: [&[V::Word]; 64] = [&[]; 64];
            for (words, filter) in words[..count].iter_mut().zip(&mut filters) {
                *words = filter.bits.storage().as_words();
            }
            self.rows.write(set, &words[..count]);
            set += count;
        }
        Ok(())
    }

    /// Removes a set. The last set takes its number, as with [`Vec::swap_remove`](alloc::vec::Vec::swap_remove).
    ///
    /// If a vector has what belongs to the sets, such as their names, call its `swap_remove` with the same number. The
    /// memory is kept for further sets.
    ///
    /// # Panics
    /// If there is no set of this number.
    ///
    /// # Complexity
    /// O(m) for m bits per set.
    ///
    /// # Examples
    /// ```
    /// use bloom_core::FilterBank;
    ///
    /// let mut bank = FilterBank::new(100, 0.001)?;
    /// let mut names = vec!["a", "b", "c"];
    /// for name in &names {
    ///     let set = bank.add_set()?;
    ///     bank.insert(set, name);
    /// }
    /// bank.swap_remove(0);
    /// names.swap_remove(0);
    /// assert_eq!(bank.num_sets(), 2);
    /// assert!(bank.sets_with("c").map(|set| names[set]).eq(["c"]));
    /// # Ok::<(), bloom_core::error::BuildError>(())
    /// ```
    #[track_caller]
    pub fn swap_remove(&mut self, set: usize) {
        self.check_set(set);
        self.rows.swap_remove(set);
    }

    /// Removes all sets. The memory is kept for further ones.
    pub fn clear(&mut self) {
        self.rows.clear();
    }

    /// Inserts `key` into a set. Returns `true` if the set did not contain it before, as [`BloomFilter::insert`] does.
    ///
    /// # Panics
    /// If there is no set of this number.
    ///
    /// # Complexity
    /// O(k) for k hash functions, without allocation.
    #[inline]
    #[track_caller]
    pub fn insert<K: Hash + ?Sized>(&mut self, set: usize, key: &K) -> bool {
        self.insert_hash(set, self.hasher.hash_key(key))
    }

    /// Inserts a key by its [hash](KeyHasher#hashes-of-your-own) into a set. Returns `true` if the set did not contain it
    /// before.
    ///
    /// # Panics
    /// If there is no set of this number.
    #[inline]
    #[track_caller]
    pub fn insert_hash(&mut self, set: usize, hash: u64) -> bool {
        self.check_set(set);
        self.rows.insert(set, self.params.num_hashes(), hash)
    }

    /// Copies the bank. `clone` does the same, but aborts if the allocator refuses the memory.
    ///
    /// # Errors
    /// [`AllocError`] if the allocator refuses the memory.
    pub fn try_clone(&self) -> Result<Self, AllocError>
    where
        S: Clone,
    {
        let (params, hasher) = (self.params, self.hasher.clone());
        Ok(Self { rows: self.rows.try_clone()?, params, hasher })
    }
}

/// Banks are equal if they have equal sets in equal order: shape, hasher and bits. The design is not compared.
impl<S: KeyHasher> PartialEq for FilterBank<S> {
    fn eq(&self, other: &Self) -> bool {
        self.params.num_hashes() == other.params.num_hashes()
            && Incompatible::check_hasher(&self.hasher, &other.hasher).is_ok()
            && self.rows == other.rows
    }
}

impl<S: KeyHasher> Eq for FilterBank<S> {}
