//! The machine and the build of a measurement.

use alloc::collections::BTreeSet;
use core::fmt;
use std::{fs, thread};

use serde::{Deserialize, Serialize};

/// The lock file, with the versions of the linked crates.
const LOCK_FILE: &str = include_str!("../../Cargo.lock");

/// The facts that a reader needs to compare figures with others.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Machine {
    /// The processor's name, as reported by the system.
    pub processor: String,
    /// The number of processors that this process may use.
    pub processors: usize,
    /// The sizes of the first processor's caches, innermost first.
    pub caches: Vec<String>,
    /// The system's policy for transparent huge pages.
    pub huge_pages: String,
    /// The system's load of the last minute. Above 1, other processes were running.
    pub load: String,
    /// The compiler's version.
    pub compiler: &'static str,
    /// The target, with the vector extensions that the build uses without run-time detection.
    pub target: String,
    /// The peers, with their versions.
    pub peers: Vec<String>,
    /// The date, in UTC.
    pub date: String,
}

impl Machine {
    /// Queries the system. Unknown facts are "unknown". Peers that are no package have no version.
    #[must_use]
    pub fn inspect<'a>(peers: impl Iterator<Item = &'a str>) -> Self {
        let peers: BTreeSet<&str> = peers.collect();
        let unknown = || "unknown".to_owned();
        Self {
            processor: processor().unwrap_or_else(unknown),
            processors: thread::available_parallelism().map_or(1, usize::from),
            caches: caches(),
            huge_pages: huge_pages().unwrap_or_else(unknown),
            load: first_word("/proc/loadavg").unwrap_or_else(unknown),
            compiler: env!("BENCH_COMPILER"),
            target: env!("BENCH_TARGET").to_owned() + &vectors(),
            peers: peers
                .into_iter()
                .filter_map(|peer| Some(format!("{peer} {}", version(peer)?)))
                .collect(),
            date: jiff::Timestamp::now().strftime("%F").to_string(),
        }
    }
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { processor, processors, compiler, target, date, load, huge_pages, .. } = self;
        let [caches, peers] = [self.caches.join(" "), self.peers.join(", ")];
        writeln!(f, "{processor}, {processors} usable, caches {caches}")?;
        write!(f, "{compiler}, {target}\n{peers}\n{date}, load {load}, huge pages: {huge_pages}")
    }
}

fn first_word(path: &str) -> Option<String> {
    Some(fs::read_to_string(path).ok()?.split_whitespace().next()?.to_owned())
}

fn processor() -> Option<String> {
    let info = fs::read_to_string("/proc/cpuinfo").ok()?;
    let field = |name| {
        let line = info.lines().find(|line| line.split(':').next().map(str::trim) == Some(name))?;
        Some(line.split_once(':')?.1.trim())
    };
    // A virtual machine may hide the name, but not the model.
    let [name, family, model] = ["model name", "cpu family", "model"].map(field);
    Some(format!("{} (family {}, model {})", name?, family?, model?))
}

fn caches() -> Vec<String> {
    let cache = |index| {
        let folder = format!("/sys/devices/system/cpu/cpu0/cache/index{index}");
        let read = |name| first_word(&format!("{folder}/{name}"));
        Some((read("type")?, format!("L{} {}", read("level")?, read("size")?)))
    };
    let all = (0..).map_while(cache).filter(|(kind, _)| kind != "Instruction");
    all.map(|(_, cache)| cache).collect()
}

/// Returns the chosen policy, which is in brackets among all policies.
fn huge_pages() -> Option<String> {
    let policies = fs::read_to_string("/sys/kernel/mm/transparent_hugepage/enabled").ok()?;
    let (_, chosen) = policies.split_once('[')?;
    Some(chosen.split_once(']')?.0.to_owned())
}

fn vectors() -> String {
    let known = [
        (cfg!(target_feature = "avx2"), "+avx2"),
        (cfg!(target_feature = "avx512f"), "+avx512f"),
        (cfg!(target_feature = "neon"), "+neon"),
    ];
    known.into_iter().filter(|(enabled, _)| *enabled).map(|(_, name)| format!(" {name}")).collect()
}

fn version(package: &str) -> Option<&'static str> {
    let (_, entry) = LOCK_FILE.split_once(&format!("name = \"{package}\"\nversion = \""))?;
    Some(entry.split_once('"')?.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lock_file_names_the_peers() {
        assert!(version("fastbloom").is_some_and(|version| version.starts_with("0.17.")));
        assert!(version("no-such-package").is_none());
    }
}
