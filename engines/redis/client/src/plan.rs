//! Sizes: how many shards, of how many items and bytes each, at which rate.

use std::fmt;
use std::str::FromStr;

use pds_params::{BlockedBloomParams, BloomParams, Preference, ScalableParams, Schedule};

use crate::Error;

/// How a shard is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Storage {
    /// A filter of the module `pds-redis`, or of RedisBloom: one command per batch, and the server hashes the keys.
    Module,
    /// A bitmap under a plain key, of any server without a module: the portable bytes of a
    /// [`BloomFilter`](bloom_core::BloomFilter). The client computes the positions of the bits.
    Bitmap,
}

impl Storage {
    const fn name(self) -> &'static str {
        match self {
            Self::Module => "module",
            Self::Bitmap => "bitmap",
        }
    }

    /// Returns the bytes of a shard.
    fn bytes(self, items: u64, rate: f64) -> Result<u64, Error> {
        Ok(match self {
            Self::Module => {
                BlockedBloomParams::new(items, rate, Preference::Fastest)?.size_in_bytes()
            }
            Self::Bitmap => {
                let params = BloomParams::for_double_hashing(items, rate)?;
                params.size_in_bytes() + crate::bitmap::ENVELOPE_BYTES
            }
        })
    }
}

/// The purpose of a filter: how many items at which rate, in shards of which size.
///
/// # Guarantees
/// - An absent key is answered *present* with a probability of at most the rate, as long as the filter holds no more items than
///   planned, or grows. It is the compound rate of all shards and generations.
/// - No shard is larger than the largest shard.
///
/// # Examples
/// ```
/// use pds_redis_client::Plan;
///
/// // 10^10 URLs at 0.1 %, on three masters, without growth.
/// let plan = Plan::new(10_000_000_000, 0.001).largest_shard(1 << 30).masters(3);
/// let design = plan.generation(0)?;
/// assert_eq!(design.shards(), 21);
/// assert!(design.shard_bytes()? <= 1 << 30);
/// # Ok::<(), pds_redis_client::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[must_use]
pub struct Plan {
    items: u64,
    rate: f64,
    storage: Storage,
    largest_shard: u64,
    masters: u32,
    /// Factor from the items of a generation to those of the next one. `None`: there is one generation only.
    growth: Option<u32>,
}

/// The design of a generation of shards.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Generation {
    pub(crate) storage: Storage,
    items: u64,
    pub(crate) rate: f64,
    pub(crate) shards: u32,
    pub(crate) shard_items: u64,
}

/// The greatest number of shards of a generation.
const MAX_SHARDS: u64 = 1 << 16;

/// The least and the greatest size of a shard. A string of Redis has at most 512 MiB, and `BITFIELD` reaches that far.
const SHARD_BYTES: (u64, u64) = (1 << 16, 1 << 32);
const BITMAP_BYTES: (u64, u64) = (1 << 16, 1 << 29);

/// Standard deviations of the number of keys in a shard that its capacity has in reserve.
// With a probability below 10^-9 per shard a hash sends more keys there. The items of bitmaps are estimated, with a far smaller error.
const RESERVE: f64 = 6.0;

impl Plan {
    /// Plans for this number of items and this false-positive rate: filters of the module, shards of at most 128 MiB, one master, and no
    /// growth.
    pub const fn new(items: u64, rate: f64) -> Self {
        Self {
            items,
            rate,
            storage: Storage::Module,
            largest_shard: 1 << 27,
            masters: 1,
            growth: None,
        }
    }

    /// Chooses how shards are stored.
    pub const fn storage(self, storage: Storage) -> Self {
        Self { storage, ..self }
    }

    /// Sets the size in bytes that no shard exceeds: from 64 KiB to 4 GiB, or to 512 MiB for bitmaps.
    pub const fn largest_shard(self, bytes: u64) -> Self {
        Self { largest_shard: bytes, ..self }
    }

    /// Makes the number of shards a multiple of the number of masters, so that each master has as many of them.
    pub const fn masters(self, masters: u32) -> Self {
        Self { masters, ..self }
    }

    /// Lets the filter grow: when it holds the planned items, a generation of shards for `factor` times as many is added.
    ///
    /// The compound rate of all generations stays below the promised one. The first generation gets seven eighths of it, which costs
    /// 0.3 bits per item. Each further one gets half of what is left. Growth ends, with an error, where a rate falls to that of colliding
    /// 64-bit hashes: at 10^9 items and 10^-6, for example.
    pub const fn growth(self, factor: u32) -> Self {
        Self { growth: Some(factor), ..self }
    }

    /// Returns whether generations are added.
    #[must_use]
    pub const fn grows(&self) -> bool {
        self.growth.is_some()
    }

    /// Returns the rate that is promised.
    #[must_use]
    pub const fn rate(&self) -> f64 {
        self.rate
    }

    /// Computes the design of a generation, from 0 on.
    ///
    /// # Errors
    /// If a number is out of its range, if more than 65,536 shards are needed, or if no filter has the rate.
    pub fn generation(&self, index: u32) -> Result<Generation, Error> {
        let range = if self.storage == Storage::Bitmap { BITMAP_BYTES } else { SHARD_BYTES };
        Error::check("largest_shard", self.largest_shard, range)?;
        Error::check("masters", self.masters.into(), (1, 1_000))?;
        let (items, rate) = self.share(index)?;
        self.divide(items, rate)
    }

    /// Returns the items and the rate of a generation.
    fn share(&self, index: u32) -> Result<(u64, f64), Error> {
        let Some(growth) = self.growth else {
            Error::check("generation", index.into(), (0, 0))?;
            ScalableParams::new(self.items, self.rate, 1, Schedule::DEFAULT)?;
            return Ok((self.items, self.rate));
        };
        // One hash serves all generations, so that their answers are not independent. The sum of their rates bounds the compound rate
        // all the same. The budget of the schedule is -ln(1 - p): this p makes it the promised rate.
        let sum = -(-self.rate).exp_m1();
        let schedule = Schedule::Likely(self.items);
        let layer = ScalableParams::new(self.items, sum, growth, schedule)?.layer(index)?;
        Ok((layer.items, layer.rate))
    }

    /// Divides items into shards.
    fn divide(&self, items: u64, rate: f64) -> Result<Generation, Error> {
        let masters = u64::from(self.masters);
        let whole = self.storage.bytes(offered(items, rate), rate)?;
        let mut shards = whole.div_ceil(self.largest_shard).next_multiple_of(masters);
        loop {
            Error::check("shards", shards, (1, MAX_SHARDS))?;
            let shard_items = shard_items(offered(items, rate), shards);
            let bytes = self.storage.bytes(shard_items, rate)?;
            if bytes <= self.largest_shard {
                #[expect(clippy::cast_possible_truncation, reason = "at most MAX_SHARDS")]
                let shards = shards as u32;
                return Ok(Generation { storage: self.storage, items, rate, shards, shard_items });
            }
            let needed = u128::from(shards) * u128::from(bytes) / u128::from(self.largest_shard);
            let needed = u64::try_from(needed).unwrap_or(u64::MAX).max(shards + 1);
            shards = needed.checked_next_multiple_of(masters).unwrap_or(u64::MAX);
        }
    }
}

/// Returns how many distinct keys come until `items` of them were new, at most, in the mean.
fn offered(items: u64, rate: f64) -> u64 {
    pds_params::LayerDesign { items, rate }.offered().items
}

/// Returns the capacity of one of `shards`, to which a hash sends each of `items` keys with the same probability.
#[expect(clippy::cast_precision_loss, reason = "rounded up by far more")]
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it saturates")]
fn shard_items(items: u64, shards: u64) -> u64 {
    let mean = items as f64 / shards as f64;
    (mean + RESERVE * mean.sqrt() + RESERVE).ceil() as u64
}

impl Generation {
    /// Returns the number of distinct items that it is designed for.
    #[must_use]
    pub const fn items(&self) -> u64 {
        self.items
    }

    /// Returns its false-positive rate at that number of items.
    #[must_use]
    pub const fn rate(&self) -> f64 {
        self.rate
    }

    /// Returns the number of shards.
    #[must_use]
    pub const fn shards(&self) -> u32 {
        self.shards
    }

    /// Returns the number of items that each shard has room for.
    #[must_use]
    pub const fn shard_items(&self) -> u64 {
        self.shard_items
    }

    /// Computes the bytes of a shard.
    ///
    /// # Errors
    /// Those of [`Plan::generation`].
    pub fn shard_bytes(&self) -> Result<u64, Error> {
        self.storage.bytes(self.shard_items, self.rate)
    }

    /// Returns the parameters of a shard that is a bitmap.
    pub(crate) fn bitmap_params(&self) -> Result<BloomParams, Error> {
        Ok(BloomParams::for_double_hashing(self.shard_items, self.rate)?)
    }
}

/// As it stands in the list of generations on the server.
impl fmt::Display for Generation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { storage, items, rate, shards, shard_items } = self;
        write!(f, "{} {items} {rate} {shards} {shard_items}", storage.name())
    }
}

impl FromStr for Generation {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let words: Vec<_> = text.split(' ').collect();
        let &[storage, items, rate, shards, shard_items] = words.as_slice() else {
            return Err(());
        };
        let storage = [Storage::Module, Storage::Bitmap]
            .into_iter()
            .find(|known| known.name() == storage)
            .ok_or(())?;
        let number = |word: &str| word.parse().ok().filter(|&number: &u64| number > 0).ok_or(());
        let shards = u32::try_from(number(shards)?).map_err(|_| ())?;
        if u64::from(shards) > MAX_SHARDS {
            return Err(());
        }
        let rate = rate.parse().map_err(|_| ())?;
        Ok(Self { storage, items: number(items)?, rate, shards, shard_items: number(shard_items)? })
    }
}

/// As it stands in the list of generations on the server.
impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { items, rate, storage, largest_shard, masters, growth } = self;
        let growth = growth.unwrap_or(0);
        write!(f, "{} {items} {rate} {largest_shard} {masters} {growth}", storage.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STORAGES: [Storage; 2] = [Storage::Module, Storage::Bitmap];

    #[test]
    fn no_shard_exceeds_the_largest_one() {
        for storage in STORAGES {
            for items in [1, 1_000, 1_000_000, 123_456_789, 10_000_000_000] {
                for largest in [1 << 16, 1 << 20, 1 << 27] {
                    let plan = Plan::new(items, 0.001).storage(storage).largest_shard(largest);
                    let Ok(design) = plan.masters(3).generation(0) else {
                        assert!(items > 1_000_000_000 && largest < 1 << 20);
                        continue;
                    };
                    assert!(design.shard_bytes().unwrap() <= largest);
                    assert_eq!(design.shards() % 3, 0);
                    assert!(design.shard_items() * u64::from(design.shards()) >= items);
                }
            }
        }
    }

    #[test]
    fn the_rates_of_all_generations_stay_below_the_promised_one() {
        for rate in [0.3, 0.01, 0.001, 1e-4] {
            let plan = Plan::new(1_000_000, rate).growth(2);
            let designs: Vec<_> = (0..12).map(|index| plan.generation(index).unwrap()).collect();
            let sum: f64 = designs.iter().map(Generation::rate).sum();
            assert!(sum <= rate && sum > 0.85 * rate, "{sum} of {rate}");
            assert_eq!(designs[3].items(), 8_000_000);
        }
    }

    /// The figures of `docs/at-scale.md`.
    #[test]
    fn ten_billion_urls() {
        let plan = Plan::new(10_000_000_000, 0.001).masters(3);
        let figures = |plan: Plan| {
            let design = plan.generation(0).unwrap();
            (design.shards(), design.shard_items(), design.shard_bytes().unwrap())
        };
        assert_eq!(figures(plan.largest_shard(1 << 30)), (21, 476_798_146, 937_182_848));
        assert_eq!(figures(plan.largest_shard(1 << 30).growth(2)), (21, 476_738_320, 960_141_760));
        let bitmaps = plan.storage(Storage::Bitmap).largest_shard(1 << 29);
        assert_eq!(figures(bitmaps), (36, 278_155_890, 499_903_272));
    }

    #[test]
    fn bad_numbers_are_named() {
        let message = |plan: Plan| plan.generation(0).unwrap_err().to_string();
        assert!(message(Plan::new(0, 0.01)).contains("items"));
        assert!(message(Plan::new(10, 1.0)).contains("rate"));
        assert!(message(Plan::new(10, 0.1).growth(0)).contains("growth"));
        assert_eq!(
            message(Plan::new(10, 0.1).largest_shard(1)),
            "largest_shard is 1, but must be from 65536 to 4294967296"
        );
        let bitmap = Plan::new(10, 0.1).storage(Storage::Bitmap);
        assert!(message(bitmap.largest_shard(1 << 30)).contains("to 536870912"));
        assert!(message(Plan::new(1 << 50, 0.01)).contains("shards"));
        assert!(message(Plan::new(10, 0.1).masters(0)).contains("masters"));
        assert!(Plan::new(10, 0.1).generation(1).is_err());
    }

    #[test]
    fn a_design_is_read_as_it_was_written() {
        for storage in STORAGES {
            let plan = Plan::new(7_654_321, 0.001_234_5).storage(storage).growth(3);
            let design = plan.generation(2).unwrap();
            assert_eq!(design.to_string().parse(), Ok(design));
        }
        for text in
            ["", "module 1 0.1 1", "other 1 0.1 1 1", "module 0 0.1 1 1", "module 1 0.1 65537 1"]
        {
            assert_eq!(text.parse::<Generation>(), Err(()), "{text}");
        }
    }
}
