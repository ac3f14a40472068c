//! Structures that no comparison ranks: filters that grow or forget, theta sketches, and sketches of similar sets.

use super::show::{share, table};
use super::{Answer, Options};
use pds::compare::{
    HumanBytes, HumanCount, OtherSize, aging_and_growing, grown, similar_sets, theta_sketch,
};
use pds::params::{MinHashParams, SignatureParams};

/// Layers of a growing filter in the note below the table: it then holds seven times its first keys.
const LAYERS: u32 = 3;

/// Filters that grow, or that forget keys by their age, of the same keys and rate.
pub(super) fn filters(items: u64, rate: f64) -> Answer {
    let sizes = match aging_and_growing(items, rate) {
        Ok(sizes) => sizes,
        Err(error) => return Ok(format!("No filter that grows or forgets: {error}.\n")),
    };
    let holds = ["these keys, and grows", "the last of so many keys", "the keys of the last time"];
    let row = |(size, holds): (&OtherSize, &str)| {
        let bits = 8.0 * size.size_in_bytes() as f64 / items as f64;
        let memory = HumanBytes(size.size_in_bytes()).to_string();
        [size.structure().type_name.to_owned(), memory, format!("{bits:.2}"), holds.to_owned()]
    };
    let rows = sizes.iter().zip(holds).map(row);
    let table = table(&["filter", "memory", "bits/key", "holds"], rows);
    let later = items.saturating_mul((1 << LAYERS) - 1);
    let grown = grown(items, rate, LAYERS).map_or_else(
        |error| error.to_string(),
        |bytes| format!("{} at {} keys", HumanBytes(bytes), HumanCount(later)),
    );
    Ok(format!("{table}\nScalableBloomFilter: {grown}.\n"))
}

/// A theta sketch with this error, in a sentence.
pub(super) fn theta(error: f64) -> String {
    theta_sketch(error).map_or_else(
        |error| format!("No theta sketch: {error}.\n"),
        |size| {
            format!(
                "A theta sketch, which also tells the keys of intersections and differences: {} stored at most\n    let mut sketch = {};\n",
                HumanBytes(size.size_in_bytes()),
                size.expression()
            )
        },
    )
}

/// Sketches whose similarity errs by at most `error`, and an index of so many of them.
pub(super) fn similar(error: f64, options: &Options) -> Answer {
    let params = MinHashParams::for_standard_error(error)?;
    let values = params.num_values();
    let documents = options.items.unwrap_or(1);
    let [sketch, index] = similar_sets(error, documents, options.threshold, options.recall)?;
    let signatures = [1, 2, 4, 8, 16, 32].map(|bits| SignatureParams::new(values, bits));
    let rows = signatures.into_iter().collect::<Result<Vec<_>, _>>()?.into_iter().map(|params| {
        let size = HumanBytes(params.size_in_bytes()).to_string();
        [
            params.bits().to_string(),
            size,
            share(params.standard_error(0.5)),
            share(params.standard_error(0.9)),
        ]
    });
    let mut text = format!(
        "MinHash sketch of {} values, {}: the similarity errs by {} at most\n    let mut sketch = {};\n\nIts signatures, \
         to store\n\n{}\n",
        HumanCount(values.into()),
        HumanBytes(sketch.size_in_bytes()),
        share(params.standard_error(0.5)),
        sketch.expression(),
        table(&["bits", "stored", "error at 0.5", "error at 0.9"], rows)
    );
    if options.items.is_some() {
        text += &format!(
            "\nAn index of {} of them, which finds pairs at {} with a probability of {}: {}\n    let mut index = {};\n",
            HumanCount(documents),
            share(options.threshold),
            share(options.recall),
            HumanBytes(index.size_in_bytes()),
            index.expression()
        );
    }
    Ok(text)
}
