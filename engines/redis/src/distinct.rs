//! `ULL.*`: numbers of distinct items, by `UltraLogLog`.
//!
//! At the default precision of 13 a sketch takes 8 KiB and errs by 0.86 %, where those of `PFADD` take 12 KiB and err by 0.81 %.

use std::ffi::CStr;
use std::io::{self, Read, Write};

use hll::UltraLogLog;
use pds_core::hash::{KeyHasher as _, Raw};

use crate::arguments::unsigned;
use crate::chunks::{self, Chunked};
use crate::quality::{Described, Description, Quality};
use crate::record::{self, ANY_LENGTH, Streamed};
use crate::server::{Call, Command, Failure, Outcome, TypeName, command};

/// All commands. Their replies are those of `PFADD`, `PFCOUNT` and `PFMERGE`.
pub(crate) static COMMANDS: &[Command] = &[
    command!("ull.reserve", Writes, First, 3, reserve, "Creates a sketch of this precision"),
    command!(
        "ull.add",
        Writes,
        First,
        -2,
        add,
        "Adds items, and creates the sketch if there is none"
    ),
    command!(
        "ull.count",
        Scans,
        All,
        -2,
        count,
        "Returns the number of distinct items in all of the sketches"
    ),
    command!(
        "ull.merge",
        Writes,
        FirstAndSources,
        -2,
        merge,
        "Adds the items of other sketches to the first one"
    ),
    command!(
        "ull.info",
        Scans,
        First,
        2,
        info,
        "Returns precision, size, estimate and error of a sketch"
    ),
    command!(
        "ull.scandump",
        Scans,
        First,
        3,
        chunks::scan_dump::<Distinct>,
        "Returns a sketch in chunks"
    ),
    command!(
        "ull.loadchunk",
        Writes,
        First,
        4,
        chunks::load_chunk::<Distinct>,
        "Restores a sketch from its chunks"
    ),
];

const NO_MEMORY: &str = "ERR Insufficient memory to create the sketch";

/// The precision of a sketch that an add creates: 8 KiB.
const DEFAULT_PRECISION: u32 = 13;

/// The relative standard error times the square root of the number of registers.
const PROMISED_FACTOR: f64 = 0.782;

/// A sketch under a key.
#[derive(Clone, Debug)]
pub(crate) struct Distinct(UltraLogLog);

static TYPES: [TypeName; 1] = [TypeName::new("pds-ullog", 0)];

/// The number of the layout in the stream.
const ULTRA: u8 = 1;

impl Streamed for Distinct {
    fn write_stream<W: Write>(&self, mut out: W) -> io::Result<()> {
        record::write_head(&mut out, ULTRA, &[])?;
        ANY_LENGTH.write_to(&self.0, out)
    }

    fn read_stream<R: Read>(mut input: R) -> Result<Self, String> {
        let (ULTRA, _) = record::read_head(&mut input)? else {
            return Err("an unknown layout of a sketch of distinct items".into());
        };
        ANY_LENGTH.read_from(input).map(Self).map_err(|error| error.to_string())
    }
}

impl Chunked for Distinct {
    const FAMILY: u64 = 5;
    const LOADER: &'static CStr = c"ULL.LOADCHUNK";

    fn type_names() -> &'static [TypeName] {
        &TYPES
    }

    fn copy(&self) -> Option<Self> {
        // At most 256 KiB, so the memory is not refused.
        Some(self.clone())
    }
}

fn new(precision: u32) -> Result<Distinct, Failure> {
    UltraLogLog::new(precision).map(Distinct).map_err(|_| NO_MEMORY.into())
}

fn reserve(call: &mut Call<'_>) -> Outcome {
    if call.len() != 3 {
        return Err(Failure::Arity);
    }
    let precision = unsigned(call.argument(2)).and_then(|number| u32::try_from(number).ok());
    let sketch = precision.and_then(|precision| UltraLogLog::new(precision).ok());
    let sketch = sketch.ok_or("ERR bad precision, allowed are 4 to 18")?;
    let mut key = call.write::<Distinct>(1)?;
    if key.value().is_some() {
        return Err("ERR item exists".into());
    }
    key.put(|| Ok::<_, Failure>(Distinct(sketch.clone())))?;
    call.ok();
    call.changed(1, c"ull.reserve");
    Ok(())
}

fn add(call: &mut Call<'_>) -> Outcome {
    if call.len() < 2 {
        return Err(Failure::Arity);
    }
    let mut key = call.write::<Distinct>(1)?;
    let is_created = key.value().is_none();
    if is_created {
        key.put(|| new(DEFAULT_PRECISION))?;
    }
    let add_all = |sketch: &mut Distinct| {
        call.arguments_from(2).fold(false, |changed, item| {
            let hash = sketch.0.hash_key(&Raw(item));
            sketch.0.insert_hash(hash) || changed
        })
    };
    let changes = key.change(add_all).unwrap_or(false) || is_created;
    call.integer(changes.into());
    if changes {
        call.changed(1, c"ull.add");
    }
    Ok(())
}

/// Returns the union of the sketches under keys. `None` if there are none.
fn union(call: &Call<'_>, first: usize) -> Result<Option<Distinct>, Failure> {
    let mut union: Option<Distinct> = None;
    for place in first..call.len() {
        let Some(sketch) = call.read::<Distinct>(place)? else { continue };
        match &mut union {
            None => union = Some(sketch.clone()),
            Some(union) => {
                // A sketch of a higher precision can be reduced without a loss against one of the lower.
                let mut sketch = sketch.clone();
                let least = union.0.precision().min(sketch.0.precision());
                for reduced in [&mut union.0, &mut sketch.0] {
                    reduced.reduce_precision(least).map_err(|error| format!("ERR {error}"))?;
                }
                union.0.merge(&sketch.0).map_err(|error| format!("ERR {error}"))?;
            }
        }
    }
    Ok(union)
}

fn count(call: &mut Call<'_>) -> Outcome {
    if call.len() < 2 {
        return Err(Failure::Arity);
    }
    let estimate = match call.len() {
        2 => call.read::<Distinct>(1)?.map_or(0.0, |sketch| sketch.0.estimate()),
        _ => union(call, 1)?.map_or(0.0, |sketch| sketch.0.estimate()),
    };
    #[expect(
        clippy::cast_possible_truncation,
        reason = "an estimate is below 2^63; if not, it saturates"
    )]
    call.integer(estimate.round() as i64);
    Ok(())
}

fn merge(call: &mut Call<'_>) -> Outcome {
    if call.len() < 2 {
        return Err(Failure::Arity);
    }
    // The target is one of the sources, as for `PFMERGE`.
    let union = union(call, 1)?;
    let mut key = call.write::<Distinct>(1)?;
    key.put(|| union.as_ref().map_or_else(|| new(DEFAULT_PRECISION), |union| Ok(union.clone())))?;
    call.ok();
    call.changed(1, c"ull.merge");
    Ok(())
}

fn info(call: &mut Call<'_>) -> Outcome {
    if call.len() != 2 {
        return Err(Failure::Arity);
    }
    let sketch = call.read::<Distinct>(1)?.ok_or("ERR not found")?;
    let estimate = sketch.0.estimate_with_error();
    call.map(4);
    call.simple("Precision");
    call.count(sketch.0.precision().into());
    call.simple("Size");
    call.count(sketch.bytes() as u64);
    call.simple("Estimate");
    call.double(estimate.value);
    call.simple("Standard error");
    call.double(estimate.standard_error);
    Ok(())
}

impl Described for Distinct {
    fn describe(&self) -> Description {
        let estimate = self.0.estimate_with_error();
        let error = estimate.standard_error / estimate.value.max(1.0);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it saturates")]
        let items = estimate.value.round() as u64;
        let quality = Quality {
            promised: Some(PROMISED_FACTOR / f64::from(1 << self.0.precision()).sqrt()),
            now: error,
            health: "ok",
        };
        Description { layout: "UltraLogLog", items, measure: "relative standard error", quality }
    }
}
