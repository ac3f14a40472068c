//! The machine and the build of a measurement.

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
    /// Queries the system. Unknown facts are "unknown".
    #[must_use]
    pub fn inspect<'a>(peers: impl Iterator<Item = &'a str>) -> Self {
        Self {
            processor: processor().unwrap_or_else(unknown),
            processors: thread::available_parallelism().map_or(1, usize::from),
            caches: caches(),
            huge_pages: huge_pages().unwrap_or_else(unknown),
            load: first_word("/proc/loadavg").unwrap_or_else(unknown),
            compiler: env!("BENCH_COMPILER"),
            target: format!("{} {}", env!("BENCH_TARGET"), vectors()).trim_end().to_owned(),
            peers: peers.map(with_version).collect(),
            date: jiff::Timestamp::now().strftime("%F").to_string(),
        }
    }
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{}, {} usable, caches {}",
            self.processor,
            self.processors,
            self.caches.join(" ")
        )?;
        writeln!(f, "{}, {}", self.compiler, self.target)?;
        writeln!(f, "{}", self.peers.join(", "))?;
        write!(f, "{}, load {}, huge pages: {}", self.date, self.load, self.huge_pages)
    }
}

fn unknown() -> String {
    "unknown".to_owned()
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
    Some(format!(
        "{} (family {}, model {})",
        field("model name")?,
        field("cpu family")?,
        field("model")?
    ))
}

fn caches() -> Vec<String> {
    let folder = |index| format!("/sys/devices/system/cpu/cpu0/cache/index{index}");
    (0..)
        .map_while(|index| {
            let read = |name| first_word(&format!("{}/{name}", folder(index)));
            Some((read("type")?, format!("L{} {}", read("level")?, read("size")?)))
        })
        .filter_map(|(kind, cache)| (kind != "Instruction").then_some(cache))
        .collect()
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
    known.map(|(enabled, name)| if enabled { name } else { "" }).join(" ").trim().to_owned()
}

fn with_version(package: &str) -> String {
    format!("{package} {}", version(package).unwrap_or("unknown"))
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
