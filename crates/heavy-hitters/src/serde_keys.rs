//! Summaries of keys without portable bytes, as serde values: `#[serde(with = "heavy_hitters::serde_keys")]`.
//!
//! A summary whose keys implement [`PortableKey`](crate::PortableKey) is a serde value by itself. For keys of other serde
//! types, these two functions write the keys as serde values, and all else as portable bytes. Reading checks the values as
//! it checks portable bytes. The hash of a key must be the same on the machine that reads as on the one that wrote.
//!
//! # Examples
//! ```
//! use heavy_hitters::{HeavyHitters, serde_keys};
//!
//! let mut ports = HeavyHitters::<(u8, u16)>::new(0.1)?;
//! ports.insert_many(&(6, 443), 5);
//!
//! let mut json = Vec::new();
//! serde_keys::serialize(&ports, &mut serde_json::Serializer::new(&mut json))?;
//! let mut reader = serde_json::Deserializer::from_slice(&json);
//! let read: HeavyHitters<(u8, u16)> = serde_keys::deserialize(&mut reader)?;
//! assert_eq!(read, ports);
//! # Ok::<(), Box<dyn core::error::Error>>(())
//! ```

use alloc::vec::Vec;
use core::hash::Hash;

use cms::{CountMinSketch, Update};
use pds_core::error::{AllocError, DecodeError, ParamError};
use pds_core::hash::{KeyHasher, PublicSeed};
use pds_core::internal::DecodeFault;
use pds_params::HeavyHittersParams;
use serde::de::Error as _;
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::heavy_hitters::capacity_of;
use crate::portable::{Entry, check_counts, check_floor, check_tracked, enter};
use crate::sketched::candidates_for;
use crate::summary::Summary;
use crate::top_k::params_for;
use crate::{HeavyHitters, SketchedHeavyHitters, TopK};

/// Serialises a summary: its frame, a number, the floor, and each key with count and error.
///
/// # Errors
/// Those of the serializer, and [`AllocError`] in its words.
pub fn serialize<T, Z>(summary: &T, serializer: Z) -> Result<Z::Ok, Z::Error>
where
    T: KeysBySerde<Key: Serialize>,
    Z: Serializer,
{
    let (frame, number) = summary.frame().map_err(Z::Error::custom)?;
    let list = summary.listed();
    let entries: Vec<_> = list.iter().map(|slot| (slot.count, slot.error, &slot.key)).collect();
    (frame, number, list.floor(), entries).serialize(serializer)
}

/// Deserialises a summary.
///
/// # Errors
/// Those of the deserializer, and every [`DecodeError`] in its words.
pub fn deserialize<'de, T, Z>(deserializer: Z) -> Result<T, Z::Error>
where
    T: KeysBySerde<Key: Deserialize<'de>>,
    Z: Deserializer<'de>,
{
    let (frame, number, floor, entries) = Deserialize::deserialize(deserializer)?;
    T::from_parts(frame, number, (floor, entries)).map_err(Z::Error::custom)
}

/// A summary of keys: [`HeavyHitters`], [`TopK`] or [`SketchedHeavyHitters`], whose hasher has no secret key.
pub trait KeysBySerde: private::Parts {}

impl<T: private::Parts> KeysBySerde for T {}

mod private {
    use super::{AllocError, DecodeError, Deserialize, Serialize, Summary, Vec};

    /// The floor, and each key with its count and error.
    pub(crate) type Listed<K> = (u64, Vec<(u64, u64, K)>);

    /// The parts of a summary. Private, so that its form can change with the format.
    #[expect(private_interfaces, reason = "nobody outside can name or call it")]
    pub trait Parts: Sized {
        type Key;
        /// All but the keys, as it is written.
        type Frame<'a>: Serialize
        where
            Self: 'a;
        /// All but the keys, as it is read.
        type Read: for<'de> Deserialize<'de>;

        fn frame(&self) -> Result<(Self::Frame<'_>, u64), AllocError>;
        fn listed(&self) -> &Summary<Self::Key>;
        fn from_parts(
            read: Self::Read,
            number: u64,
            listed: Listed<Self::Key>,
        ) -> Result<Self, DecodeError>;
    }
}

use private::{Listed, Parts};

/// An empty summary of the same parameters, and the total.
#[expect(private_interfaces, reason = "nobody outside can name or call it")]
impl<K: Hash + Eq, S: PublicSeed + Clone> Parts for HeavyHitters<K, S> {
    type Key = K;
    type Frame<'a>
        = HeavyHitters<u8, S>
    where
        Self: 'a;
    type Read = HeavyHitters<u8, S>;

    fn frame(&self) -> Result<(Self::Frame<'_>, u64), AllocError> {
        let none = Summary::restored(capacity_of(&self.params()), 0)?;
        let frame = HeavyHitters::from_parts(none, self.params(), self.hasher().clone());
        Ok((frame, self.total()))
    }

    fn listed(&self) -> &Summary<K> {
        self.summary()
    }

    fn from_parts(read: Self::Read, total: u64, listed: Listed<K>) -> Result<Self, DecodeError> {
        let params: HeavyHittersParams = read.params();
        let mut summary = summary_of(listed, capacity_of(&params), read.hasher(), |_| u64::MAX)?;
        check_counts(&summary, total, NO_OFFSET)?;
        summary.set_total(total);
        Ok(Self::from_parts(summary, params, read.hasher().clone()))
    }
}

/// The sketch, and k.
#[expect(private_interfaces, reason = "nobody outside can name or call it")]
impl<K: Hash + Eq, S: PublicSeed> Parts for TopK<K, S> {
    type Key = K;
    type Frame<'a>
        = &'a CountMinSketch<S, u64>
    where
        Self: 'a;
    type Read = CountMinSketch<S, u64>;

    fn frame(&self) -> Result<(Self::Frame<'_>, u64), AllocError> {
        Ok((self.sketch(), self.k()))
    }

    fn listed(&self) -> &Summary<K> {
        self.list()
    }

    fn from_parts(sketch: Self::Read, k: u64, listed: Listed<K>) -> Result<Self, DecodeError> {
        let (params, capacity) = params_for(k).map_err(impossible)?;
        if sketch.params() != params {
            return Err(refused("the width of the sketch", sketch.width(), "that for k keys"));
        }
        let list = beside(&sketch, listed, capacity)?;
        Ok(Self::from_parts(sketch, list))
    }
}

/// The sketch, and phi as bits.
#[expect(private_interfaces, reason = "nobody outside can name or call it")]
impl<K: Hash + Eq, S: PublicSeed> Parts for SketchedHeavyHitters<K, S> {
    type Key = K;
    type Frame<'a>
        = &'a CountMinSketch<S, u64>
    where
        Self: 'a;
    type Read = CountMinSketch<S, u64>;

    fn frame(&self) -> Result<(Self::Frame<'_>, u64), AllocError> {
        Ok((self.sketch(), self.phi().to_bits()))
    }

    fn listed(&self) -> &Summary<K> {
        self.candidates()
    }

    fn from_parts(sketch: Self::Read, phi: u64, listed: Listed<K>) -> Result<Self, DecodeError> {
        let phi = f64::from_bits(phi);
        let capacity = candidates_for(phi).map_err(impossible)?;
        let candidates = beside(&sketch, listed, capacity)?;
        Ok(Self::from_parts(sketch, candidates, phi))
    }
}

/// The keys beside a sketch with conservative update, whose counts it bounds.
fn beside<K: Hash + Eq, S: KeyHasher>(
    sketch: &CountMinSketch<S, u64>,
    listed: Listed<K>,
    capacity: u32,
) -> Result<Summary<K>, DecodeError> {
    if sketch.update() != Update::Conservative {
        return Err(DecodeError(DecodeFault::Choice {
            name: "the update",
            offset: NO_OFFSET,
            found: sketch.update() as u64,
            meaning: Some("plain"),
            allowed: "conservative",
        }));
    }
    let most = |key: &K| sketch.estimate(key).value();
    let summary = summary_of(listed, capacity, sketch.hasher(), most)?;
    check_floor(&summary, NO_OFFSET)?;
    Ok(summary)
}

fn summary_of<K: Hash + Eq>(
    (floor, entries): Listed<K>,
    capacity: u32,
    hasher: &impl KeyHasher,
    most: impl Fn(&K) -> u64,
) -> Result<Summary<K>, DecodeError> {
    check_tracked(entries.len() as u64, capacity, NO_OFFSET)?;
    let mut summary = Summary::restored(capacity, floor)?;
    for (count, error, key) in entries {
        let most = most(&key);
        enter(&mut summary, hasher, Entry { key, count, error, most, offset: NO_OFFSET })?;
    }
    Ok(summary)
}

/// Values of serde have no offsets.
const NO_OFFSET: u64 = 0;

const fn refused(name: &'static str, found: u64, allowed: &'static str) -> DecodeError {
    DecodeError(DecodeFault::Field { name, offset: NO_OFFSET, found, allowed })
}

const fn impossible(error: ParamError) -> DecodeError {
    DecodeError(DecodeFault::Shape { offset: NO_OFFSET, error })
}
