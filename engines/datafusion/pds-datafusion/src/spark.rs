//! The functions with Spark's names: Spark's arguments, and the bytes of Spark and DataSketches.

mod bloom;
mod column;
mod count_min;
mod hll;
mod items;
mod theta;
mod top_k;

use datafusion::arrow::datatypes::DataType;
use datafusion::logical_expr::{AggregateUDF, ScalarUDF};

use crate::fold::Folding;
use crate::help::{Help, help};
use crate::scalar::{Argument, blob, scalar};

pub(crate) fn aggregates() -> Vec<AggregateUDF> {
    vec![
        Folding::<hll::Build>::udaf(help!(
            "hll_sketch_agg",
            "expr [, lgConfigK]",
            "Builds an HLL sketch of DataSketches. lgConfigK is from 4 to 21, by default 12."
        )),
        Folding::<hll::Union>::udaf(help!(
            "hll_union_agg",
            "sketch [, allowDifferentLgConfigK]",
            "Merges HLL sketches of DataSketches."
        )),
        Folding::<theta::Build>::udaf(help!(
            "theta_sketch_agg",
            "expr [, lgNomEntries]",
            "Builds a Theta sketch of DataSketches. lgNomEntries is from 4 to 26, by default 12."
        )),
        Folding::<theta::Union>::udaf(help!(
            "theta_union_agg",
            "sketch [, lgNomEntries]",
            "Merges Theta sketches. lgNomEntries is from 4 to 26, by default 12."
        )),
        Folding::<theta::Intersection>::udaf(help!(
            "theta_intersection_agg",
            "sketch",
            "Intersects Theta sketches."
        )),
        Folding::<bloom::Build>::udaf(help!(
            "bloom_filter_agg",
            "expr [, estimatedNumItems [, numBits]]",
            "Builds a Bloom filter of Spark, by default for 1000000 items, with 8 bits for each item."
        )),
        Folding::<count_min::Build>::udaf(help!(
            "count_min_sketch",
            "expr, eps, confidence, seed",
            "Builds a count-min sketch of Spark."
        )),
        Folding::<top_k::TopK>::udaf(help!(
            "approx_top_k",
            "expr [, k [, maxItemsTracked]]",
            "Returns the k most frequent items with their counts. k is 5 by default, and at most maxItemsTracked, 10000 by \
             default."
        )),
        Folding::<top_k::Accumulate>::udaf(help!(
            "approx_top_k_accumulate",
            "expr [, maxItemsTracked]",
            "Counts the most frequent items, for approx_top_k_combine and approx_top_k_estimate."
        )),
        Folding::<top_k::Combine>::udaf(help!(
            "approx_top_k_combine",
            "state [, maxItemsTracked]",
            "Combines what approx_top_k_accumulate returned."
        )),
    ]
}

pub(crate) fn scalars() -> Vec<ScalarUDF> {
    const SKETCH: &[Argument] = &[Argument::Sketch("the sketch")];
    const PAIR: &[Argument] =
        &[Argument::Sketch("the first sketch"), Argument::Sketch("the second sketch")];
    const PAIR_AND_FLAG: &[Argument] = &[
        Argument::Sketch("the first sketch"),
        Argument::Sketch("the second sketch"),
        Argument::Flag("allowDifferentLgConfigK"),
    ];
    const PAIR_AND_SIZE: &[Argument] = &[
        Argument::Sketch("the first sketch"),
        Argument::Sketch("the second sketch"),
        Argument::Whole("lgNomEntries"),
    ];
    const ASKED: &[Argument] =
        &[Argument::Sketch("the filter"), Argument::Key(column::check_integer_or_text)];
    const STATE: &[Argument] = &[Argument::Key(top_k::check_estimate), Argument::Whole("k")];
    vec![
        scalar(
            help!("hll_sketch_estimate", "sketch", "Estimates the number of distinct values."),
            SKETCH,
            1,
            |_| DataType::Int64,
            hll::estimate,
        ),
        scalar(
            help!(
                "hll_union",
                "first, second [, allowDifferentLgConfigK]",
                "Merges two HLL sketches of DataSketches."
            ),
            PAIR_AND_FLAG,
            2,
            blob,
            hll::union,
        ),
        scalar(
            help!("theta_sketch_estimate", "sketch", "Estimates the number of distinct values."),
            SKETCH,
            1,
            |_| DataType::Int64,
            theta::estimate,
        ),
        scalar(
            help!(
                "theta_union",
                "first, second [, lgNomEntries]",
                "Merges two Theta sketches of DataSketches."
            ),
            PAIR_AND_SIZE,
            2,
            blob,
            theta::union,
        ),
        scalar(
            help!("theta_intersection", "first, second", "Intersects two Theta sketches."),
            PAIR,
            2,
            blob,
            theta::intersection,
        ),
        scalar(
            help!(
                "theta_difference",
                "first, second",
                "Returns the Theta sketch of what is in the first and not in the second."
            ),
            PAIR,
            2,
            blob,
            theta::difference,
        ),
        scalar(
            help!(
                "might_contain",
                "filter, value",
                "Returns whether a Bloom filter of Spark may contain the value. `false` is certain."
            ),
            ASKED,
            2,
            |_| DataType::Boolean,
            bloom::might_contain,
        ),
        scalar(
            help!(
                "approx_top_k_estimate",
                "state [, k]",
                "Returns the k most frequent items with their counts. k is 5 by default."
            ),
            STATE,
            1,
            top_k::estimate_type,
            top_k::estimate,
        ),
    ]
}
