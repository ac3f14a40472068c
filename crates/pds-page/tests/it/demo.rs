//! The demo's structures, their cells and their bytes.

use crate::{ask, ask_with};
use pds::hash::DefaultHashBuilder;
use pds::{
    BlockedBloomFilter, BloomFilter, CountMinSketch, CuckooFilter, DynFilter, DynSketch,
    HyperLogLog, QuotientFilter,
};
use pds_page::Session;
use serde_json::{Value, json};

const FILTERS: [&str; 5] = [
    "standard Bloom filter",
    "blocked Bloom filter",
    "counting Bloom filter",
    "cuckoo filter",
    "quotient filter",
];

fn open(kind: &str, items: u64, rate: f64) -> Session {
    let mut session = Session::default();
    let answer =
        ask(&mut session, &json!({ "do": "open", "kind": kind, "items": items, "rate": rate }));
    assert_eq!(answer["error"], Value::Null, "{kind}");
    session
}

fn act(session: &mut Session, what: &str, key: &str) -> (Value, Vec<u32>) {
    let (answer, bytes) = ask_with(session, &json!({ "do": what, "key": key }), b"");
    let cells = bytes.chunks(4).map(|cell| u32::from_le_bytes(cell.try_into().expect("4 bytes")));
    (answer, cells.collect())
}

fn download(session: &mut Session) -> Vec<u8> {
    ask_with(session, &json!({ "do": "download" }), b"").1
}

#[test]
fn the_bytes_are_those_of_a_native_filter() {
    let keys = || (0..90).map(|number| format!("key {number}"));
    let filled = |kind| {
        let mut session = open(kind, 100, 0.05);
        keys().for_each(|key| drop(act(&mut session, "add", &key)));
        download(&mut session)
    };
    let mut bloom = BloomFilter::new(100, 0.05).expect("a filter");
    let mut blocked = BlockedBloomFilter::new(100, 0.05).expect("a filter");
    let mut cuckoo = CuckooFilter::new(100, 0.05).expect("a filter");
    let mut quotient = QuotientFilter::new(100, 0.05).expect("a filter");
    for key in keys() {
        bloom.insert(&key);
        blocked.insert(&key);
        cuckoo.insert(&key).expect("room");
        quotient.insert(&key).expect("room");
    }
    assert_eq!(filled("standard Bloom filter"), bloom.to_bytes());
    assert_eq!(filled("blocked Bloom filter"), blocked.to_bytes());
    assert_eq!(filled("cuckoo filter"), cuckoo.to_bytes());
    assert_eq!(filled("quotient filter"), quotient.to_bytes());

    let sketch =
        DynSketch::<DefaultHashBuilder>::from_bytes(&filled("HyperLogLog")).expect("a sketch");
    let mut distinct = HyperLogLog::builder().precision(9).build().expect("a sketch");
    distinct.extend(keys());
    distinct.make_dense();
    assert_eq!(sketch.downcast_ref::<HyperLogLog>(), Some(&distinct));
    let counts: CountMinSketch =
        CountMinSketch::from_bytes(&filled("count-min sketch")).expect("a sketch");
    assert!(keys().all(|key| counts.estimate(&key).value() >= 1));
}

#[test]
fn every_filter_says_what_it_knows() {
    for kind in FILTERS {
        let mut session = open(kind, 100, 0.05);
        let (answer, cells) = act(&mut session, "check", "pear");
        assert_eq!(answer["event"]["answer"], false, "{kind}");
        assert!(cells.iter().all(|&cell| cell == 0), "{kind}");
        let (answer, cells) = act(&mut session, "add", "pear");
        let event = &answer["event"];
        assert_eq!((&event["is_new"], &event["looked_present"]), (&json!(true), &json!(false)));
        let lit: Vec<usize> = (0..cells.len()).filter(|&cell| cells[cell] != 0).collect();
        assert_eq!(event["changed"], json!(lit), "{kind}");
        let touched = event["touched"].as_array().expect("cells");
        assert!(lit.iter().all(|&cell| touched.contains(&json!(cell))), "{kind}");
        let (answer, _) = act(&mut session, "check", "pear");
        assert_eq!(
            (&answer["event"]["answer"], &answer["event"]["truth"]),
            (&json!(true), &json!(true))
        );
        let (answer, after) = act(&mut session, "remove", "pear");
        if kind.ends_with("Bloom filter") && !kind.starts_with("counting") {
            assert_eq!(answer["error"], format!("no key can be removed from a {kind}"));
        } else {
            assert_eq!(answer["event"]["answer"], false, "{kind}");
            assert!(after.iter().all(|&cell| cell == 0), "{kind}");
            let (answer, _) = act(&mut session, "remove", "pear");
            assert!(answer["error"].as_str().expect("a refusal").contains("was never added"));
        }
    }
}

/// Those of 1,000 absent keys that look present are those of the filter in the downloaded bytes, and as many as the rate
/// predicts.
/// Fingerprints in their slots are all drawn, those that lie beyond the last quotient, too.
#[test]
fn every_fingerprint_has_a_cell() {
    for kind in ["cuckoo filter", "quotient filter"] {
        for seed in 0..20 {
            let mut session = open(kind, 60, 0.05);
            (0..59).for_each(|number| drop(act(&mut session, "add", &format!("{seed} {number}"))));
            let (_, cells) = act(&mut session, "add", &format!("{seed} last"));
            assert_eq!(cells.iter().filter(|&&cell| cell != 0).count(), 60, "{kind}, {seed}");
        }
    }
}

#[test]
fn false_positives_are_shown() {
    for kind in FILTERS {
        // A quotient filter refuses keys beyond its number.
        let mut session = open(kind, 510, 0.05);
        let lines: String = (0..500).map(|number| format!("line {number}\r\n")).collect();
        let (answer, _) = ask_with(&mut session, &json!({ "do": "add-lines" }), lines.as_bytes());
        assert_eq!(answer["event"]["new"], 500, "{kind}");
        let filter = DynFilter::from_bytes(&download(&mut session)).expect("a filter");
        assert!((0..500).all(|number| filter.contains(&format!("line {number}"))), "{kind}");
        let wrong: Vec<u64> = (0..1_000)
            .filter(|number| filter.contains(&format!("stranger {}", number + 1)))
            .collect();
        assert_eq!(answer["state"]["wrong"], json!(wrong), "{kind}");
        // The mean is at most 50 of 1,000: five standard deviations of it are 35.
        assert!((1..85).contains(&wrong.len()), "{kind}: {}", wrong.len());
        // A key that is added is a stranger no more.
        let number = wrong[0] + 1;
        let (answer, _) = act(&mut session, "add", &format!("stranger {number}"));
        assert_eq!(answer["event"]["looked_present"], true, "{kind}");
        assert!(!answer["state"]["wrong"].as_array().expect("a list").contains(&json!(wrong[0])));
    }
}

#[test]
fn a_file_of_more_keys_makes_the_structure_larger() {
    for kind in FILTERS.into_iter().chain(["HyperLogLog", "count-min sketch"]) {
        let mut session = open(kind, 32, 0.05);
        act(&mut session, "add", "before");
        // Any bytes are a key; a line that comes twice is one key.
        let mut lines = b"\xff\xfe\nlast\nlast\n\n".to_vec();
        lines.extend((0..5_000).flat_map(|number| format!("{number}\n").into_bytes()));
        let (answer, _) = ask_with(&mut session, &json!({ "do": "add-lines" }), &lines);
        let (event, state) = (&answer["event"], &answer["state"]);
        assert_eq!(
            (&event["lines"], &event["new"], &event["is_resized"]),
            (&json!(5_003), &json!(5_002), &json!(true)),
            "{kind}"
        );
        assert_eq!((&state["exact"], &state["items"]), (&json!(5_003), &json!(5_003)), "{kind}");
        assert_eq!(state["total"], 5_004, "{kind}");
        if kind != "HyperLogLog" {
            let (answer, _) = act(&mut session, "check", "before");
            assert_eq!(answer["event"]["answer"], true, "{kind}");
        }
    }
}

#[test]
fn counters_show_counts_and_registers_show_ranks() {
    let mut session = open("count-min sketch", 64, 0.05);
    (0..3).for_each(|_| drop(act(&mut session, "add", "pear")));
    let (answer, cells) = act(&mut session, "check", "pear");
    assert_eq!((&answer["event"]["count"], &answer["event"]["true_count"]), (&json!(3), &json!(3)));
    assert_eq!((cells.len(), cells.iter().sum::<u32>()), (4 * 64, 12), "a counter per row");

    let mut session = open("HyperLogLog", 64, 0.05);
    let mut native = HyperLogLog::builder().precision(9).build().expect("a sketch");
    for number in 0..400 {
        act(&mut session, "add", &format!("key {number}"));
        native.insert(&format!("key {number}"));
    }
    let (answer, cells) = act(&mut session, "add", "key 0");
    assert_eq!(answer["event"]["changed"], json!([]), "nothing new");
    // By `docs/hashing.md`, section 6, ranks above 40 do not come from so few keys.
    assert!(cells.len() == 512 && cells.iter().all(|&rank| rank <= 40));
    native.make_dense();
    let estimate = answer["state"]["estimate"][0].as_f64().expect("an estimate");
    assert!((estimate / native.estimate() - 1.0).abs() < 1e-15);
}

#[test]
fn what_the_demo_cannot_hold_is_refused() {
    let mut session = Session::default();
    let open = json!({ "do": "open", "kind": "cuckoo filter", "items": 6_000_000, "rate": 0.01 });
    assert!(
        ask(&mut session, &open)["error"].as_str().expect("a refusal").contains("at most 5000000")
    );
    let open = json!({ "do": "open", "kind": "sieve", "items": 6, "rate": 0.01 });
    assert_eq!(ask(&mut session, &open)["error"], "the demo has no `sieve`");
}
