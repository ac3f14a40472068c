//! A process that inserts is killed by SIGKILL, again and again.
#![cfg(unix)]

use core::num::NonZeroU64;
use std::io::{Read, Write};
use std::process::{Child, ChildStderr, Command, Stdio};
use std::{env, io};

use bloom_core::BloomFilter;
use pds_core::durable::{Durable, DurableError, DurableOptions, SyncPolicy};
use pds_core::hash::finalize;

use super::tally::Tally;
use super::{Folder, open, options};

/// Names the folder of a child process.
const FOLDER: &str = "PDS_LOG_FOLDER";
/// Chooses the policy of a child process.
const ROUND: &str = "PDS_LOG_ROUND";
/// Number of inserts of a child between two checkpoints.
const CHECKPOINT: u64 = 23;
/// Greatest number of keys that a child inserts at once.
const BATCH: u64 = 5;

/// Inserts the next keys until it is killed, and reports each number of keys that was acknowledged.
#[test]
#[ignore = "a process that is killed: `every_acknowledged_insert_survives` starts it"]
fn child() {
    let Some(folder) = env::var_os(FOLDER) else { return };
    let round: u64 = env::var(ROUND).unwrap().parse().unwrap();
    let policy = match round % 3 {
        0 => SyncPolicy::EveryRecord,
        1 => SyncPolicy::Every(NonZeroU64::new(4).unwrap()),
        _ => SyncPolicy::ByCaller,
    };
    let mut tally: Durable<Tally> = DurableOptions::new().sync(policy).open(folder).unwrap();
    loop {
        let next = tally.structure().total();
        if finalize(next).is_multiple_of(3) {
            tally.insert_all(next..next + 1 + finalize(next) / 3 % BATCH).unwrap();
        } else {
            tally.insert(&next).unwrap();
        }
        io::stderr().write_all(&tally.structure().total().to_le_bytes()).unwrap();
        if finalize(next).is_multiple_of(CHECKPOINT) {
            tally.checkpoint().unwrap();
        }
    }
}

fn start(folder: &Folder, round: u64) -> (Child, ChildStderr) {
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["--exact", "logged::killed::child", "--ignored", "--nocapture"]);
    command.env(FOLDER, &folder.0).env(ROUND, round.to_string());
    command.stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let reports = child.stderr.take().unwrap();
    (child, reports)
}

/// Kills children of one folder after random numbers of reports. Returns how many keys were inserted in all.
fn kill(name: &str, rounds: core::ops::Range<u64>) -> u64 {
    let folder = Folder::new(name);
    drop(options().create(&folder.0, Tally::default()).unwrap());
    let mut total = 0;
    for round in rounds {
        let (mut child, mut reports) = start(&folder, round);
        let mut report = [0; 8];
        for _ in 0..finalize(round) % 60 {
            reports.read_exact(&mut report).unwrap();
        }
        // Some are killed between two reports, some while they start.
        (0..finalize(round) / 60 % 20_000).for_each(|i| _ = core::hint::black_box(i));
        child.kill().unwrap();
        child.wait().unwrap();
        let mut rest = Vec::new();
        reports.read_to_end(&mut rest).unwrap();
        let (whole, []) = rest.as_chunks() else {
            panic!("round {round}: {}", String::from_utf8_lossy(&rest));
        };
        let last = whole.last().copied().unwrap_or(report);
        let acknowledged = u64::from_le_bytes(last).max(total);
        let tally = open(&folder).unwrap_or_else(|error| panic!("round {round}: {error}"));
        total = tally.structure().total();
        assert!(tally.structure().holds_exactly(total), "round {round}: lost or twice");
        let possible = acknowledged..=acknowledged + BATCH;
        assert!(possible.contains(&total), "round {round}: {total}, not in {possible:?}");
    }
    total
}

#[test]
fn every_acknowledged_insert_survives() {
    let total = kill("killed", 0..20);
    assert!(total > 100, "{total}");
}

#[test]
#[ignore = "a minute: 1,000 processes"]
fn every_acknowledged_insert_survives_a_thousand_kills() {
    let total: u64 = (0..50).map(|i| kill("killed-1000", 20 * i..20 * (i + 1))).sum();
    assert!(total > 10_000, "{total}");
}

/// Inserts keys until its files may not grow, and then into a new log.
#[test]
#[ignore = "a process with a limit: `a_log_that_could_not_be_written_is_replaced_by_a_checkpoint` starts it"]
fn child_with_a_limit() {
    let Some(folder) = env::var_os(FOLDER) else { return };
    let mut filter: Durable<BloomFilter> = options().open(folder).unwrap();
    let error = filter.insert_all(0..1_000_u64).unwrap_err();
    assert!(matches!(error, DurableError::File(_)), "{error}");
    assert!(matches!(filter.insert(&1_000_u64).unwrap_err(), DurableError::Broken(_)));
    assert!(matches!(filter.sync().unwrap_err(), DurableError::Broken(_)));
    assert!(!filter.structure().contains(&1_000_u64), "nothing was changed");
    filter.checkpoint().unwrap();
    filter.insert(&1_001_u64).unwrap();
}

#[test]
fn a_log_that_could_not_be_written_is_replaced_by_a_checkpoint() {
    let folder = Folder::new("limit");
    let builder = BloomFilter::builder().bits(1_000).hashes(1);
    drop(options().create(&folder.0, builder.build().unwrap()).unwrap());
    // Files of one block at most: 512 or 1024 bytes. A write beyond is an error, not a signal.
    let script = r#"trap '' XFSZ; ulimit -f 1; exec "$0" --exact logged::killed::child_with_a_limit --ignored"#;
    let mut command = Command::new("sh");
    command.args(["-c", script]).arg(env::current_exe().unwrap()).env(FOLDER, &folder.0);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    let filter: Durable<BloomFilter> = options().open(&folder.0).unwrap();
    assert_eq!(filter.log_records(), 1);
    assert!((0..1_000_u64).chain([1_001]).all(|key| filter.structure().contains(&key)));
    assert_eq!(folder.names(), ["1.pds", "1.pdslog", "lock"]);
}
