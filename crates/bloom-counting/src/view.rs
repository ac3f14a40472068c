//! Counting filters that are asked straight from their bytes.

use pds_core::bytes::Envelope;
use pds_core::internal::view_methods;
use pds_core::{DecodeError, DefaultHashBuilder};
use pds_params::{BlockedCountingParams, BloomParams};

use crate::blocked::blocked_methods;
use crate::bytes::{blocked_params_of, params_of};
use crate::counters::Counters;
use crate::filter::counting_methods;
use crate::lines::Lines;
use crate::{Bits4, BlockedCountingBloomFilter, Counter, CountingBloomFilter};

/// Little-endian words in borrowed bytes.
type ByteWords<'a> = &'a [[u8; 8]];

/// A [`CountingBloomFilter`] in borrowed bytes, such as a memory-mapped file: all questions, no copy.
///
/// Opening verifies the header and the length, in constant time; the payload is looked at only by
/// questions, and checked only by [`verify`](Self::verify). Bytes at any address will do.
///
/// # Guarantees
/// - The answers are those of the filter that wrote the bytes.
/// - From a payload that was damaged since and not verified: answers may be wrong, in both directions.
///   Never a panic, never a read outside the bytes.
/// - A mapped file must not be truncated while it is mapped: the system then ends the process on access
///   (`SIGBUS`), and no library can prevent it. Replace files by renaming, as
///   [`CountingBloomFilter::save`] does.
///
/// # Examples
/// ```
/// use bloom_counting::{CountingBloomFilter, CountingBloomFilterView};
///
/// let mut filter = CountingBloomFilter::new(1_000, 0.01)?;
/// filter.extend(["stored", "stored"]);
/// let bytes = filter.to_bytes();
///
/// let view: CountingBloomFilterView = CountingBloomFilterView::open(&bytes)?;
/// view.verify()?;
/// assert_eq!((view.estimate("stored"), view.estimate("absent")), (2, 0));
/// assert_eq!(view.to_filter()?, filter);
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct CountingBloomFilterView<'a, S = DefaultHashBuilder, C = Bits4> {
    envelope: Envelope<&'a [u8]>,
    counters: Counters<C, ByteWords<'a>>,
    params: BloomParams,
    hasher: S,
}

view_methods!(
    [C: Counter] CountingBloomFilterView<'a, S, C>,
    CountingBloomFilterView<'a, DefaultHashBuilder, C>,
    CountingBloomFilter<S, C>,
    to_filter,
    check_padding
);
counting_methods!(['a, S, C: Counter] CountingBloomFilterView<'a, S, C>, "CountingBloomFilterView");

impl<'a, S, C: Counter> CountingBloomFilterView<'a, S, C> {
    fn of_envelope(envelope: Envelope<&'a [u8]>, hasher: S) -> Result<Self, DecodeError> {
        let params = params_of::<C>(&envelope.header().shape)?;
        let counters =
            Counters::from_words(envelope.borrowed_payload().as_chunks().0, params.num_bits());
        Ok(Self { envelope, counters, params, hasher })
    }

    fn check_padding(&self) -> Result<(), DecodeError> {
        self.counters.check_padding(self.envelope.header().payload_end())
    }
}

/// A [`BlockedCountingBloomFilter`] in borrowed bytes, such as a memory-mapped file: all questions, no copy.
///
/// Opening, its guarantees and what must not be done to a mapped file are those of
/// [`CountingBloomFilterView`]. Where the bytes start at a multiple of 64, a question reads one cache line,
/// otherwise two.
///
/// # Examples
/// ```
/// use bloom_counting::{BlockedCountingBloomFilter, BlockedCountingBloomFilterView};
///
/// let mut filter = BlockedCountingBloomFilter::new(1_000, 0.01)?;
/// filter.extend(["stored", "stored"]);
/// let bytes = filter.to_bytes();
///
/// let view = BlockedCountingBloomFilterView::open(&bytes)?;
/// view.verify()?;
/// assert_eq!((view.estimate("stored"), view.estimate("absent")), (2, 0));
/// assert_eq!(view.to_filter()?, filter);
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct BlockedCountingBloomFilterView<'a, S = DefaultHashBuilder> {
    envelope: Envelope<&'a [u8]>,
    counters: Lines<ByteWords<'a>>,
    params: BlockedCountingParams,
    hasher: S,
}

view_methods!(BlockedCountingBloomFilterView of BlockedCountingBloomFilter, to_filter);
blocked_methods!(['a, S] BlockedCountingBloomFilterView<'a, S>, "BlockedCountingBloomFilterView");

impl<'a, S> BlockedCountingBloomFilterView<'a, S> {
    fn of_envelope(envelope: Envelope<&'a [u8]>, hasher: S) -> Result<Self, DecodeError> {
        let params = blocked_params_of(&envelope.header().shape)?;
        let counters = Lines::from_words(envelope.borrowed_payload().as_chunks().0, &params);
        Ok(Self { envelope, counters, params, hasher })
    }
}
