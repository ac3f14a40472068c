//! Sizes, rates and choices.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use pds::compare::{
    self, Abilities, Ability, Candidate, CountAbilities, CountNeeds, DistinctNeeds, Needs,
    OtherSize, Priority, SketchRecommendation,
};
use pds::params::hll::CardinalityEstimator::{self, Improved, UltraFgra};
use pds::params::hll::{MAX_PRECISION, MIN_PRECISION};
use pds::params::minhash::{MAX_VALUES, MIN_VALUES};
use pds::params::{CountMinParams, HllParams, MinHashParams, SignatureParams};
use pds::registry::{self, Structure};
use serde_json::{Value, json};

use crate::json::{Fields, Refusal};

/// Loads at which curves have a point, in hundredths of the items that a filter is sized for.
const LOADS: [u64; 18] =
    [5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 110, 120, 130, 140, 160, 180, 200];

/// Budgets, as shares of the memory of a filter.
const BUDGETS: [(u64, u64); 5] = [(1, 2), (3, 4), (1, 1), (3, 2), (2, 1)];

/// Sizes every filter for two of items, rate and memory.
pub(crate) fn filters(fields: &Fields) -> Result<Value, Refusal> {
    let needed = needed(fields);
    let rate = fields.real("rate").ok();
    let comparison = match ["items", "rate", "bytes"].map(|name| fields.is_given(name)) {
        [true, true, false] => compare::compare(fields.whole("items")?, fields.real("rate")?)?,
        [true, false, true] => {
            compare::compare_in_memory(fields.whole("bytes")?, fields.whole("items")?)?
        }
        [false, true, true] => {
            compare::compare_most_items(fields.whole("bytes")?, fields.real("rate")?)?
        }
        _ => {
            return Err(Refusal(
                "give two of items, rate and memory: they fix the third".to_string(),
            ));
        }
    };
    let able = |one: &&Candidate| lacks(one.abilities(), needed).is_none();
    // Without a promise the comparison is in the order of what is asked: the lowest rate, or the most items.
    let choice = if fields.is_given("bytes") {
        comparison.candidates().find(able).map(Candidate::structure)
    } else {
        let priority = if fields.flag("fast") { Priority::Speed } else { Priority::Memory };
        let (items, rate) = (fields.whole("items")?, fields.real("rate")?);
        let recommended = compare::recommend(&Needs { items, rate, abilities: needed, priority })?;
        recommended.map(|one| one.choice().structure())
    };
    let rows: Vec<Value> = comparison.candidates().map(|one| row(one, needed, rate)).collect();
    let impossible = comparison.impossible().map(|(structure, error)| {
        json!({ "name": structure.name, "type": structure.type_name, "why": error.to_string() })
    });
    Ok(json!({
        "rows": rows,
        "impossible": impossible.collect::<Vec<_>>(),
        "choice": choice.map(|structure| structure.type_name),
        "loads": LOADS,
        "others": others(fields),
    }))
}

/// The contents of the filters that grow or forget, if they are sized for so many keys.
const HOLDS: [&str; 3] = [
    "grows beyond these keys",
    "holds the last of so many keys",
    "holds the keys of the last hour",
];

/// Sizes of filters that no comparison ranks. None if they cannot be built, or if keys or rate are not given.
fn others(fields: &Fields) -> Vec<Value> {
    let (Ok(items), Ok(rate)) = (fields.whole("items"), fields.real("rate")) else {
        return Vec::new();
    };
    let sizes = compare::aging_and_growing(items, rate).into_iter().flatten();
    sizes.zip(HOLDS).map(|(size, what)| other(&size, what)).collect()
}

fn other(size: &OtherSize, what: &str) -> Value {
    json!({
        "name": size.structure().name,
        "type": size.structure().type_name,
        "bytes": size.size_in_bytes(),
        "what": what,
        "rust": size.expression(),
    })
}

fn needed(fields: &Fields) -> Abilities {
    let at_least = |name, least| if fields.flag(name) { least } else { Ability::No };
    Abilities {
        insert: if fields.flag("static") { Ability::No } else { Ability::Yes },
        remove: at_least("remove", Ability::Limited),
        merge: at_least("merge", Ability::Limited),
        count: at_least("count", Ability::Limited),
        grow: at_least("grow", Ability::Yes),
    }
}

/// Returns the first ability that a structure lacks, in words that follow "cannot".
fn lacks(has: Abilities, needed: Abilities) -> Option<&'static str> {
    let mut pairs = has.named().into_iter().zip(needed.named());
    pairs.find(|((_, has), (_, needed))| has < needed).map(|((name, _), _)| name)
}

fn row(one: &Candidate, needed: Abilities, rate: Option<f64>) -> Value {
    let (structure, lines) = (one.structure(), one.lines_read());
    let loads = LOADS.map(|load| one.rate_at(at_load(one.items(), load)));
    let abilities: Vec<_> =
        one.abilities().named().map(|(name, can)| [name.to_string(), can.to_string()]).into();
    json!({
        "name": structure.name,
        "type": structure.type_name,
        "crate": structure.crate_name,
        "caution": structure.caution,
        "items": one.items(),
        "bytes": one.size_in_bytes(),
        "bits_per_item": one.bits_per_item(),
        "rate": one.rate(),
        "lines": [lines.present, lines.absent],
        "abilities": abilities,
        "lacks": lacks(one.abilities(), needed),
        "rates": loads,
        "rust": rust(one),
        "shell": shell(one, rate),
        "sql": sql(one, rate),
    })
}

/// So many hundredths of the items, at least one.
fn at_load(items: u64, load: u64) -> u64 {
    (items / 100).saturating_mul(load).saturating_add(items % 100 * load / 100).max(1)
}

fn rust(one: &Candidate) -> String {
    let is_changed = one.abilities().insert != Ability::No;
    format!("let {}filter = {};", if is_changed { "mut " } else { "" }, one.expression())
}

/// Returns the line of the command-line tool that builds the filter from a file. None for kinds that it does not build.
fn shell(one: &Candidate, rate: Option<f64>) -> Option<String> {
    // Filters that take all lines at once need no number of them.
    let of_all = |kind: &str| format!("--kind {kind} --rate {:?}", rate.unwrap_or(one.rate()));
    let of_items = |kind: &str| {
        let size = rate.map_or_else(
            || format!("--memory {}", one.size_in_bytes()),
            |rate| format!("--rate {rate:?}"),
        );
        format!("--kind {kind} --items {} {size}", one.items())
    };
    let options = match one.structure().type_name {
        "RibbonFilter" => of_all("ribbon"),
        "FuseFilter" => of_all("fuse"),
        "BloomFilter" => of_items("bloom"),
        "BlockedBloomFilter" => of_items("blocked-bloom"),
        "CuckooFilter" => of_items("cuckoo"),
        "QuotientFilter" => of_items("quotient"),
        "CountingBloomFilter" => of_items("counting-bloom"),
        "BlockedCountingBloomFilter" => of_items("blocked-counting-bloom"),
        _ => return None,
    };
    Some(format!("pds build {options} -o keys.pds keys.txt"))
}

/// Rows of a group in a Parquet file of DuckDB.
const ROWS: u64 = 122_880;

/// Returns a line of DuckDB. Parquet's split-block filter and the exact set are the ones that SQL engines have themselves.
fn sql(one: &Candidate, rate: Option<f64>) -> Option<String> {
    if one.structure() == &registry::SPLIT_BLOCK_BLOOM {
        let rate = rate.unwrap_or(one.rate());
        // DuckDB writes a filter for columns with a dictionary only, and one for each group of rows.
        let limit = one.items().min(ROWS);
        return Some(format!(
            "COPY keys TO 'keys.parquet' (FORMAT parquet, DICTIONARY_SIZE_LIMIT {limit}, BLOOM_FILTER_FALSE_POSITIVE_RATIO {rate});"
        ));
    }
    (one.structure() == &registry::HASH_SET)
        .then(|| "SELECT count(*) > 0 FROM keys WHERE key = ?;".to_string())
}

/// Tells what more or less memory buys for one structure: a lower rate, or more items.
pub(crate) fn budgets(fields: &Fields) -> Result<Value, Refusal> {
    let structure = structure(fields.text("type")?)?;
    let (items, rate) = (fields.whole("items")?, fields.real("rate")?);
    let bytes = fields.whole("bytes")?;
    let budget = |(times, of): (u64, u64)| {
        let bytes = bytes / of * times;
        let lower = Candidate::for_memory(structure, bytes, items).map(|one| one.rate());
        let more = Candidate::of_most_items(structure, bytes, rate).map(|one| one.items());
        json!({ "bytes": bytes, "rate": lower.ok(), "items": more.ok() })
    };
    Ok(json!({ "budgets": BUDGETS.map(budget) }))
}

fn structure(type_name: &str) -> Result<&'static Structure, Refusal> {
    registry::filters()
        .find(|structure| structure.type_name == type_name)
        .ok_or_else(|| Refusal(format!("there is no filter `{type_name}`")))
}

/// Chooses a structure that tells how often a key came, and sizes count-min sketches around the error.
pub(crate) fn counts(fields: &Fields) -> Result<Value, Refusal> {
    let (epsilon, delta) = (fields.real("epsilon")?, fields.real("delta")?);
    let needs = CountNeeds {
        abilities: CountAbilities {
            remove: fields.flag("remove"),
            unbiased: fields.flag("unbiased"),
            list: fields.flag("list"),
        },
        ..CountNeeds::new(fields.whole("items")?, fields.whole("total")?, epsilon, delta)
    };
    let params = CountMinParams::least_memory(epsilon, delta)?;
    let curve = (1..=12).filter_map(|power| {
        let bytes = params.size_in_bytes(4) / 64 * (1 << power);
        let params = CountMinParams::for_memory(bytes, 4, delta).ok()?;
        Some([params.size_in_bytes(4) as f64, params.epsilon()])
    });
    let choice = compare::recommend_counts(&needs)?;
    let lines = choice.as_ref().map(|choice| match choice.choice().type_name {
        "HeavyHitters" => (
            format!("pds top --share {epsilon:?} keys.txt"),
            Some("SELECT approx_top_k(key, 100) FROM keys;"),
        ),
        "CountMinSketch" => (build_counts("count-min", epsilon, delta), None),
        "CountSketch" => (build_counts("count-sketch", epsilon, delta), None),
        _ => (
            String::from("pds dedup --count keys.txt"),
            Some("SELECT key, count(*) FROM keys GROUP BY key;"),
        ),
    });
    let (shell, sql) = lines.unzip();
    Ok(json!({
        "recommended": recommended(choice),
        "curves": [{ "name": "count-min sketch, 32-bit counters", "points": curve.collect::<Vec<_>>() }],
        "shell": shell,
        "sql": sql.flatten(),
    }))
}

fn build_counts(kind: &str, epsilon: f64, delta: f64) -> String {
    format!(
        "pds build --kind {kind} --epsilon {epsilon:?} --delta {delta:?} -o counts.pds keys.txt"
    )
}

/// Sizes the sketches that tell how similar two sets are, and an index of them.
pub(crate) fn similar(fields: &Fields) -> Result<Value, Refusal> {
    let (error, documents) = (fields.real("error")?, fields.whole("items")?);
    let (threshold, recall) = (fields.real("threshold")?, fields.real("recall")?);
    let [sketch, index] = compare::similar_sets(error, documents, threshold, recall)?;
    let values = MinHashParams::for_standard_error(error)?.num_values();
    let signatures = [1, 2, 4, 8, 16, 32].into_iter().filter_map(|bits| {
        let params = SignatureParams::new(values, bits).ok()?;
        Some(json!({ "bits": bits, "bytes": params.size_in_bytes(), "error": params.standard_error(0.5) }))
    });
    let sizes = (MIN_VALUES.ilog2()..=MAX_VALUES.ilog2())
        .filter_map(|power| MinHashParams::new(1 << power).ok());
    let points = sizes.map(|params| [params.size_in_bytes() as f64, params.standard_error(0.5)]);
    Ok(json!({
        "sketch": other(&sketch, "per set"),
        "index": other(&index, "for all sets"),
        "values": values,
        "signatures": signatures.collect::<Vec<_>>(),
        "curves": [{ "name": "MinHash sketch", "points": points.collect::<Vec<_>>() }],
        "shell": format!("pds similar --values {values} --threshold {threshold:?} --recall {recall:?} lines.txt"),
    }))
}

/// Chooses a structure that tells how many different keys came, and lists all precisions.
pub(crate) fn distinct(fields: &Fields) -> Result<Value, Refusal> {
    let error = fields.real("error")?;
    let needs = DistinctNeeds {
        overlap: fields.flag("overlap"),
        ..DistinctNeeds::new(fields.whole("items")?, error)
    };
    let curve = |estimator: CardinalityEstimator| {
        let params =
            (MIN_PRECISION..=MAX_PRECISION).filter_map(|precision| HllParams::new(precision).ok());
        params
            .map(|params| [params.dense_bytes() as f64, params.standard_error(estimator)])
            .collect::<Vec<_>>()
    };
    Ok(json!({
        "recommended": recommended(compare::recommend_distinct(&needs)?),
        "curves": [
            { "name": "HyperLogLog", "points": curve(Improved) },
            { "name": "UltraLogLog", "points": curve(UltraFgra) },
        ],
        "others": compare::theta_sketch(error)
            .map(|size| other(&size, "tells the keys of unions, intersections and differences"))
            .into_iter()
            .collect::<Vec<_>>(),
        "shell": format!("pds distinct --error {error} keys.txt"),
        "sql": "SELECT approx_count_distinct(key) FROM keys;",
    }))
}

fn recommended(choice: Option<SketchRecommendation>) -> Value {
    let Some(choice) = choice else { return Value::Null };
    let reasons = choice.reasons().map(|reason| {
        let text = reason.to_string();
        let (name, why) = text.split_once(": ").unwrap_or((&text, ""));
        [name.to_string(), why.to_string()]
    });
    json!({
        "name": choice.choice().name,
        "type": choice.choice().type_name,
        "bytes": choice.size_in_bytes(),
        "caution": choice.choice().caution,
        "rust": format!("let mut sketch = {};", choice.expression()),
        "reasons": reasons.collect::<Vec<_>>(),
    })
}
