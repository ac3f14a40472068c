//! The table of `docs/formats.md`, and what it says of every vector.

use pds_formats::recognise;

use crate::mutations::bodies::{self, READERS};
use crate::{
    dcso, ds_bloom, ds_count_min, ds_cpc, ds_frequent, ds_hll, guava_bloom, milvus, parquet,
    postgres, presto, redis_bloom, redis_cms, redis_cuckoo, redis_hll, redis_top_k, spark_bloom,
    spark_count_min, valkey, xorf,
};

/// A row of the table.
pub(crate) struct Format {
    /// Name of the format, by which its reader is found.
    pub(crate) name: &'static str,
    /// Path of the type below `pds_formats`.
    pub(crate) type_name: &'static str,
    /// Whether values are written, merged with each other, and extended by further keys.
    pub(crate) can: [bool; 3],
    /// Which written bytes are those of the owner: `"all"`, or what else begins with it, is verified for every vector.
    pub(crate) exact: &'static str,
    /// The system that wrote the vectors.
    pub(crate) tested_against: &'static str,
    /// Values as the owner wrote them.
    pub(crate) vectors: fn() -> Vec<Vec<u8>>,
}

/// All formats, in the order of the table.
pub(crate) const FORMATS: &[&Format] = &[
    &parquet::FORMAT,
    &milvus::FORMAT,
    &redis_hll::FORMAT,
    &redis_bloom::FORMAT,
    &redis_cuckoo::FORMAT,
    &redis_cms::FORMAT,
    &redis_top_k::FORMAT,
    &valkey::FORMAT,
    &ds_hll::FORMAT,
    &ds_cpc::FORMAT,
    &ds_count_min::FORMAT,
    &ds_bloom::FORMAT,
    &ds_frequent::FORMAT,
    &spark_bloom::FORMAT,
    &spark_count_min::FORMAT,
    &guava_bloom::FORMAT,
    &postgres::FORMAT,
    &presto::FORMAT,
    &dcso::FORMAT,
    &xorf::XOR_8,
    &xorf::XOR_16,
    &xorf::BINARY_FUSE_8,
    &xorf::BINARY_FUSE_16,
];

impl Format {
    fn row(&self) -> String {
        let [writes, merges, continues] = self.can.map(|can| if can { "yes" } else { "no" });
        format!(
            "| {} | `{}` | yes | {writes} | {merges} | {continues} | {} | {} |",
            self.name, self.type_name, self.exact, self.tested_against
        )
    }
}

#[test]
fn the_table_of_the_documentation_is_that_of_the_tests() {
    let page = include_str!("../../../../docs/formats.md");
    let rows: Vec<&str> =
        page.lines().skip_while(|line| !line.starts_with("|---")).skip(1).collect();
    let rows = rows.split(|line| !line.starts_with('|')).next().unwrap();
    let expected: Vec<String> = FORMATS.iter().map(|format| format.row()).collect();
    assert_eq!(rows, expected, "\n{}\n", expected.join("\n"));
}

#[test]
fn every_format_has_one_reader() {
    let names: Vec<&str> = READERS.iter().map(|reader| reader.0).collect();
    assert_eq!(names, FORMATS.iter().map(|format| format.name).collect::<Vec<_>>());
}

/// Only dumps in chunks are no byte string of their own.
#[test]
fn every_vector_is_recognised() {
    for format in FORMATS {
        for vector in (format.vectors)() {
            let is_chunks = format.name.starts_with("RedisBloom") && vector[0] != 7;
            let found = recognise(&vector).map(|value| value.format());
            assert_eq!(found, (!is_chunks).then_some(format.name));
        }
    }
    assert!(recognise(b"").is_none() && recognise(&[0; 100]).is_none());
}

/// Every vector is read, and comes back as the table says.
#[test]
fn vectors_come_back() {
    for format in FORMATS {
        let vectors = (format.vectors)();
        assert!(!vectors.is_empty(), "{}", format.name);
        for vector in vectors {
            let written = bodies::read_back(format.name, &vector);
            assert_eq!(written.is_some(), format.can[0], "{}", format.name);
            if format.exact.starts_with("all") {
                assert!(written.as_ref() == Some(&vector), "{} of other bytes", format.name);
            }
        }
    }
}
