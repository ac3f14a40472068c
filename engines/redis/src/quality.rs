//! `PDS.INFO`: which layout a key has, what it promises, and how it does.

use bloom_core::{Health, HealthStatus};

use crate::bloom::Bloom;
use crate::chunks::Parts;
use crate::count_min::CountMin;
use crate::cuckoo::Cuckoo;
use crate::distinct::Distinct;
use crate::server::{Call, Command, Failure, Outcome, Value, command};
use crate::top_k::TopK;

/// The promise of a value, and what became of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Quality {
    /// The false-positive rate, or the relative error, that is promised. `None` if nothing is.
    pub(crate) promised: Option<f64>,
    /// The rate or error now, computed from the contents.
    pub(crate) now: f64,
    /// `ok`, `warning` or `critical`; `unknown` without a promise.
    pub(crate) health: &'static str,
}

impl Quality {
    /// Returns the report of one of our filters.
    pub(crate) const fn of(health: &Health) -> Self {
        Self {
            promised: health.promised_rate,
            now: health.false_positive_rate,
            health: word(health.status),
        }
    }

    /// Returns the report of a value whose error stays below a promise by its construction.
    pub(crate) fn kept(promised: f64, now: f64) -> Self {
        Self {
            promised: Some(promised),
            now,
            health: if now <= promised { "ok" } else { "warning" },
        }
    }

    /// Returns the report of a filter without a promise.
    pub(crate) const fn without_promise(rate: f64) -> Self {
        Self { promised: None, now: rate, health: "unknown" }
    }
}

const fn word(status: HealthStatus) -> &'static str {
    match status {
        HealthStatus::Ok => "ok",
        HealthStatus::Warning => "warning",
        HealthStatus::Critical => "critical",
    }
}

/// The report of `PDS.INFO` on a value.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Description {
    /// The name of the layout.
    pub(crate) layout: &'static str,
    /// The number of items, the sum of all counts, or the number of bytes of chunks.
    pub(crate) items: u64,
    /// The quantity that the promise is about.
    pub(crate) measure: &'static str,
    pub(crate) quality: Quality,
}

/// A value that can be described. It is read as a whole for that.
pub(crate) trait Described: Value {
    /// Describes the value.
    fn describe(&self) -> Description;
}

/// All commands.
pub(crate) static COMMANDS: &[Command] = &[command!(
    "pds.info",
    Scans,
    First,
    2,
    info,
    "Returns layout, promise, present error and health of any value"
)];

fn info(call: &mut Call<'_>) -> Outcome {
    if call.len() != 2 {
        return Err(Failure::Arity);
    }
    let described = describe::<Bloom>(call)
        .or_else(|| describe::<Cuckoo>(call))
        .or_else(|| describe::<CountMin>(call))
        .or_else(|| describe::<TopK>(call))
        .or_else(|| describe::<Distinct>(call))
        .or_else(|| describe::<Parts>(call));
    let Some((description, bytes)) = described else {
        // A key of another type is one error, and no key is another one.
        call.read::<Bloom>(1)?;
        return Err("ERR not found".into());
    };
    let Description { layout, items, measure, quality } = description;
    call.map(7);
    call.simple("Layout");
    call.bytes(layout.as_bytes());
    call.simple("Size");
    call.count(bytes as u64);
    call.simple("Items");
    call.count(items);
    call.simple("Measure");
    call.bytes(measure.as_bytes());
    call.simple("Promised");
    match quality.promised {
        Some(promised) => call.double(promised),
        None => call.null(),
    }
    call.simple("Now");
    call.double(quality.now);
    call.simple("Health");
    call.bytes(quality.health.as_bytes());
    Ok(())
}

/// Describes the value under the key if it is one of this type. Returns its bytes, too.
fn describe<V: Described>(call: &Call<'_>) -> Option<(Description, usize)> {
    call.read::<V>(1).ok().flatten().map(|value| (value.describe(), value.bytes()))
}
