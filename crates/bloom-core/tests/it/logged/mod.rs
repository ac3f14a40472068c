//! Durable structures: checkpoint and log, cut, damaged and interrupted at every place.
#![cfg(feature = "std")]

mod bodies;
mod killed;
mod tally;

use std::fs;
use std::path::Path;

use bloom_core::BloomFilter;
use bodies::{Folder, HEAD, RECORD, options};
use core::num::NonZeroU64;
use pds_core::bytes::ByteOptions;
use pds_core::durable::{Durable, DurableError, DurableOptions, SyncPolicy};
use pds_core::error::{DecodeErrorKind, InsertError, ReadError};
use pds_core::hash::SipHashBuilder;
use pds_testkit::mutate::inputs;
use tally::Tally;

impl Folder {
    /// Returns the names of the files, in order.
    fn names(&self) -> Vec<String> {
        let names = fs::read_dir(&self.0).unwrap().map(|entry| entry.unwrap().file_name());
        let mut names: Vec<_> = names.map(|name| name.into_string().unwrap()).collect();
        names.sort();
        names
    }
}

fn open(folder: &Folder) -> Result<Durable<Tally>, DurableError> {
    options().open(&folder.0)
}

/// Returns a folder with a tally of `before` keys in the checkpoint and `after` more in the log.
fn prepared(name: &str, before: u64, after: u64) -> Folder {
    let folder = Folder::new(name);
    let mut tally = options().create(&folder.0, Tally::default()).unwrap();
    tally.insert_all(0..before).unwrap();
    tally.checkpoint().unwrap();
    (before..before + after).for_each(|key| _ = tally.insert(&key).unwrap());
    folder
}

#[test]
fn what_was_inserted_is_there_again() {
    let folder = Folder::new("again");
    let mut seen = options().create(&folder.0, BloomFilter::new(1_000, 0.01).unwrap()).unwrap();
    assert!(seen.insert("a").unwrap() && !seen.insert("a").unwrap());
    assert_eq!(seen.insert_all(["b", "c", "a"]).unwrap(), 2);
    assert_eq!(seen.log_records(), 5);
    let before = seen.into_structure();
    for round in 0..3 {
        let seen = options().open::<BloomFilter>(&folder.0).unwrap();
        assert_eq!(seen.structure().to_bytes(), before.to_bytes(), "{round}");
        assert_eq!((seen.recovery().replayed, seen.recovery().lost_bytes), (5, 0));
    }
    assert_eq!(folder.names(), ["0.pds", "0.pdslog", "lock"]);
    let mut seen = options().open::<BloomFilter>(&folder.0).unwrap();
    seen.checkpoint().unwrap();
    seen.checkpoint().unwrap();
    assert_eq!(folder.names(), ["2.pds", "2.pdslog", "lock"]);
    assert_eq!((seen.log_records(), fs::metadata(folder.file("2.pdslog")).unwrap().len()), (0, 32));
    // The checkpoint is the structure's own portable bytes.
    let read: BloomFilter = ByteOptions::new().load(folder.file("2.pds")).unwrap();
    assert!(read == before);
}

#[test]
fn a_log_without_records_and_an_empty_structure_are_fine() {
    let folder = prepared("empty", 0, 0);
    let tally = open(&folder).unwrap();
    assert_eq!((tally.structure().total(), tally.recovery().replayed), (0, 0));
}

#[test]
fn a_log_cut_at_any_byte_gives_the_records_before_it() {
    let folder = prepared("cut", 7, 12);
    let name = folder.file("1.pdslog");
    let whole = fs::read(&name).unwrap();
    assert_eq!(whole.len(), HEAD + 12 * RECORD);
    for length in 0..=whole.len() {
        fs::write(&name, &whole[..length]).unwrap();
        if length < HEAD {
            // The head was synced before the checkpoint counted, so it is no torn tail.
            match open(&folder).unwrap_err() {
                DurableError::Damaged { records: 0, .. } => assert_eq!(length, 0),
                DurableError::Foreign(path) => assert!(length > 0 && path == name),
                other => panic!("{length}: {other}"),
            }
            assert_eq!(fs::read(&name).unwrap(), whole[..length], "nothing is changed");
            continue;
        }
        let records = ((length - HEAD) / RECORD) as u64;
        let mut tally = open(&folder).unwrap();
        assert!(tally.structure().holds_exactly(7 + records), "{length}");
        assert_eq!(tally.recovery().lost_bytes, ((length - HEAD) % RECORD) as u64);
        // The next record is written after the last whole one.
        tally.insert(&(7 + records)).unwrap();
        drop(tally);
        assert!(open(&folder).unwrap().structure().holds_exactly(8 + records), "{length}");
    }
}

#[test]
fn a_log_damaged_at_any_byte_is_no_other_log() {
    let folder = prepared("damaged", 3, 9);
    let name = folder.file("1.pdslog");
    let whole = fs::read(&name).unwrap();
    for at in 0..whole.len() {
        let mut damaged = whole.clone();
        damaged[at] ^= 1 << (at % 8);
        fs::write(&name, &damaged).unwrap();
        let record = at.checked_sub(HEAD).map_or(0, |at| at / RECORD) as u64;
        match open(&folder).unwrap_err() {
            DurableError::Damaged { path, records } => {
                assert_eq!((path, records), (name.clone(), record), "{at}");
            }
            other => panic!("{at}: {other}"),
        }
        assert_eq!(fs::read(&name).unwrap(), damaged, "nothing is changed");
    }
}

#[test]
fn a_log_that_lost_a_byte_is_damaged_if_a_record_may_be_lost() {
    let folder = prepared("byte", 3, 9);
    let name = folder.file("1.pdslog");
    let whole = fs::read(&name).unwrap();
    for at in HEAD..whole.len() {
        let mut damaged = whole.clone();
        damaged.remove(at);
        fs::write(&name, &damaged).unwrap();
        let record = ((at - HEAD) / RECORD) as u64;
        match open(&folder) {
            // The last record alone: an insert that was interrupted leaves the same.
            Ok(tally) => assert!(record == 8 && tally.structure().holds_exactly(11), "{at}"),
            Err(DurableError::Damaged { records, .. }) => {
                assert_eq!(records, record, "{at}");
                assert_eq!(fs::read(&name).unwrap(), damaged, "nothing is changed");
            }
            Err(other) => panic!("{at}: {other}"),
        }
    }
}

#[test]
fn records_behind_a_damaged_head_are_salvaged() {
    let folder = prepared("head", 3, 9);
    let name = folder.file("1.pdslog");
    let mut bytes = fs::read(&name).unwrap();
    bytes[9] ^= 1;
    fs::write(&name, &bytes).unwrap();
    assert!(matches!(open(&folder).unwrap_err(), DurableError::Damaged { records: 0, .. }));
    let tally: Durable<Tally> = options().salvage(true).open(&folder.0).unwrap();
    assert!(tally.structure().holds_exactly(12));
    assert_eq!((tally.recovery().replayed, tally.recovery().lost_bytes), (9, HEAD as u64));
}

#[test]
fn salvaging_that_fails_leaves_the_log_as_it_was() {
    let folder = prepared("unsalvaged", 3, 9);
    let name = folder.file("1.pdslog");
    let mut bytes = fs::read(&name).unwrap();
    bytes[HEAD + 2 * RECORD] ^= 1;
    fs::write(&name, &bytes).unwrap();
    // A folder with the name of the next log: no checkpoint can be written.
    fs::create_dir(folder.file("2.pdslog")).unwrap();
    let error = options().salvage(true).open::<Tally>(&folder.0).unwrap_err();
    assert!(error.to_string().contains("2.pdslog"), "{error}");
    assert_eq!(fs::read(&name).unwrap(), bytes, "nothing is changed");
    assert!(matches!(open(&folder).unwrap_err(), DurableError::Damaged { records: 2, .. }));
    fs::remove_dir(folder.file("2.pdslog")).unwrap();
    let tally: Durable<Tally> = options().salvage(true).open(&folder.0).unwrap();
    assert_eq!((tally.recovery().replayed, tally.recovery().lost_bytes), (8, RECORD as u64));
}

#[test]
fn a_damaged_log_can_be_salvaged() {
    let folder = prepared("salvage", 3, 9);
    let name = folder.file("1.pdslog");
    let mut bytes = fs::read(&name).unwrap();
    bytes[HEAD + 4 * RECORD] ^= 1;
    bytes.extend([7; 5]);
    fs::write(&name, &bytes).unwrap();
    let error = open(&folder).unwrap_err().to_string();
    assert!(error.contains("1.pdslog: the log is damaged after 4 records"), "{error}");
    let tally: Durable<Tally> = options().salvage(true).open(&folder.0).unwrap();
    assert_eq!((tally.recovery().replayed, tally.recovery().lost_bytes), (8, 16 + 5));
    let mut expected = Tally::of(0..12);
    expected.remove(3 + 4);
    assert_eq!(*tally.structure(), expected);
    drop(tally);
    assert_eq!(*open(&folder).unwrap().structure(), expected, "a new checkpoint was written");
    assert_eq!(folder.names(), ["2.pds", "2.pdslog", "lock"]);
}

#[test]
fn zeros_behind_the_records_are_no_records() {
    let folder = prepared("zeros", 3, 2);
    let name = folder.file("1.pdslog");
    let bytes = fs::read(&name).unwrap();
    fs::write(&name, [&bytes[..], &[0; 4096]].concat()).unwrap();
    let tally = open(&folder).unwrap();
    assert!(tally.structure().holds_exactly(5));
    assert_eq!(fs::metadata(&name).unwrap().len(), bytes.len() as u64, "cut off");
}

#[test]
fn a_checkpoint_that_is_damaged_is_never_taken_for_an_empty_one() {
    let folder = prepared("checkpoint", 3, 2);
    let name = folder.file("1.pds");
    let whole = fs::read(&name).unwrap();
    for at in 0..whole.len() {
        let mut damaged = whole.clone();
        damaged[at] ^= 1 << (at % 8);
        for bytes in [&whole[..at], &damaged] {
            fs::write(&name, bytes).unwrap();
            match open(&folder).unwrap_err() {
                DurableError::File(error) => {
                    assert!(matches!(error.error, ReadError::Decode(_)), "{at}");
                    assert_eq!(error.path, name);
                }
                other => panic!("{at}: {other}"),
            }
        }
    }
    fs::write(&name, &whole).unwrap();
    assert!(open(&folder).unwrap().structure().holds_exactly(5));
}

/// Copies the files of a folder into another one.
fn copy(from: &Folder, to: &Folder, names: &[&str]) {
    fs::create_dir_all(&to.0).unwrap();
    for name in names {
        fs::copy(from.file(name), to.file(name)).unwrap();
    }
}

#[test]
fn a_checkpoint_that_was_interrupted_anywhere_is_the_old_one_or_the_new_one() {
    let old = prepared("old", 4, 3);
    let new = Folder::new("new");
    copy(&old, &new, &["1.pds", "1.pdslog"]);
    open(&new).unwrap().checkpoint().unwrap();
    assert_eq!(new.names(), ["2.pds", "2.pdslog", "lock"]);
    let state = Folder::new("state");
    let whole_log = fs::read(new.file("2.pdslog")).unwrap();
    // In the order of a checkpoint: a part of the new log, all of it, a temporary file, the new checkpoint, the old one removed,
    // the old log removed.
    for step in 0..=whole_log.len() + 4 {
        let _ = fs::remove_dir_all(&state.0);
        copy(&old, &state, &["1.pds", "1.pdslog"]);
        fs::write(state.file("2.pdslog"), &whole_log[..step.min(whole_log.len())]).unwrap();
        let further = step.saturating_sub(whole_log.len());
        if further == 1 {
            fs::write(state.file(".2.pds.123.0.tmp"), b"half").unwrap();
        }
        if further >= 2 {
            copy(&new, &state, &["2.pds"]);
        }
        if further >= 3 {
            fs::remove_file(state.file("1.pds")).unwrap();
        }
        if further >= 4 {
            fs::remove_file(state.file("1.pdslog")).unwrap();
        }
        for round in 0..2 {
            let tally = open(&state).unwrap();
            // Each key once: a replay of the old log on the new checkpoint would count three twice.
            assert!(tally.structure().holds_exactly(7), "{step} {round}");
            assert_eq!(tally.log_records(), if further >= 2 { 0 } else { 3 });
        }
        let number = if further >= 2 { 2 } else { 1 };
        let names = [format!("{number}.pds"), format!("{number}.pdslog"), "lock".into()];
        assert_eq!(state.names(), names, "what was left is removed");
    }
}

#[test]
fn the_first_checkpoint_can_be_interrupted_too() {
    let whole = prepared("whole", 0, 0);
    let folder = Folder::new("first");
    fs::create_dir_all(&folder.0).unwrap();
    fs::copy(whole.file("1.pdslog"), folder.file("0.pdslog")).unwrap();
    assert!(matches!(open(&folder).unwrap_err(), DurableError::Absent(_)));
    let mut tally = options().create(&folder.0, Tally::default()).unwrap();
    tally.insert(&0_u64).unwrap();
    drop(tally);
    assert!(open(&folder).unwrap().structure().holds_exactly(1));
}

#[test]
fn creating_and_opening_leave_the_files_of_others() {
    let folder = Folder::new("others");
    fs::create_dir_all(&folder.0).unwrap();
    let theirs = ["2024.log", ".1.pdslog.2.tmp", ".mine.tmp", ".x.pds.1.2.tmp", ".1.pds.2.tmp"];
    for (name, length) in theirs.map(|name| (name, 4)).into_iter().chain([
        ("7.pdslog", 0),
        ("7.pdslog", 32),
        ("0.pdslog", 33),
        ("0.pds", 0),
    ]) {
        fs::write(folder.file(name), vec![1; length]).unwrap();
        match options().create(&folder.0, Tally::default()).unwrap_err() {
            DurableError::Exists(path) => assert_eq!(path, folder.file(name)),
            other => panic!("{name}: {other}"),
        }
        assert_eq!(fs::read(folder.file(name)).unwrap(), vec![1; length], "{name}");
        fs::remove_file(folder.file(name)).unwrap();
    }
    // An interrupted creation leaves a log without a checkpoint.
    fs::write(folder.file("0.pdslog"), [1; 32]).unwrap();
    fs::write(folder.file(".0.pds.123.0.tmp"), "half").unwrap();
    drop(options().create(&folder.0, Tally::default()).unwrap());
    theirs.iter().for_each(|name| fs::write(folder.file(name), "mine").unwrap());
    open(&folder).unwrap().checkpoint().unwrap();
    drop(open(&folder).unwrap());
    let mut names = [&theirs[..], &["1.pds", "1.pdslog", "lock"]].concat();
    names.sort_unstable();
    assert_eq!(folder.names(), names);
}

#[test]
fn a_log_whose_checkpoint_is_gone_is_not_passed_over() {
    let folder = prepared("gone", 4, 3);
    let older = prepared("older", 0, 0);
    fs::rename(folder.file("1.pdslog"), older.file("2.pdslog")).unwrap();
    match open(&older).unwrap_err() {
        DurableError::Absent(path) => assert_eq!(path, older.file("2.pds")),
        other => panic!("{other}"),
    }
    assert_eq!(older.names(), ["1.pds", "1.pdslog", "2.pdslog", "lock"], "nothing is changed");
    fs::remove_file(folder.file("1.pds")).unwrap();
    fs::rename(older.file("2.pdslog"), folder.file("1.pdslog")).unwrap();
    fs::remove_file(folder.file("lock")).unwrap();
    assert!(matches!(open(&folder).unwrap_err(), DurableError::Absent(_)));
    assert_eq!(folder.names(), ["1.pdslog"], "nothing is changed");
}

#[test]
fn the_greatest_number_is_no_checkpoint() {
    let folder = prepared("greatest", 1, 1);
    let name = folder.file("18446744073709551615.pds");
    fs::write(&name, "mine").unwrap();
    open(&folder).unwrap().checkpoint().unwrap();
    assert_eq!(fs::read(&name).unwrap(), b"mine");
    // The number before it is one, and has a next one.
    let name = folder.file("18446744073709551614.pds");
    fs::copy(folder.file("2.pds"), &name).unwrap();
    assert!(open(&folder).unwrap_err().to_string().contains("18446744073709551614.pdslog"));
}

/// A checkpoint whose next one would have a number that no reader takes.
#[test]
fn the_last_number_has_no_next_checkpoint() {
    const LAST: &str = "18446744073709551614";
    let [checkpoint, log] = ["pds", "pdslog"].map(|extension| format!("{LAST}.{extension}"));
    let folder = prepared("last", 1, 0);
    fs::rename(folder.file("1.pds"), folder.file(&checkpoint)).unwrap();
    fs::rename(folder.file("1.pdslog"), folder.file(&log)).unwrap();
    // Nothing is left of the log, so that opening writes a checkpoint.
    fs::write(folder.file(&log), "").unwrap();
    let error = options().salvage(true).open::<Tally>(&folder.0).unwrap_err();
    let told =
        "the next checkpoint would have the number 18446744073709551615, but must be below it";
    assert!(error.to_string().ends_with(told), "{error}");
    assert_eq!(folder.names(), [&checkpoint[..], &log, "lock"], "nothing is changed");
    // The one before it has a next one, which has none.
    fs::rename(folder.file(&checkpoint), folder.file("18446744073709551613.pds")).unwrap();
    fs::rename(folder.file(&log), folder.file("18446744073709551613.pdslog")).unwrap();
    let mut tally = options().salvage(true).open::<Tally>(&folder.0).unwrap();
    let error = tally.checkpoint().unwrap_err();
    assert!(error.to_string().ends_with(told), "{error}");
    // The log goes on.
    tally.insert(&1_u64).unwrap();
    drop(tally);
    assert!(open(&folder).unwrap().structure().holds_exactly(2));
    assert_eq!(folder.names(), [&checkpoint[..], &log, "lock"]);
}

#[cfg(unix)]
#[test]
fn a_log_is_not_written_through_a_link() {
    let (folder, theirs) = (Folder::new("link"), Folder::new("link-theirs"));
    [&folder, &theirs].iter().for_each(|folder| fs::create_dir_all(&folder.0).unwrap());
    fs::write(theirs.file("theirs"), "25 bytes of someone else.").unwrap();
    std::os::unix::fs::symlink(theirs.file("theirs"), folder.file("0.pdslog")).unwrap();
    let mut tally = options().create(&folder.0, Tally::default()).unwrap();
    tally.insert(&0_u64).unwrap();
    drop(tally);
    assert_eq!(fs::read(theirs.file("theirs")).unwrap(), b"25 bytes of someone else.");
    assert!(open(&folder).unwrap().structure().holds_exactly(1));
}

/// A process of its own, as all threads share the working folder.
#[test]
#[ignore = "changes the working folder: `a_folder_stays_the_same_if_the_process_moves` starts it"]
fn child_that_moves() {
    let Some(folder) = std::env::var_os("PDS_MOVING_FOLDER") else { return };
    std::env::set_current_dir(&folder).unwrap();
    let mut tally = options().create("a/b/c", Tally::default()).unwrap();
    fs::create_dir_all("moved/a/b/c").unwrap();
    std::env::set_current_dir("moved").unwrap();
    tally.insert(&0_u64).unwrap();
    tally.checkpoint().unwrap();
}

#[test]
fn a_folder_stays_the_same_if_the_process_moves() {
    let folder = Folder::new("moving");
    fs::create_dir_all(&folder.0).unwrap();
    let mut command = std::process::Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "logged::child_that_moves", "--ignored"]);
    let output = command.env("PDS_MOVING_FOLDER", &folder.0).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    let tally: Durable<Tally> = options().open(folder.file("a/b/c")).unwrap();
    assert!(tally.structure().holds_exactly(1));
    assert_eq!(fs::read_dir(folder.file("moved/a/b/c")).unwrap().count(), 0);
}

#[test]
fn logs_and_checkpoints_of_others_are_refused() {
    let (ours, theirs) = (prepared("ours", 4, 3), prepared("theirs", 5, 3));
    let whole = fs::read(theirs.file("1.pdslog")).unwrap();
    fs::write(ours.file("1.pdslog"), &whole).unwrap();
    for salvages in [false, true] {
        let error = options().salvage(salvages).open::<Tally>(&ours.0).unwrap_err();
        assert!(matches!(error, DurableError::Foreign(_)), "{error}");
        assert_eq!(fs::read(ours.file("1.pdslog")).unwrap(), whole, "nothing is changed");
    }
    // The way to give its records up.
    fs::write(ours.file("1.pdslog"), "").unwrap();
    assert!(matches!(open(&ours).unwrap_err(), DurableError::Damaged { records: 0, .. }));
    fs::remove_file(ours.file("1.pdslog")).unwrap();
    let error = open(&ours).unwrap_err();
    assert!(error.to_string().contains("1.pdslog"), "a log that is gone is no empty log: {error}");
    let error = options().open::<BloomFilter>(&theirs.0).unwrap_err();
    match error {
        DurableError::File(error) => match error.error {
            ReadError::Decode(error) => assert_eq!(error.kind(), DecodeErrorKind::Kind),
            other => panic!("{other}"),
        },
        other => panic!("{other}"),
    }
}

#[test]
fn one_value_has_a_folder_open_at_a_time() {
    let folder = prepared("locked", 1, 1);
    let first = open(&folder).unwrap();
    assert!(matches!(open(&folder).unwrap_err(), DurableError::Locked(_)));
    let error = options().create(&folder.0, Tally::default()).unwrap_err();
    assert!(matches!(error, DurableError::Locked(_)));
    drop(first);
    let error = options().create(&folder.0, Tally::default()).unwrap_err();
    assert!(matches!(error, DurableError::Exists(_)), "{error}");
    assert!(open(&folder).unwrap().structure().holds_exactly(2));
    let missing = Folder::new("missing");
    let error = open(&missing).unwrap_err().to_string();
    assert!(error.starts_with(&missing.0.display().to_string()), "{error}");
    assert!(!Path::new(&missing.0).exists(), "opening creates nothing");
}

#[test]
fn refused_keys_are_not_logged() {
    let folder = Folder::new("refused");
    let mut tally = options().create(&folder.0, Tally::with_capacity(3)).unwrap();
    let error = tally.insert_all(0..5_u64).unwrap_err();
    assert!(matches!(error, DurableError::Insert(InsertError::Full { len: 3, .. })), "{error}");
    assert_eq!(tally.log_records(), 3, "those before it are kept");
    assert!(matches!(tally.insert(&9_u64).unwrap_err(), DurableError::Insert(_)));
    assert_eq!(tally.log_records(), 3);
    drop(tally);
    assert!(open(&folder).unwrap().structure().holds_exactly(3));
    // A log that the structure refuses is an error, not a loss.
    let small = Tally::with_capacity(2);
    ByteOptions::new().save(&small, folder.file("0.pds")).unwrap();
    let error = open(&folder).unwrap_err();
    assert!(matches!(error, DurableError::Foreign(_)), "the checkpoint is another: {error}");
}

#[test]
fn a_checkpoint_that_fails_leaves_the_old_one_in_use_if_it_can() {
    let folder = prepared("failing", 4, 3);
    let mut tally = open(&folder).unwrap();
    // A folder with the name of the next log: it cannot be created, and the old log goes on.
    fs::create_dir(folder.file("2.pdslog")).unwrap();
    let error = tally.checkpoint().unwrap_err();
    assert!(error.to_string().contains("2.pdslog"), "{error}");
    tally.insert(&7_u64).unwrap();
    fs::remove_dir(folder.file("2.pdslog")).unwrap();
    // A folder with the name of the next checkpoint: the rename fails, and it is there nevertheless.
    fs::create_dir(folder.file("2.pds")).unwrap();
    let error = tally.checkpoint().unwrap_err();
    assert!(error.to_string().contains("2.pds"), "{error}");
    assert!(matches!(tally.insert(&8_u64).unwrap_err(), DurableError::Broken(_)));
    assert!(matches!(tally.insert_all([8_u64]).unwrap_err(), DurableError::Broken(_)));
    assert!(tally.structure().holds_exactly(8), "nothing was changed");
    fs::remove_dir(folder.file("2.pds")).unwrap();
    tally.checkpoint().unwrap();
    tally.insert(&8_u64).unwrap();
    drop(tally);
    assert!(open(&folder).unwrap().structure().holds_exactly(9));
    assert_eq!(folder.names(), ["3.pds", "3.pdslog", "lock"]);
}

#[test]
fn a_long_batch_is_logged_while_its_keys_come() {
    let folder = Folder::new("batch");
    let options = options();
    let mut filter = options.create(&folder.0, BloomFilter::new(10_000, 0.01).unwrap()).unwrap();
    let log = folder.file("0.pdslog");
    let mut unlogged = 0;
    let keys = (0..10_000_u64).inspect(|key| {
        let logged = (fs::metadata(&log).unwrap().len() - HEAD as u64) / RECORD as u64;
        unlogged = unlogged.max(key - logged);
    });
    filter.insert_all(keys).unwrap();
    assert_eq!((filter.log_records(), unlogged), (10_000, 4_095));
    drop(filter);
    let filter: Durable<BloomFilter> = options.open(&folder.0).unwrap();
    assert!((0..10_000_u64).all(|key| filter.structure().contains(&key)));
}

/// The iterator and the `Hash` of keys are the caller's, and may panic.
#[test]
fn keys_of_a_batch_that_panics_are_in_memory_and_in_the_log_or_in_neither() {
    for last in [0, 100, 4_096, 5_000] {
        let folder = Folder::new("panics");
        let mut tally = options().create(&folder.0, Tally::default()).unwrap();
        let keys = (0_u64..).map(|key| if key == last { panic!("expected") } else { key });
        let batch = core::panic::AssertUnwindSafe(|| _ = tally.insert_all(keys));
        assert!(std::panic::catch_unwind(batch).is_err());
        let kept = tally.log_records();
        assert_eq!(kept, last / 4_096 * 4_096, "whole chunks");
        assert!(tally.structure().holds_exactly(kept), "{last}");
        tally.insert(&kept).unwrap();
        drop(tally);
        assert!(open(&folder).unwrap().structure().holds_exactly(kept + 1), "{last}");
    }
}

#[cfg(unix)]
#[test]
fn a_checkpoint_has_the_permissions_of_the_one_before_it() {
    use std::os::unix::fs::PermissionsExt;
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let folder = Folder::new("modes");
    let hasher = SipHashBuilder::from_key(*b"0123456789abcdef");
    let filter = BloomFilter::builder().expected_items(100).hasher(hasher).build().unwrap();
    let options = options().bytes(ByteOptions::new().with_key());
    let mut filter = options.create(&folder.0, filter).unwrap();
    assert_eq!(mode(&folder.file("0.pds")), 0o600, "the secret key is in it");
    fs::set_permissions(folder.file("0.pds"), fs::Permissions::from_mode(0o640)).unwrap();
    filter.checkpoint().unwrap();
    assert_eq!(mode(&folder.file("1.pds")), 0o640);
}

#[test]
fn a_checkpoint_is_no_longer_than_allowed() {
    let folder = prepared("long", 10, 0);
    let options = options().bytes(ByteOptions::new().max_bytes(100));
    let kind = || match options.open::<Tally>(&folder.0).unwrap_err() {
        DurableError::File(error) => match error.error {
            ReadError::Decode(error) => error.kind(),
            other => panic!("{other}"),
        },
        other => panic!("{other}"),
    };
    assert_eq!(kind(), DecodeErrorKind::Limit);
    // Longer than the memory, and almost empty on the disk.
    let file = fs::File::options().write(true).open(folder.file("1.pds")).unwrap();
    file.set_len(1 << 42).unwrap();
    assert_eq!(kind(), DecodeErrorKind::Trailing);
}

#[test]
fn every_policy_of_syncing_keeps_what_was_inserted() {
    let every = |records| SyncPolicy::Every(NonZeroU64::new(records).unwrap());
    for policy in [SyncPolicy::EveryRecord, every(1), every(3), SyncPolicy::ByCaller] {
        let folder = Folder::new("policy");
        let options = DurableOptions::new().sync(policy);
        let mut tally = options.create(&folder.0, Tally::default()).unwrap();
        (0..7_u64).for_each(|key| _ = tally.insert(&key).unwrap());
        tally.sync().unwrap();
        tally.insert_all(7..20_u64).unwrap();
        drop(tally);
        assert!(open(&folder).unwrap().structure().holds_exactly(20), "{policy:?}");
    }
}

#[test]
fn a_secret_key_is_where_the_caller_puts_it() {
    let hasher = SipHashBuilder::from_key(*b"0123456789abcdef");
    let filter = || BloomFilter::builder().expected_items(100).hasher(hasher).build().unwrap();
    let folder = Folder::new("secret");
    let bytes = ByteOptions::new().without_key();
    let mut seen = options().bytes(bytes).create(&folder.0, filter()).unwrap();
    seen.insert("a").unwrap();
    drop(seen);
    let open = |bytes| options().bytes(bytes).open::<BloomFilter<SipHashBuilder>>(&folder.0);
    let error = options().bytes(bytes).open::<BloomFilter<SipHashBuilder>>(&folder.0).unwrap_err();
    assert!(error.to_string().contains("the secret key of the hasher is not stored"), "{error}");
    let seen = open(bytes.hasher(hasher)).unwrap();
    assert!(seen.structure().contains("a"));
    for name in ["0.pds", "0.pdslog"] {
        let file = fs::read(folder.file(name)).unwrap();
        assert!(!file.windows(16).any(|window| window == b"0123456789abcdef"));
    }
}

/// A folder of this version, as it is on the disk.
#[test]
fn the_format_is_that_of_the_golden_files() {
    let folder = Folder::new("golden");
    let mut filter = options().create(&folder.0, bodies::checkpoint()).unwrap();
    filter.insert_all(0..bodies::RECORDS as u64).unwrap();
    drop(filter);
    for (name, golden) in [("0.pds", bodies::CHECKPOINT), ("0.pdslog", bodies::LOG)] {
        assert_eq!(fs::read(folder.file(name)).unwrap(), golden, "{name}");
    }
}

#[test]
fn forged_logs_are_refused_or_give_the_right_records() {
    inputs(1, 120).for_each(|input| bodies::mutate(&input));
    inputs(2, 60).for_each(|input| bodies::decode(&[&bodies::LOG[..HEAD], &input].concat()));
}

#[test]
fn histories_of_a_folder_keep_what_was_acknowledged() {
    inputs(3, 12).for_each(|input| bodies::ops(&input));
}
