//! The guide of the family: one page per question.
//!
//! | question | page | answer |
//! |---|---|---|
//! | *Is this key in the set?* | [`membership`] | a certain *no*, or a *yes* that is wrong at a rate you choose |
//! | *What belongs to this key?* | [`values`] | a small number per key |
//! | *How often did this key come?* | [`frequency`] | a count with a bound of its error |
//! | *Which keys come most often?* | [`frequent_keys`] | a list of keys, each with an interval of its count |
//! | *How many different keys came?* | [`distinct_keys`] | a number with a standard error |
//! | *How alike are two sets?* | [`similarity`] | the Jaccard index with a standard error |
//!
//! Each page has a table that says when to take which type, and a runnable example of each type. The page of a type itself
//! states its guarantees, its memory and its complexity.
//!
//! # Before you choose
//!
//! - *The keys fit in memory, and the answer must be exact:* take a hash set or a hash map.
//! - *A wrong answer does harm, and nothing checks it:* put the structure in front of an exact source.
//! - *The structure must list its keys:* only [`HeavyHitters`], [`SketchedHeavyHitters`] and [`TopK`] store keys, and only a
//!   few.
//!
//! [`compare::recommend`] chooses a filter from numbers, and states the reason against each of the others.
//! [`compare::recommend_counts`] and [`compare::recommend_distinct`] do the same for sketches.
//!
//! # Rules for all types
//!
//! - **Size.** A constructor takes the number of distinct keys and the error. It computes the memory. Take twice the number of
//!   keys when in doubt.
//! - **Errors.** A constructor that cannot keep the promise returns an error with the value and the allowed values. It never
//!   changes a parameter silently.
//! - **Type of a key.** `1u32` and `1u64` are different keys, while `str` and `String` are the same key. [`Typed`] lets the
//!   compiler check the type.
//! - **Keys from strangers.** Give the builder [`SipHashBuilder::random()`](crate::hash::SipHashBuilder::random). Otherwise a
//!   stranger can choose keys that break the promise.
//! - **Threads.** `Atomic` types and [`ShardedQuotientFilter`] take `&self` in all their methods. Any other type belongs to one
//!   thread that changes it, or to many that only read it.
//! - **Bytes.** `to_bytes` and `from_bytes` give the same bytes on every machine. A view answers from bytes without a copy.
//!   [`bytes::ByteOptions`] writes files, and takes another hasher. The feature `formats` adds the module `formats`, for the bytes
//!   of Parquet, Redis, DataSketches and other systems.
//! - **Many structures.** [`many::AnyOf`] and [`many::AllOf`] ask filters of any kind as one filter. [`durable`] keeps a log, so
//!   that an insert that has returned survives the end of the process.
//!
//! # One type per setting
//!
//! | setting | type |
//! |---|---|
//! | the compiler shall check the type of the keys | [`Typed`] |
//! | the kind of a filter is known at run time | [`DynFilter`], or [`DynFilterView`] without a copy of the bytes |
//! | the kind of a sketch is known at run time | [`DynSketch`] |
//!
//! ```
//! use pds::{BloomFilter, DynFilter, DynFilterView, DynSketch, HyperLogLog, Typed};
//!
//! let mut seen = Typed::<_, u64>::new(BloomFilter::new(1_000, 0.01)?);
//! seen.insert(&7); // the literal is a u64
//! assert!(seen.contains(&7));
//!
//! let mut filter: DynFilter = seen.into_inner().into();
//! filter.insert("another key")?;
//! let bytes = filter.to_bytes();
//! assert!(DynFilterView::open(&bytes)?.contains("another key"));
//!
//! let mut sketch: DynSketch = HyperLogLog::new(12)?.into();
//! sketch.insert("a key");
//! assert_eq!(sketch.cardinality().map(f64::round), Some(1.0));
//! # Ok::<(), Box<dyn core::error::Error>>(())
//! ```

#[cfg(doctest)]
mod documents;

// The links of the pages.
use crate::*;

#[doc = include_str!("guide/membership.md")]
pub mod membership {}

#[doc = include_str!("guide/values.md")]
pub mod values {}

#[doc = include_str!("guide/frequency.md")]
pub mod frequency {}

#[doc = include_str!("guide/frequent_keys.md")]
pub mod frequent_keys {}

#[doc = include_str!("guide/distinct_keys.md")]
pub mod distinct_keys {}

#[doc = include_str!("guide/similarity.md")]
pub mod similarity {}
