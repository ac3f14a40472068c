//! Conversions between systems: keys can always move, bits only where the hash function is the same.
//!
//! `cargo run -p pds-formats --example convert`

use core::error::Error;

use bloom_blocked::SplitBlockBloomFilter;
use pds_formats::milvus::MilvusBloomFilter;
use pds_formats::parquet::{ParquetBloomFilter, ParquetValue};
use pds_formats::redis::{RdbVersion, RedisBloomFilter};

fn main() -> Result<(), Box<dyn Error>> {
    pds_testkit::pipe::end_quietly();
    let keys: Vec<String> = (0..10_000).map(|i| format!("user:{i}")).collect();

    // A server's filter, through its dump and back.
    let mut server = RedisBloomFilter::reserve(0.01, 10_000, Some(2))?;
    for key in &keys {
        server.insert(key.as_bytes())?;
    }
    let dump = server.to_dump(RdbVersion::default());
    let read = RedisBloomFilter::from_dump(&dump)?;
    println!(
        "Redis: {} bytes, {} items, rate {:.4}",
        dump.len(),
        read.len(),
        read.false_positive_rate()
    );

    // The same bytes as a filter of Parquet: refused, since its bits are of another hash function.
    let refused = ParquetBloomFilter::from_bytes(&dump).expect_err("no Parquet");
    println!("Redis to Parquet: {refused}. Rebuild the filter from the keys.");

    // From the keys: a filter as it stands in a file.
    let mut column = ParquetBloomFilter::new(keys.len() as u64, 0.01)?;
    column.insert_batch(&keys);
    let file = column.to_bytes();
    println!("Parquet: {} bytes, rate {:.4}", file.len(), column.false_positive_rate());

    // Parquet and Milvus hash alike, and so can a filter of ours: the bits move without the keys.
    let ours = ParquetBloomFilter::from_bytes(&file)?.into_blocks();
    assert!(ours.contains_hash(keys[17].parquet_hash()));
    let bitset = ours.to_bitset();
    let back = ParquetBloomFilter::from_blocks(SplitBlockBloomFilter::from_bitset(&bitset)?)?;
    assert_eq!(back.to_bytes(), file);
    println!("Parquet to our split blocks and back: the same {} bytes", file.len());

    let mut blob = MilvusBloomFilter::new(keys.len() as u64, 0.01)?;
    keys.iter().for_each(|key| {
        blob.insert_string(key);
    });
    let same = blob.clone().into_parquet();
    println!(
        "Milvus to Parquet: {} bytes of blob, {} of filter",
        blob.to_bytes().len(),
        same.to_bytes().len()
    );
    assert!(keys.iter().all(|key| read.contains(key.as_bytes()) && same.contains(key)));
    Ok(())
}
