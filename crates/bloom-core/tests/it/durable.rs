//! Saving: whatever happens meanwhile, a file holds the whole old filter or the whole new one.
//!
//! `pds-core` tests the order of the calls, beside their code. Here a process is really killed.
#![cfg(all(unix, feature = "std"))]

use core::time::Duration;
use std::io::{self, ErrorKind};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Instant;
use std::{env, fs};

use bloom_core::BloomFilter;
use bloom_core::bytes::ByteOptions;
use bloom_core::hash::SipHashBuilder;
use pds_testkit::keys;

/// Names the folder in which a child process saves.
const FOLDER: &str = "PDS_SAVE_FOLDER";
const KILLS: usize = 40;

/// A folder for one test, removed with it.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = env::temp_dir().join(format!("pds-{name}-{}", std::process::id()));
        fs::create_dir(&path).unwrap();
        Self(path)
    }

    fn file(&self) -> PathBuf {
        self.0.join("filter.pds")
    }

    /// Returns the names of all other files.
    fn others(&self) -> Vec<String> {
        let names = fs::read_dir(&self.0).unwrap().map(|entry| entry.unwrap().file_name());
        names.map(|name| name.into_string().unwrap()).filter(|name| name != "filter.pds").collect()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Returns one of two filters of 4 MiB that have no part in common.
fn filter(seed: u64) -> BloomFilter {
    let mut filter = BloomFilter::builder().bits(1 << 25).hashes(1).seed(seed).build().unwrap();
    filter.insert_hash_batch(&keys::random(seed).take(1 << 20).collect::<Vec<_>>());
    filter
}

fn child(test: &str, folder: &Path) -> Command {
    let mut command = Command::new(env::current_exe().unwrap());
    let test = format!("durable::{test}");
    command.args(["--exact", &test, "--ignored"]).env(FOLDER, folder);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command
}

#[test]
fn a_killed_process_leaves_the_old_filter_or_the_new_one() {
    let folder = Folder::new("killed");
    let filters = [filter(0), filter(1)];
    ByteOptions::new().save(&filters[0], folder.file()).unwrap();
    let mut found = [0; 2];
    let mut interrupted = 0;
    for (kill, key) in keys::random(1).take(KILLS).enumerate() {
        // However slow the machine is, each of both filters is the last one that was saved.
        kill_while_it_saves(&folder, kill % 3, Duration::from_micros(key % 50_000));
        let loaded =
            ByteOptions::new().load::<BloomFilter>(folder.file()).expect("the file is whole");
        let which = filters.iter().position(|filter| *filter == loaded);
        found[which.expect("it is one of the two")] += 1;
        for left in folder.others() {
            interrupted += 1;
            fs::remove_file(folder.0.join(left)).unwrap();
        }
    }
    assert!(interrupted >= KILLS / 4, "too few of the kills came while a file was written");
    assert!(found.iter().all(|&times| times > 0), "{found:?}: one filter was never found");
}

/// Starts a process that saves again and again, and kills it this long after it has saved so often and its next save began.
fn kill_while_it_saves(folder: &Folder, saves: usize, delay: Duration) {
    let mut process = child("saving_without_end", &folder.0).spawn().unwrap();
    let (start, mut seen) = (Instant::now(), 0);
    // A new file takes the name of the old one.
    let number = || fs::metadata(folder.file()).unwrap().ino();
    let mut last = number();
    while seen < saves || folder.others().is_empty() {
        let now = number();
        seen += usize::from(now != last);
        last = now;
        assert!(process.try_wait().unwrap().is_none(), "it ended by itself");
        if start.elapsed() > Duration::from_secs(60) {
            kill(&mut process);
            panic!("{seen} of {saves} saves were seen, and no temporary file after them");
        }
        sleep(Duration::from_micros(100));
    }
    sleep(delay);
    kill(&mut process);
}

/// `Child::kill` sends `SIGKILL`: nothing of the process runs afterwards.
fn kill(process: &mut Child) {
    process.kill().unwrap();
    assert!(!process.wait().unwrap().success());
}

#[test]
#[ignore = "runs in a process of its own, which is killed"]
fn saving_without_end() {
    let file = PathBuf::from(env::var_os(FOLDER).expect("set by the test that starts this"))
        .join("filter.pds");
    let filters = [filter(0), filter(1)];
    for i in 0.. {
        ByteOptions::new().save(&filters[(i + 1) % 2], &file).unwrap();
    }
}

/// A limit on the size of files replaces a full disk, which needs special rights.
#[test]
fn a_full_disk_leaves_the_old_filter_and_no_other_file() {
    let folder = Folder::new("full");
    let old = BloomFilter::new(1_000, 0.01).unwrap();
    ByteOptions::new().save(&old, folder.file()).unwrap();
    let test = child("saving_where_there_is_no_room", &folder.0);
    let status = Command::new("sh")
        .args(["-c", "trap '' XFSZ; ulimit -f 1000; exec \"$0\" \"$@\""])
        .arg(test.get_program())
        .args(test.get_args())
        .env(FOLDER, &folder.0)
        .stdout(Stdio::null())
        .status()
        .unwrap();
    assert!(status.success(), "the child saw something else than an error");
    assert_eq!(folder.others(), [""; 0], "a temporary file was left behind");
    assert!(ByteOptions::new().load::<BloomFilter>(folder.file()).unwrap() == old);
}

/// Also for a real full disk: `PDS_SAVE_FOLDER=SMALL_MOUNT cargo test -p bloom-core --test it durable no_room -- --ignored`.
#[test]
#[ignore = "runs in a process of its own, where files are limited to less than a filter"]
fn saving_where_there_is_no_room() {
    let folder = PathBuf::from(env::var_os(FOLDER).expect("set by the test that starts this"));
    let before = fs::read_dir(&folder).unwrap().count();
    let error = saving(&filter(0), &folder.join("filter.pds"));
    assert!(matches!(error.kind(), ErrorKind::FileTooLarge | ErrorKind::StorageFull), "{error}");
    assert_eq!(fs::read_dir(&folder).unwrap().count(), before);
}

/// Saves where it must fail.
fn saving(filter: &BloomFilter, path: &Path) -> io::Error {
    ByteOptions::new().save(filter, path).unwrap_err().into()
}

#[test]
fn a_folder_that_is_not_there_is_an_error() {
    let folder = Folder::new("missing");
    let filter = BloomFilter::new(10, 0.01).unwrap();
    let path = folder.0.join("no/filter.pds");
    let error = saving(&filter, &path);
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert!(error.to_string().starts_with(&format!("{}: ", path.display())), "{error}");
    assert_eq!(saving(&filter, &folder.0.join("..")).kind(), ErrorKind::InvalidInput);
    // A folder cannot be replaced by a file: the rename fails, and the temporary file is removed.
    fs::create_dir(folder.file()).unwrap();
    assert!(ByteOptions::new().save(&filter, folder.file()).is_err());
    assert_eq!(folder.others(), [""; 0]);
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn a_file_keeps_the_permissions_of_the_one_that_it_replaces() {
    let folder = Folder::new("modes");
    let filter = BloomFilter::new(10, 0.01).unwrap();
    fs::write(folder.0.join("usual"), "").unwrap();
    ByteOptions::new().save(&filter, folder.file()).unwrap();
    assert_eq!(mode(&folder.file()), mode(&folder.0.join("usual")), "a new one has the usual ones");
    for chosen in [0o600, 0o640, 0o666, 0o400] {
        fs::set_permissions(folder.file(), fs::Permissions::from_mode(chosen)).unwrap();
        ByteOptions::new().save(&filter, folder.file()).unwrap();
        assert_eq!(mode(&folder.file()), chosen, "{chosen:o}");
        let read: BloomFilter = ByteOptions::new().load(folder.file()).unwrap();
        assert!(read == filter);
    }
}

#[test]
fn a_new_file_with_a_secret_key_is_for_its_owner_alone() {
    let folder = Folder::new("secrets");
    let hasher = SipHashBuilder::from_key(*b"0123456789abcdef");
    let filter = BloomFilter::builder().expected_items(100).hasher(hasher).build().unwrap();
    fs::write(folder.0.join("usual"), "").unwrap();
    ByteOptions::new().without_key().save(&filter, folder.file()).unwrap();
    assert_eq!(mode(&folder.file()), mode(&folder.0.join("usual")), "without the key");
    fs::remove_file(folder.file()).unwrap();
    ByteOptions::new().with_key().save(&filter, folder.file()).unwrap();
    assert_eq!(mode(&folder.file()), 0o600);
    // Whoever chose others has them.
    fs::set_permissions(folder.file(), fs::Permissions::from_mode(0o644)).unwrap();
    ByteOptions::new().with_key().save(&filter, folder.file()).unwrap();
    assert_eq!(mode(&folder.file()), 0o644);
}
