//! The bodies of the fuzz targets, run over many inputs without a fuzzer.

pub(crate) mod bodies;

use pds_testkit::mutate::inputs;

use crate::table::FORMATS;

/// Every truncation, every extension and changed bytes of real values are refused, or read as other values.
#[test]
fn case_17_damaged_values_are_refused_or_come_back_as_read() {
    for format in FORMATS {
        for (i, vector) in (0..).zip((format.vectors)()) {
            // Long vectors are cut near their ends, where the fields are.
            let length = vector.len();
            let near = |at: usize| at < 60 || length - at < 12 || at.is_multiple_of(1_997);
            for cut in (0..length).filter(|&at| near(at)) {
                bodies::read(format.name, &vector[..cut]);
            }
            bodies::read(format.name, &[&vector[..], &[0]].concat());
            for input in inputs(i, 25) {
                bodies::damaged(format.name, &vector, &input);
            }
        }
    }
}

#[test]
fn case_17_bytes_of_one_format_are_no_other() {
    for format in FORMATS {
        (format.vectors)().iter().for_each(|vector| bodies::decode(vector));
    }
    inputs(7, 1_000).for_each(|input| bodies::decode(&input));
}
