//! Prints the lines of its input that were not seen before, by any process that uses the same filter.
//!
//! ```text
//! cat urls.txt | cargo run --release --example distributed_dedup -- --node redis://127.0.0.1:7000/ --cluster > new.txt
//! ```

use std::io::{self, BufRead, BufWriter, Write};
use std::ops::Range;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use pds_redis_client::{Answer, Error, Options, Plan, Servers, ShardedFilter, Storage, Wait};

const HELP: &str = "\
usage: distributed_dedup --node URL [--node URL ...] [options]

Prints the lines of the standard input that are new. A line whose insert had to be sent again is printed, too.

  --cluster            the nodes are those of a cluster
  --bitmap             the servers have no module: use bitmaps
  --name NAME          name of the filter (urls)
  --items N            expected items (1000000)
  --rate P             false-positive rate (0.001)
  --largest-shard N    bytes that no shard exceeds (134217728)
  --masters N          make the number of shards a multiple of this (1)
  --grow FACTOR        add generations when the filter is full
  --wait N             let each insert wait for N replicas
  --patience SECONDS   how long to try again while servers fail (60)
  --cache N            recent keys to remember (1048576)
  --batch N            lines per call (20000)
  --numbers A..B       take the URLs with these numbers instead of the input, and print none of them
  --verify             insert nothing, and count the lines that are absent
  --progress           report on the standard error";

struct Arguments {
    nodes: Vec<String>,
    is_cluster: bool,
    name: String,
    plan: Plan,
    options: Options,
    patience: Duration,
    batch: usize,
    numbers: Option<Range<u64>>,
    verify: bool,
    progress: bool,
}

type Failure = Box<dyn std::error::Error>;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("distributed_dedup: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Failure> {
    let arguments = Arguments::read()?;
    let mut servers = if arguments.is_cluster {
        Servers::cluster(arguments.nodes.iter().map(String::as_str))?
    } else {
        Servers::single(arguments.nodes[0].as_str())?
    };
    servers.set_patience(arguments.patience);
    let (name, options) = (&arguments.name, arguments.options.clone());
    let filter = ShardedFilter::create(servers, name, arguments.plan, options)?;
    let mut work = Work::new(filter, arguments.verify, arguments.progress);
    match &arguments.numbers {
        Some(numbers) => work.take_numbers(numbers.clone(), arguments.batch)?,
        None => work.take_lines(arguments.batch)?,
    }
    work.finish()
}

/// The progress so far.
struct Work {
    filter: ShardedFilter,
    verify: bool,
    progress: bool,
    begin: Instant,
    reported: Instant,
    keys: u64,
    new: u64,
    unsure: u64,
    absent: u64,
    slowest: Duration,
}

impl Work {
    fn new(filter: ShardedFilter, verify: bool, progress: bool) -> Self {
        let now = Instant::now();
        let (keys, new, unsure, absent, slowest) = (0, 0, 0, 0, Duration::ZERO);
        let (begin, reported) = (now, now);
        Self { filter, verify, progress, begin, reported, keys, new, unsure, absent, slowest }
    }

    fn take_numbers(&mut self, numbers: Range<u64>, batch: usize) -> Result<(), Failure> {
        let mut next = numbers.start;
        while next < numbers.end {
            let end = numbers.end.min(next + batch as u64);
            let urls = (next..end).map(|number| format!("https://example.org/{number}"));
            self.take(&urls.collect::<Vec<_>>())?;
            next = end;
        }
        Ok(())
    }

    fn take_lines(&mut self, batch: usize) -> Result<(), Failure> {
        let mut lines = io::stdin().lock().split(b'\n');
        let mut out = BufWriter::new(io::stdout().lock());
        loop {
            let taken: Vec<_> = lines.by_ref().take(batch).collect::<io::Result<_>>()?;
            if taken.is_empty() {
                return Ok(out.flush()?);
            }
            for (line, is_new) in taken.iter().zip(self.take(&taken)?) {
                if is_new {
                    out.write_all(line)?;
                    out.write_all(b"\n")?;
                }
            }
        }
    }

    /// Takes keys. Returns which of them are to be printed.
    fn take(&mut self, keys: &[impl AsRef<[u8]>]) -> Result<Vec<bool>, Error> {
        let begin = Instant::now();
        let printed = if self.verify { self.look_up(keys)? } else { self.insert(keys)? };
        self.slowest = self.slowest.max(begin.elapsed());
        self.keys += keys.len() as u64;
        for alert in self.filter.take_alerts() {
            let (generation, percent, items) = (alert.generation, alert.percent, alert.items);
            eprintln!("generation {generation} is {percent} % full: {items} items");
        }
        if self.progress && self.reported.elapsed() > Duration::from_millis(100) {
            self.reported = Instant::now();
            eprintln!("progress {}", self.keys);
        }
        Ok(printed)
    }

    fn insert(&mut self, keys: &[impl AsRef<[u8]>]) -> Result<Vec<bool>, Error> {
        let answers = self.filter.insert_batch(keys)?;
        for answer in &answers {
            self.new += u64::from(*answer == Answer::New);
            self.unsure += u64::from(*answer == Answer::Unsure);
        }
        Ok(answers.into_iter().map(|answer| answer != Answer::Present).collect())
    }

    fn look_up(&mut self, keys: &[impl AsRef<[u8]>]) -> Result<Vec<bool>, Error> {
        let answers = self.filter.contains_batch(keys)?;
        self.absent += answers.iter().filter(|&&found| !found).count() as u64;
        Ok(answers.into_iter().map(|found| !found).collect())
    }

    fn finish(mut self) -> Result<(), Failure> {
        let seconds = self.begin.elapsed().as_secs_f64();
        let sample = self.filter.sample_rate(100_000)?;
        let status = self.filter.status()?;
        let Self { keys, new, unsure, absent, .. } = self;
        eprintln!("keys {keys} new {new} unsure {unsure} absent {absent}");
        eprintln!("seconds {seconds:.2} slowest_batch {:.3}", self.slowest.as_secs_f64());
        eprintln!("cache_hits {}", self.filter.cache_hits());
        eprintln!("items {} bytes {}", status.items(), status.bytes);
        eprintln!("measured_rate {:.6} standard_error {:.6}", sample.value, sample.standard_error);
        Ok(())
    }
}

impl Arguments {
    fn read() -> Result<Self, Failure> {
        let (mut nodes, mut flags) = (Vec::new(), Vec::new());
        let mut values = std::collections::HashMap::new();
        let mut words = std::env::args().skip(1);
        while let Some(word) = words.next() {
            match word.as_str() {
                "--help" => {
                    println!("{HELP}");
                    std::process::exit(0);
                }
                "--cluster" | "--bitmap" | "--verify" | "--progress" => flags.push(word),
                "--node" => nodes.push(words.next().ok_or("--node needs a URL")?),
                name if HELP.contains(&format!("  {name} ")) => {
                    let value = words.next().ok_or(format!("{word} needs a value"))?;
                    values.insert(word, value);
                }
                _ => return Err(format!("unknown argument {word}\n\n{HELP}").into()),
            }
        }
        if nodes.is_empty() {
            return Err(format!("no --node is given\n\n{HELP}").into());
        }
        let has = |flag: &str| flags.iter().any(|word| word == flag);
        let text = |name: &str, default: &str| values.get(name).cloned().unwrap_or(default.into());
        let number = |name: &str, default: u64| match values.get(name) {
            Some(value) => value.parse::<u64>().map_err(|error| format!("{name} {value}: {error}")),
            None => Ok(default),
        };
        let rate = text("--rate", "0.001");
        let rate = rate.parse::<f64>().map_err(|error| format!("--rate {rate}: {error}"))?;
        let storage = if has("--bitmap") { Storage::Bitmap } else { Storage::Module };
        let mut plan = Plan::new(number("--items", 1_000_000)?, rate)
            .storage(storage)
            .largest_shard(number("--largest-shard", 1 << 27)?)
            .masters(u32::try_from(number("--masters", 1)?)?);
        if values.contains_key("--grow") {
            plan = plan.growth(u32::try_from(number("--grow", 0)?)?);
        }
        let mut options = Options::new().cache(usize::try_from(number("--cache", 1 << 20)?)?);
        if values.contains_key("--wait") {
            let replicas = u32::try_from(number("--wait", 0)?)?;
            options = options.wait(Wait { replicas, timeout: Duration::from_secs(1) });
        }
        Ok(Self {
            nodes,
            is_cluster: has("--cluster"),
            name: text("--name", "urls"),
            plan,
            options,
            patience: Duration::from_secs(number("--patience", 60)?),
            batch: usize::try_from(number("--batch", 20_000)?.max(1))?,
            numbers: values.get("--numbers").map(String::as_str).map(range_of).transpose()?,
            verify: has("--verify"),
            progress: has("--progress"),
        })
    }
}

fn range_of(text: &str) -> Result<Range<u64>, Failure> {
    let (begin, end) = text.split_once("..").ok_or("--numbers needs A..B")?;
    Ok(begin.parse()?..end.parse()?)
}
