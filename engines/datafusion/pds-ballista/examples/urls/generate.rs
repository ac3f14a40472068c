//! URLs, and the Parquet files of two days.

use std::fmt::Write;
use std::fs::{self, File};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use datafusion::arrow::array::{BooleanArray, RecordBatch, StringBuilder};
use datafusion::common::Result;
use datafusion::parquet::arrow::ArrowWriter;
use datafusion::parquet::basic::{Compression, ZstdLevel};
use datafusion::parquet::file::properties::WriterProperties;

const SEED: u64 = 20_261_129;
const ROWS_PER_BATCH: u64 = 1 << 16;
const ROWS_PER_GROUP: usize = 1 << 20;

const WORDS: [&str; 64] = [
    "about", "account", "archive", "article", "author", "beach", "bread", "bridge", "camera",
    "category", "city", "cloud", "comment", "company", "country", "culture", "daily", "design",
    "detail", "district", "energy", "event", "family", "forest", "forum", "garden", "health",
    "history", "hotel", "image", "island", "item", "journal", "kitchen", "language", "library",
    "listing", "market", "member", "mountain", "museum", "music", "news", "office", "online",
    "party", "photo", "player", "product", "profile", "project", "recipe", "region", "report",
    "review", "school", "season", "store", "story", "street", "summer", "travel", "video",
    "weather",
];
const DOMAINS: [&str; 8] = ["com", "org", "net", "de", "fr", "co.uk", "io", "info"];

/// Numbers from a seed: SplitMix64 (Steele, Lea, Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    fn choose<T: Copy>(&mut self, from: &[T]) -> T {
        from[index(self.below(from.len() as u64))]
    }
}

fn index(number: u64) -> usize {
    usize::try_from(number).expect("a number of files or words")
}

/// Replaces `text` by the URL with this number. Different numbers below 2^40 have different URLs.
pub(crate) fn url(number: u64, text: &mut String) {
    let mut random = Random(SEED ^ number.wrapping_mul(0xd134_2543_de82_ef95));
    text.clear();
    text.push_str(random.choose(&["https://", "https://www."]));
    // Some sites have many pages, most have few.
    let site = random.below(1 << 20) & random.below(1 << 20);
    let mut name = Random(site);
    for _ in 0..2 {
        text.push_str(name.choose(&WORDS));
    }
    _ = write!(text, "{}.{}", site % 97, name.choose(&DOMAINS));
    for _ in 0..random.below(3) {
        text.push('/');
        text.push_str(random.choose(&WORDS));
    }
    text.push('/');
    for _ in 0..1 + random.below(5) {
        text.push_str(random.choose(&WORDS));
        text.push('-');
    }
    // An odd factor is a permutation of the numbers below 2^40.
    let id = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) & ((1 << 40) - 1);
    _ = write!(text, "{id:x}");
    text.push_str(random.choose(&["", "/", ".html", "?page="]));
    if text.ends_with('=') {
        _ = write!(text, "{}&sort={}", random.below(100), random.choose(&WORDS));
    }
}

/// The URLs of one day.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Day {
    pub(crate) name: &'static str,
    /// First of its numbers, and the one after the last.
    pub(crate) first: u64,
    pub(crate) end: u64,
    /// URLs with lower numbers are those of the day before.
    pub(crate) first_new: u64,
}

impl Day {
    /// Returns the numbers of a shard, which are a step apart. In place of a hash of the URL, the number chooses the shard.
    fn of_shard(&self, shard: u64, shards: u64) -> impl Iterator<Item = u64> + use<> {
        let skip = (shard + shards - self.first % shards) % shards;
        (self.first + skip..self.end).step_by(index(shards))
    }
}

/// Writes the files of some days, one for each shard, with a thread for each core. Returns the bytes of all URLs.
pub(crate) fn write(folder: &Path, days: &[Day], shards: u64) -> Result<u64> {
    let files = days.len() as u64 * shards;
    let (next, length) = (AtomicU64::new(0), AtomicU64::new(0));
    let work = || -> Result<()> {
        loop {
            let file = next.fetch_add(1, Ordering::Relaxed);
            if file >= files {
                return Ok(());
            }
            let day = &days[index(file / shards)];
            length.fetch_add(write_file(folder, day, file % shards, shards)?, Ordering::Relaxed);
        }
    };
    let threads = std::thread::available_parallelism()?.get();
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        threads.into_iter().try_for_each(|thread| thread.join().expect("a writer panicked"))
    })?;
    Ok(length.into_inner())
}

fn write_file(folder: &Path, day: &Day, shard: u64, shards: u64) -> Result<u64> {
    let folder = folder.join(day.name).join(format!("shard={shard}"));
    fs::create_dir_all(&folder)?;
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(1)?))
        .set_dictionary_enabled(false)
        .set_max_row_group_row_count(Some(ROWS_PER_GROUP))
        .build();
    let mut numbers = day.of_shard(shard, shards).peekable();
    let (first, mut length) = batch(&mut numbers, day.first_new)?;
    let file = File::create(folder.join("urls.parquet"))?;
    let mut writer = ArrowWriter::try_new(file, first.schema(), Some(properties))?;
    writer.write(&first)?;
    while numbers.peek().is_some() {
        let (batch, bytes) = batch(&mut numbers, day.first_new)?;
        writer.write(&batch)?;
        length += bytes;
    }
    writer.close()?;
    Ok(length)
}

/// Returns the next rows, and the bytes of their URLs.
fn batch(numbers: &mut impl Iterator<Item = u64>, first_new: u64) -> Result<(RecordBatch, u64)> {
    let (mut text, mut length) = (String::new(), 0);
    let (mut urls, mut known) = (StringBuilder::new(), Vec::new());
    let rows: Range<u64> = 0..ROWS_PER_BATCH;
    for (_, number) in rows.zip(numbers) {
        url(number, &mut text);
        length += text.len() as u64;
        urls.append_value(&text);
        known.push(number < first_new);
    }
    let columns = [
        ("url", Arc::new(urls.finish()) as _),
        ("known", Arc::new(BooleanArray::from(known)) as _),
    ];
    Ok((RecordBatch::try_from_iter(columns)?, length))
}
