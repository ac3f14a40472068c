//! The most frequent items.

use std::collections::HashMap;
use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, AsArray, Int64Array, RecordBatch, StringArray};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Int64Type, TimeUnit};
use datafusion::prelude::SessionContext;

use crate::session::{SPLITS, error, query, session, session_of, table};

/// Returns items, as text, and counts of the only row of a query.
async fn top(session: &SessionContext, sql: &str) -> Vec<(Option<String>, i64)> {
    let batch: RecordBatch = query(session, sql).await.unwrap();
    assert_eq!(batch.num_rows(), 1, "{sql}");
    let list = batch.column(0).as_list::<i32>().value(0);
    let entries = list.as_struct();
    assert_eq!(entries.column_names(), ["item", "count"]);
    let items = cast(entries.column(0), &DataType::Utf8).unwrap();
    let items = items.as_string::<i32>().iter().map(|item| item.map(str::to_owned));
    items.zip(entries.column(1).as_primitive::<Int64Type>().values().iter().copied()).collect()
}

fn rows(rows: &[(&str, i64)]) -> Vec<(Option<String>, i64)> {
    rows.iter().map(|&(item, count)| (Some(item.to_owned()), count)).collect()
}

#[tokio::test]
async fn examples_of_sparks_documentation() {
    let session = session();
    let numbers = "(VALUES (0), (0), (1), (1), (2), (3), (4), (4)) AS t(v)";
    let words = "(VALUES ('a'), ('b'), ('c'), ('c'), ('c'), ('c'), ('d'), ('d')) AS t(v)";
    let mut five = top(&session, &format!("SELECT approx_top_k(v) FROM {numbers}")).await;
    // Ties are in any order.
    five.sort_by_key(|(item, count)| (-count, item.clone()));
    assert_eq!(five, rows(&[("0", 2), ("1", 2), ("4", 2), ("2", 1), ("3", 1)]));
    let two = rows(&[("c", 4), ("d", 2)]);
    assert_eq!(top(&session, &format!("SELECT approx_top_k(v, 2) FROM {words}")).await, two);
    let sql = "SELECT approx_top_k(v, 10, 100) FROM (VALUES (0), (1), (1), (2), (2), (2)) AS t(v)";
    assert_eq!(top(&session, sql).await, rows(&[("2", 3), ("1", 2), ("0", 1)]));
    let sql =
        format!("SELECT approx_top_k_estimate(approx_top_k_accumulate(v, 100), 2) FROM {words}");
    assert_eq!(top(&session, &sql).await, two);
    let sql = format!(
        "SELECT approx_top_k_estimate(approx_top_k_combine(s, 10000), 1) FROM \
         (SELECT approx_top_k_accumulate(v) AS s FROM {words} UNION ALL SELECT approx_top_k_accumulate(v, 50) AS s FROM {words})"
    );
    assert_eq!(top(&session, &sql).await, rows(&[("c", 8)]));
}

/// 1000 items, of which item i has about 30000 / i rows; 400 are tracked.
#[tokio::test]
async fn frequent_items_are_found_with_counts_within_the_bound_however_the_rows_are_split() {
    let mut truth = HashMap::new();
    let mut items = Vec::new();
    for row in 0..30_000u64 {
        for item in 1..=1_000u64 {
            if row % item == 0 && items.len() < 200_000 {
                let item = item * 7_919 % 10_007;
                *truth.entry(item.to_string()).or_insert(0i64) += 1;
                items.push(i64::try_from(item).unwrap());
            }
        }
    }
    for split in SPLITS {
        let session = session_of(split.config());
        table(&session, vec![("v", Arc::new(Int64Array::from(items.clone())) as ArrayRef)]);
        let sql = "SELECT approx_top_k(v, 20, 400) FROM t";
        let found = top(&session, sql).await;
        assert_eq!(found.len(), 20, "{split:?}");
        // The error that Spark promises: 2 rows / maxItemsTracked.
        let bound = 2 * 200_000 / 400;
        for (item, count) in &found {
            let truth = truth[item.as_ref().unwrap()];
            let is_within = (truth..=truth + bound).contains(count);
            assert!(is_within, "{item:?}: {count}, in truth {truth}, {split:?}");
        }
        let mut counts: Vec<_> = truth.iter().map(|(item, &count)| (count, item.clone())).collect();
        counts.sort_unstable();
        for (_, item) in counts.iter().rev().take(3) {
            assert!(
                found.iter().any(|(found, _)| found.as_ref() == Some(item)),
                "{item}, {split:?}"
            );
        }
        let grouped = "SELECT approx_top_k_estimate(approx_top_k_combine(s), 3) FROM \
                       (SELECT approx_top_k_accumulate(v) AS s FROM t GROUP BY v % 5)";
        let expected: Vec<_> = counts.iter().rev().take(3).map(|(count, _)| *count).collect();
        let found: Vec<_> =
            top(&session, grouped).await.into_iter().map(|(_, count)| count).collect();
        assert_eq!(found, expected, "all are tracked, {split:?}");
    }
}

#[tokio::test]
async fn nulls_are_an_item_and_every_type_comes_back() {
    let session = session();
    let numbers: ArrayRef = Arc::new(Int64Array::from(vec![
        Some(1),
        None,
        Some(1),
        None,
        None,
        Some(0),
        Some(1),
        Some(1),
    ]));
    let words: ArrayRef = Arc::new(StringArray::from(vec![
        Some("a"),
        None,
        Some("a"),
        None,
        None,
        Some("b"),
        Some("a"),
        Some("a"),
    ]));
    let mut columns = vec![("s", words.clone())];
    let types = [
        ("b", DataType::Boolean),
        ("i8", DataType::Int8),
        ("i16", DataType::Int16),
        ("i32", DataType::Int32),
        ("i64", DataType::Int64),
        ("f32", DataType::Float32),
        ("f64", DataType::Float64),
        ("d", DataType::Date32),
        ("ts", DataType::Timestamp(TimeUnit::Microsecond, None)),
    ];
    for (name, data_type) in &types {
        let source = match data_type {
            DataType::Date32 => cast(&numbers, &DataType::Int32).unwrap(),
            _ => numbers.clone(),
        };
        columns.push((name, cast(&source, data_type).unwrap()));
    }
    columns.push(("view", cast(&words, &DataType::Utf8View).unwrap()));
    columns.push((
        "dict",
        cast(&words, &DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8)))
            .unwrap(),
    ));
    let names: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
    table(&session, columns);
    for name in names {
        for sql in [
            format!("SELECT approx_top_k({name}) FROM t"),
            format!("SELECT approx_top_k({name}) FROM t GROUP BY s IS NULL OR true"),
            format!("SELECT approx_top_k_estimate(approx_top_k_accumulate({name})) FROM t"),
            format!(
                "SELECT approx_top_k_estimate(approx_top_k_combine(s)) FROM \
                 (SELECT approx_top_k_accumulate({name}) AS s FROM t)"
            ),
        ] {
            let found = top(&session, &sql).await;
            let counts: Vec<i64> = found.iter().map(|(_, count)| *count).collect();
            assert_eq!(counts, [4, 3, 1], "{sql}");
            assert!(found[1].0.is_none(), "{sql}");
            assert!(found[0].0.is_some() && found[2].0.is_some(), "{sql}");
        }
    }
    let sql = "SELECT approx_top_k_estimate(approx_top_k_accumulate(s)) FROM t WHERE false";
    assert!(top(&session, sql).await.is_empty());
}

#[tokio::test]
async fn what_is_refused() {
    let session = session();
    for (call, expected) in [
        ("approx_top_k(v, 0)", "approx_top_k: k is 0; it must be a whole number from 1 to 10000"),
        (
            "approx_top_k(v, 11, 10)",
            "approx_top_k: k is 11; it must be a whole number from 1 to 10",
        ),
        ("approx_top_k(v, 5, 1000001)", "approx_top_k: maxItemsTracked is 1000001"),
        ("approx_top_k(X'00')", "approx_top_k: expr is of type Binary"),
        ("approx_top_k_combine(v)", "approx_top_k_combine: state is of type Int64"),
        ("approx_top_k_estimate(v)", "approx_top_k_estimate: state is of type Int64"),
        ("approx_top_k_estimate(approx_top_k_accumulate(v), 0)", "approx_top_k_estimate: k is 0"),
    ] {
        let error =
            error(&session, &format!("SELECT {call} FROM (VALUES (1), (2)) AS t(v) GROUP BY v"))
                .await;
        assert!(error.contains(expected), "{call}: {error}");
    }
    let sql = "SELECT approx_top_k_combine(s) FROM (SELECT approx_top_k_accumulate(1, 10) AS s UNION ALL SELECT approx_top_k_accumulate(1, 20) AS s)";
    let found = error(&session, sql).await;
    assert!(found.contains("approx_top_k_combine: states with maxItemsTracked"), "{found}");
    // Bytes cut short, and bytes changed.
    for (bytes, problem) in [
        ("''", "the bytes end in the head"),
        ("X'04010a0e03000000'", "the bytes end in the number of items"),
        ("X'04020a0e03000000'", "version 2"),
        ("X'01010a0203050000'", "the size 2^2"),
        ("X'02010a0303050000'", "2 words"),
        ("X'01010a0303050000ff'", "the bytes end in the number of nulls"),
        (
            "X'04010a03030000000100000000000000010000000000000000000000000000000000000000000000aa00000000000000'",
            "item 0 is there twice, or with the count 0",
        ),
    ] {
        let state = format!(
            "named_struct('sketch', CAST({bytes} AS BYTEA), 'maxItemsTracked', CAST(9 AS INT), 'itemDataType', CAST(NULL AS BIGINT), 'itemDataTypeDDL', 'item BIGINT NOT NULL')"
        );
        let error = error(&session, &format!("SELECT approx_top_k_estimate({state})")).await;
        assert!(
            error.contains("approx_top_k_estimate: the state, row 0") && error.contains(problem),
            "{bytes}: {error}"
        );
    }
    let state = |tracked: &str, definition: &str| {
        format!(
            "named_struct('sketch', X'01010a0303050000', 'maxItemsTracked', CAST({tracked} AS INT), \
             'itemDataType', CAST(NULL AS BIGINT), 'itemDataTypeDDL', '{definition}')"
        )
    };
    for (call, expected) in [
        (
            format!("approx_top_k_combine({})", state("NULL", "item BIGINT NOT NULL")),
            "maxItemsTracked is NULL",
        ),
        (
            format!("approx_top_k_combine({})", state("-5", "item BIGINT NOT NULL")),
            "maxItemsTracked is -5",
        ),
        (
            format!("approx_top_k_combine({})", state("9", "item DATE NOT NULL")),
            "itemDataTypeDDL is `item DATE NOT NULL`",
        ),
        (
            format!("approx_top_k_estimate({})", state("0", "item BIGINT NOT NULL")),
            "maxItemsTracked is 0",
        ),
        (
            format!("approx_top_k_estimate({}, 10)", state("9", "item BIGINT NOT NULL")),
            "k is 10; it must be at most maxItemsTracked, 9",
        ),
    ] {
        let error = error(&session, &format!("SELECT {call}")).await;
        assert!(error.contains(expected), "{call}: {error}");
    }
}
