//! Count-min sketches of a real server with `RedisBloom`, read, extended, merged and rebuilt.

use pds_formats::redis::{RdbVersion, RedisCountMinSketch};
use serde_json::Value;

use crate::redis_dumps::dumps;
use crate::support::{base64, json, keys, list, number, weighted};
use crate::table::Format;

pub(crate) const FORMAT: Format = Format {
    name: "RedisBloom count-min sketch",
    type_name: "redis::RedisCountMinSketch",
    can: [true, true, true],
    exact: "all uncompressed",
    tested_against: "RedisBloom 2.8.2 (dumps)",
    vectors: || {
        let file = json(SERVER);
        let cases = list(&file, "cases").iter().chain([&file["merge"], &file["overflow"]]);
        let dumps = dumps("count-min").into_iter().map(|dump| dump.plain);
        cases.map(|case| base64(&case["dump"])).chain(dumps).collect()
    },
};

const SERVER: &str = include_str!("../data/redis_cms.json");

fn new(init: &Value) -> RedisCountMinSketch {
    if init[0] == "prob" {
        return RedisCountMinSketch::with_error(
            init[1].as_f64().unwrap(),
            init[2].as_f64().unwrap(),
        )
        .unwrap();
    }
    let size = [1, 2].map(|i| u32::try_from(init[i].as_u64().unwrap()).unwrap());
    RedisCountMinSketch::with_size(size[0], size[1]).unwrap()
}

fn numbers(value: &Value) -> Vec<u32> {
    value.as_array().unwrap().iter().map(|n| n.as_u64().unwrap().try_into().unwrap()).collect()
}

/// Inserts the keys of a case with their weights. Returns the estimates after each.
fn fill(sketch: &mut RedisCountMinSketch, case: &Value) -> Vec<u32> {
    let stream = weighted(keys(&case["keys"]), number(case, "weight_mod"));
    stream.map(|(key, weight)| sketch.insert(&key, weight.try_into().unwrap())).collect()
}

#[test]
fn sketches_agree_with_the_server() {
    for case in list(&json(SERVER), "cases") {
        let name = &case["name"];
        let mut built = new(&case["init"]);
        assert_eq!(fill(&mut built, case), numbers(&case["incrby_answers"]), "{name}");
        let read = RedisCountMinSketch::from_dump(&base64(&case["dump"])).unwrap();
        assert!(
            read == built && built.to_dump(RdbVersion::Redis7_4) == base64(&case["dump"]),
            "{name}"
        );
        assert_eq!(read.total(), number(&case["info"], "count"));
        assert_eq!(u64::from(read.width()), number(&case["info"], "width"));
        assert_eq!(u64::from(read.depth()), number(&case["info"], "depth"));
        let estimates: Vec<u32> =
            keys(&case["keys"]).iter().map(|key| read.estimate(key)).collect();
        assert_eq!(estimates, numbers(&case["query"]));
        let absent = (0..200).map(|i| read.estimate(format!("absent:{i}").as_bytes()));
        assert_eq!(absent.collect::<Vec<_>>(), numbers(&case["query_absent_0_200"]));
    }
}

#[test]
fn sizes_are_those_of_the_server() {
    for row in list(&json(SERVER), "init_by_prob") {
        let [error, probability] = ["error", "probability"].map(|name| row[name].as_f64().unwrap());
        let sketch = RedisCountMinSketch::with_error(error, probability).unwrap();
        assert_eq!(u64::from(sketch.width()), number(row, "width"), "{row}");
        assert_eq!(u64::from(sketch.depth()), number(row, "depth"), "{row}");
    }
    for (error, probability) in [(0.0, 0.5), (0.5, 1.0), (f64::NAN, 0.5), (1e-12, 0.5)] {
        assert!(RedisCountMinSketch::with_error(error, probability).is_err());
    }
    // As a number of 32 bits it is 0.
    let error = RedisCountMinSketch::with_error(0.01, 1e-60).unwrap_err().to_string();
    assert!(error.contains("probability"), "{error}");
    for (width, depth) in [(0, 1), (1, 0), (u32::MAX, u32::MAX)] {
        assert!(RedisCountMinSketch::with_size(width, depth).is_err());
    }
}

#[test]
fn a_merge_agrees_with_the_server() {
    let file = json(SERVER);
    let case = &file["merge"];
    let mut merged = new(&case["init"]);
    for source in list(case, "sources") {
        let mut sketch = new(&case["init"]);
        fill(&mut sketch, source);
        merged.merge(&sketch, number(source, "merge_weight").try_into().unwrap()).unwrap();
    }
    assert!(merged.to_dump(RdbVersion::Redis7_4) == base64(&case["dump"]));
    let other = RedisCountMinSketch::with_size(merged.width() + 1, merged.depth()).unwrap();
    let before = merged.clone();
    assert!(merged.merge(&other, 1).is_err() && merged == before);
}

/// The server answers "overflow" and keeps the greatest count.
#[test]
fn case_11_counters_saturate_as_on_the_server() {
    let file = json(SERVER);
    let case = &file["overflow"];
    let mut sketch = new(&case["init"]);
    for step in list(case, "steps") {
        let estimate = sketch.insert(b"k", number(step, "incrby").try_into().unwrap());
        let answer = step["answer"][0].as_u64().unwrap_or(u32::MAX.into());
        assert_eq!(u64::from(estimate), answer);
        assert_eq!(sketch.total(), number(&step["info"], "count"));
    }
    assert!(sketch.to_dump(RdbVersion::Redis7_4) == base64(&case["dump"]));
    let mut double = sketch.clone();
    double.merge(&sketch, 2).unwrap();
    assert_eq!(double.estimate(b"k"), u32::MAX);
}
