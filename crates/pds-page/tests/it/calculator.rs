//! Sizes and rates are those of `pds::compare`.

use crate::ask;
use pds::compare::{self, Candidate, CountNeeds, DistinctNeeds};
use pds_page::Session;
use serde_json::{Value, json};

fn check(answer: &Value, native: &compare::Comparison) {
    let rows = answer["rows"].as_array().expect("rows");
    let native: Vec<&Candidate> = native.candidates().collect();
    assert_eq!(rows.len(), native.len());
    for (row, one) in rows.iter().zip(native) {
        let found = (&row["type"], &row["bytes"], &row["items"]);
        let name = one.structure().type_name;
        assert_eq!(found, (&json!(name), &json!(one.size_in_bytes()), &json!(one.items())));
        let rate = row["rate"].as_f64().expect("a rate");
        assert!((rate / one.rate() - 1.0).abs() < 1e-15, "{name}: {rate} for {}", one.rate());
    }
}

#[test]
fn two_of_items_rate_and_memory_give_the_third() {
    let mut session = Session::default();
    let answer = ask(&mut session, &json!({ "do": "filters", "items": 50_000, "rate": 0.002 }));
    check(&answer, &compare::compare(50_000, 0.002).expect("possible"));
    let answer = ask(&mut session, &json!({ "do": "filters", "items": 50_000, "bytes": 70_000 }));
    check(&answer, &compare::compare_in_memory(70_000, 50_000).expect("possible"));
    let answer = ask(&mut session, &json!({ "do": "filters", "rate": 0.002, "bytes": 70_000 }));
    check(&answer, &compare::compare_most_items(70_000, 0.002).expect("possible"));
}

#[test]
fn the_choice_has_what_is_needed() {
    let mut session = Session::default();
    let mut choice = |needs: &str| {
        let mut request = json!({ "do": "filters", "items": 1_000_000, "rate": 0.01 });
        needs.split_whitespace().for_each(|need| request[need] = json!(true));
        ask(&mut session, &request)["choice"].clone()
    };
    assert_eq!(choice(""), "BloomFilter");
    assert_eq!(choice("fast"), "BlockedBloomFilter");
    assert_eq!(choice("static"), "RibbonFilter");
    assert_eq!(choice("remove"), "QuotientFilter");
    assert_eq!(choice("count grow"), Value::Null, "two side by side");
    // Without a promise: the first in the order of the comparison that can remove keys.
    let request =
        json!({ "do": "filters", "items": 1_000_000, "bytes": 2_000_000, "remove": true });
    assert_eq!(ask(&mut session, &request)["choice"], "QuotientFilter");
}

#[test]
fn lines_to_copy_state_what_was_asked() {
    let mut session = Session::default();
    let answer = ask(&mut session, &json!({ "do": "filters", "items": 1_000_000, "rate": 1e-7 }));
    let row = |name: &str| {
        let rows = answer["rows"].as_array().expect("rows");
        rows.iter().find(|row| row["type"] == name).expect("a row").clone()
    };
    let bloom = row("BloomFilter");
    assert_eq!(bloom["rust"], "let mut filter = pds::BloomFilter::new(1_000_000, 1e-7)?;");
    assert_eq!(
        bloom["shell"],
        "pds build --kind bloom --items 1000000 --rate 1e-7 -o keys.pds keys.txt"
    );
    let ribbon = row("RibbonFilter");
    assert_eq!(ribbon["shell"], "pds build --kind ribbon --rate 1e-7 -o keys.pds keys.txt");
    let parquet = row("SplitBlockBloomFilter");
    let sql = "COPY keys TO 'keys.parquet' (FORMAT parquet, DICTIONARY_SIZE_LIMIT 122880, BLOOM_FILTER_FALSE_POSITIVE_RATIO 0.0000001);";
    assert_eq!((&parquet["sql"], &parquet["shell"]), (&json!(sql), &Value::Null));
}

/// The line of the structure that was chosen, with the errors that were asked for.
#[test]
fn lines_of_sketches_state_what_was_asked() {
    let mut session = Session::default();
    for (need, shell) in [
        ("", "pds build --kind count-min --epsilon 0.01 --delta 0.01 -o counts.pds keys.txt"),
        (
            "unbiased",
            "pds build --kind count-sketch --epsilon 0.01 --delta 0.01 -o counts.pds keys.txt",
        ),
        ("list", "pds top --share 0.01 keys.txt"),
    ] {
        let mut request = json!({ "do": "counts", "items": 10_000_000, "total": 1_000_000_000, "epsilon": 0.01, "delta": 0.01 });
        request[need] = json!(true);
        let answer = ask(&mut session, &request);
        assert_eq!(answer["shell"], shell, "{need}: {}", answer["recommended"]["type"]);
    }
}

#[test]
fn structures_for_other_needs_have_their_sizes() {
    let mut session = Session::default();
    let answer = ask(&mut session, &json!({ "do": "filters", "items": 1_000_000, "rate": 0.01 }));
    let native = compare::aging_and_growing(1_000_000, 0.01).expect("possible");
    for (other, native) in answer["others"].as_array().expect("others").iter().zip(&native) {
        assert_eq!(other["type"], native.structure().type_name);
        assert_eq!(other["bytes"], native.size_in_bytes());
        assert_eq!(other["rust"], native.expression());
    }
    assert_eq!(answer["others"].as_array().map(Vec::len), Some(3));
    let answer = ask(&mut session, &json!({ "do": "distinct", "items": 1_000, "error": 0.01 }));
    let theta = compare::theta_sketch(0.01).expect("possible");
    assert_eq!(answer["others"][0]["bytes"], theta.size_in_bytes());
    let request = json!({ "do": "similar", "items": 1_000_000, "error": 0.05, "threshold": 0.8, "recall": 0.95 });
    let answer = ask(&mut session, &request);
    let [sketch, index] = compare::similar_sets(0.05, 1_000_000, 0.8, 0.95).expect("possible");
    assert_eq!(answer["sketch"]["bytes"], sketch.size_in_bytes());
    assert_eq!(answer["index"]["bytes"], index.size_in_bytes());
    assert_eq!(answer["signatures"].as_array().map(Vec::len), Some(6));
    let request =
        json!({ "do": "similar", "items": 10, "error": 0.0001, "threshold": 0.8, "recall": 0.95 });
    assert!(
        ask(&mut session, &request)["error"].as_str().expect("a refusal").contains("num_values")
    );
}

#[test]
fn a_budget_buys_what_the_sizing_says() {
    let mut session = Session::default();
    let request = json!({ "do": "budgets", "type": "CuckooFilter", "items": 9_000, "rate": 0.01, "bytes": 12_000 });
    let answer = ask(&mut session, &request);
    let last = &answer["budgets"][4];
    let lower = Candidate::for_memory(&pds::registry::CUCKOO, 24_000, 9_000).expect("room");
    let more = Candidate::of_most_items(&pds::registry::CUCKOO, 24_000, 0.01).expect("room");
    assert_eq!(last["bytes"], 24_000);
    assert_eq!(last["items"], more.items());
    assert!((last["rate"].as_f64().expect("a rate") / lower.rate() - 1.0).abs() < 1e-15);
}

#[test]
fn sketches_are_those_of_the_recommendation() {
    let mut session = Session::default();
    let request = json!({ "do": "counts", "items": 1_000_000, "total": 50_000_000, "epsilon": 0.001, "delta": 0.01 });
    let found = ask(&mut session, &request);
    let native = compare::recommend_counts(&CountNeeds::new(1_000_000, 50_000_000, 0.001, 0.01));
    let native = native.expect("possible").expect("a choice");
    assert_eq!(found["recommended"]["bytes"], native.size_in_bytes());
    assert_eq!(found["recommended"]["type"], native.choice().type_name);

    let found =
        ask(&mut session, &json!({ "do": "distinct", "items": 1_000_000_000, "error": 0.01 }));
    let native = compare::recommend_distinct(&DistinctNeeds::new(1_000_000_000, 0.01));
    let native = native.expect("possible").expect("a choice");
    assert_eq!(found["recommended"]["bytes"], native.size_in_bytes());
    assert_eq!(found["recommended"]["rust"], format!("let mut sketch = {};", native.expression()));
}

#[test]
fn wrong_requests_are_sentences() {
    let mut session = Session::default();
    let cases = [
        (json!({ "do": "filters", "items": 0, "rate": 0.01 }), "expected_items is 0"),
        (json!({ "do": "filters", "items": 10, "rate": 1.5 }), "false_positive_rate is 1.5"),
        (json!({ "do": "filters", "items": 1e300, "rate": 0.1 }), "items is not a whole number"),
        (json!({ "do": "filters", "items": 10 }), "give two of items, rate and memory"),
        (json!({ "do": "filters", "items": 10, "rate": 0.1, "bytes": 9 }), "give two of"),
        (json!({ "do": "budgets", "type": "Sieve" }), "there is no filter `Sieve`"),
        (json!({ "do": "distinct", "items": 10, "error": 0 }), "standard_error is 0"),
        (json!({ "do": "dance" }), "no structure is open"),
        (json!({}), "do is missing"),
    ];
    for (request, expected) in cases {
        let answer = ask(&mut session, &request);
        let error = answer["error"].as_str().unwrap_or_else(|| panic!("{request} was answered"));
        assert!(error.contains(expected), "{request}: {error}");
    }
    let answer = session.ask(b"{", b"");
    assert!(answer.text.contains("error"), "{}", answer.text);
}
