//! The frequent-items sketches of DataSketches, of strings or of whole numbers.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::cmp::Reverse;

use super::preamble;
use crate::FormatError;
use crate::reader::Reader;

const FORMAT: &str = "DataSketches frequent items sketch";

const FAMILY: u8 = 10;
const VERSION: u8 = 1;
/// The preamble sizes of a sketch without weight and of others, in words of 8 bytes.
const WORDS_IF_EMPTY: u8 = 1;
const WORDS: u8 = 4;
/// Both bits that writers set in the flags of an empty sketch: of C++ both, of Java the upper one.
const EMPTY: u8 = 5;

/// Logarithms of the slots of a table, of which 3/4 are used.
const LG_SLOTS: core::ops::RangeInclusive<u8> = 3..=31;

/// An item that bytes of a sketch may hold: `i64` (`LongsSketch` in Java) or `String`.
pub trait FrequentItem: Ord + sealed::Coded {}

impl FrequentItem for i64 {}
impl FrequentItem for String {}

mod sealed {
    use alloc::string::String;
    use alloc::vec::Vec;

    use crate::FormatError;
    use crate::reader::Reader;

    pub trait Coded: Sized {
        #[expect(private_interfaces, reason = "no one else calls it")]
        fn read(reader: &mut Reader<'_>) -> Result<Self, FormatError>;
        fn write(&self, bytes: &mut Vec<u8>);
    }

    impl Coded for i64 {
        #[expect(private_interfaces, reason = "no one else calls it")]
        fn read(reader: &mut Reader<'_>) -> Result<Self, FormatError> {
            reader.i64_le("item").map(|field| field.value)
        }

        fn write(&self, bytes: &mut Vec<u8>) {
            bytes.extend(self.to_le_bytes());
        }
    }

    impl Coded for String {
        #[expect(private_interfaces, reason = "no one else calls it")]
        fn read(reader: &mut Reader<'_>) -> Result<Self, FormatError> {
            let length = reader.u32_le("length of an item")?;
            let offset = reader.offset();
            let bytes = reader.bytes("item", length.value.into())?;
            let text = core::str::from_utf8(bytes);
            text.map(Self::from).map_err(|_| reader.invalid("item", offset, bytes, "UTF-8"))
        }

        fn write(&self, bytes: &mut Vec<u8>) {
            // No string is longer: it was read with this length.
            bytes.extend_from_slice(&(self.len() as u64).to_le_bytes()[..4]);
            bytes.extend(self.as_bytes());
        }
    }
}

/// The most frequent items of a stream as a sketch of DataSketches has them, for queries.
///
/// Use it to read sketches of DataSketches. To find frequent items use `heavy_hitters::HeavyHitters`.
///
/// # Guarantees
/// - The true weight of an item is from [`lower_bound`](Self::lower_bound) to [`upper_bound`](Self::upper_bound). They differ by
///   [`maximum_error`](Self::maximum_error), for every item.
/// - Memory: the items, and 12 bytes for each. Query: O(log n) for n items.
///
/// # Examples
/// ```
/// use pds_formats::datasketches::DataSketchesFrequentItems;
///
/// // A table of 2^3 slots, a stream of weight 7 and one item: the number 42, with a weight of 7.
/// let words = [0x03_030a_0104u64, 1, 7, 0, 7, 42];
/// let bytes: Vec<u8> = words.into_iter().flat_map(u64::to_le_bytes).collect();
/// let sketch = DataSketchesFrequentItems::<i64>::from_bytes(&bytes)?;
/// assert_eq!((sketch.estimate(&42), sketch.estimate(&43)), (7, 0));
/// # Ok::<(), pds_formats::FormatError>(())
/// ```
///
/// # References
/// Daniel Anderson et al., "A high-performance algorithm for identifying frequent items in data streams", IMC 2017.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataSketchesFrequentItems<T> {
    lg_max: u8,
    lg_slots: u8,
    /// The flags of an empty sketch.
    flags: u8,
    total: u64,
    offset: u64,
    /// Items and weights in the order of the bytes.
    items: Vec<(T, u64)>,
    /// The places of items in ascending order.
    order: Vec<u32>,
}

impl<T: FrequentItem> DataSketchesFrequentItems<T> {
    /// Reads the bytes of a sketch.
    ///
    /// # Errors
    /// [`FormatError`] if `bytes` are anything else, or more. Bytes of other items are not recognised by their kind: items of
    /// strings begin with a length.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, FormatError> {
        let mut reader = Reader::new(FORMAT, bytes);
        let words = preamble::read(&mut reader, VERSION, FAMILY)?;
        let lg_max = reader.u8("logarithm of the most slots")?.within(LG_SLOTS)?;
        let lg_slots = reader.u8("logarithm of the slots")?.within(*LG_SLOTS.start()..=lg_max)?;
        let flags = preamble::flags(&mut reader, EMPTY)?;
        reader.u16_le("unused field")?.equals(0)?;
        words.equals(if flags == 0 { WORDS } else { WORDS_IF_EMPTY })?;
        let empty = Self {
            lg_max,
            lg_slots,
            flags,
            total: 0,
            offset: 0,
            items: Vec::new(),
            order: Vec::new(),
        };
        if flags != 0 {
            reader.end()?;
            return Ok(empty);
        }
        let most = u32::try_from((1u64 << lg_slots) / 4 * 3).unwrap_or(u32::MAX);
        let count = reader.u32_le("number of items")?.within(0..=most)?;
        reader.u32_le("unused field")?.equals(0)?;
        let total = reader.u64_le("total weight")?;
        let offset = reader.u64_le("offset")?.value;
        let mut ahead = reader.clone();
        ahead.bytes("weights", 8 * u64::from(count))?;
        let (mut items, mut sum) = (Vec::new(), 0u128);
        for _ in 0..count {
            let weight = reader.u64_le("weight")?.within(1..=i64::MAX as u64)?;
            sum += u128::from(weight);
            items.push((T::read(&mut ahead)?, weight));
        }
        ahead.end()?;
        if total.value == 0 || sum > total.value.into() {
            let allowed = format!("above 0 and at least {sum}, the sum of all weights");
            return Err(total.invalid(allowed));
        }
        let mut order: Vec<u32> = (0..count).collect();
        order.sort_unstable_by(|&a, &b| items[a as usize].0.cmp(&items[b as usize].0));
        let is_twice = |pair: &[u32]| items[pair[0] as usize].0 == items[pair[1] as usize].0;
        if order.windows(2).any(is_twice) {
            return Err(ahead.invalid("items", 32, u64::from(count), "different from each other"));
        }
        Ok(Self { total: total.value, offset, items, order, ..empty })
    }

    /// Returns the bytes that were read.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let words = if self.flags == 0 { WORDS } else { WORDS_IF_EMPTY };
        let mut bytes =
            alloc::vec![words, VERSION, FAMILY, self.lg_max, self.lg_slots, self.flags, 0, 0];
        if self.flags == 0 {
            for number in [self.items.len() as u64, self.total, self.offset] {
                bytes.extend(number.to_le_bytes());
            }
            bytes.extend(self.items.iter().flat_map(|(_, weight)| weight.to_le_bytes()));
            self.items.iter().for_each(|(item, _)| item.write(&mut bytes));
        }
        bytes
    }

    fn weight(&self, item: &T) -> Option<u64> {
        let of = |at: u32| &self.items[at as usize];
        let found = self.order.binary_search_by(|&at| of(at).0.cmp(item)).ok()?;
        Some(of(self.order[found]).1)
    }

    /// Estimates the weight of an item: its upper bound if the sketch holds it, else 0.
    #[must_use]
    pub fn estimate(&self, item: &T) -> u64 {
        self.weight(item).map_or(0, |weight| weight.saturating_add(self.offset))
    }

    /// Returns the least weight that an item can have.
    #[must_use]
    pub fn lower_bound(&self, item: &T) -> u64 {
        self.weight(item).unwrap_or(0)
    }

    /// Returns the greatest weight that an item can have.
    #[must_use]
    pub fn upper_bound(&self, item: &T) -> u64 {
        self.weight(item).unwrap_or(0).saturating_add(self.offset)
    }

    /// Returns the items that the sketch holds, with their lower and upper bounds, the heaviest first.
    ///
    /// Those with a lower bound above a threshold of [`maximum_error`](Self::maximum_error) or more are certainly heavier than it. All
    /// items that may be heavier are those with such an upper bound.
    #[must_use]
    pub fn items(&self) -> Vec<(&T, u64, u64)> {
        let mut items: Vec<_> = self
            .items
            .iter()
            .map(|(item, weight)| (item, *weight, weight.saturating_add(self.offset)))
            .collect();
        items.sort_by_key(|&(_, weight, _)| Reverse(weight));
        items
    }

    /// Returns the greatest difference of the two bounds of an item.
    #[must_use]
    pub const fn maximum_error(&self) -> u64 {
        self.offset
    }

    /// Returns the weight of the stream.
    #[must_use]
    pub const fn total_weight(&self) -> u64 {
        self.total
    }

    /// Returns whether nothing was inserted.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.flags != 0
    }
}
