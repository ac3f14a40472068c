//! Records the compiler and its target, because measured times depend on them.

use std::env;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-env=BENCH_COMPILER={}", compiler().unwrap_or("unknown".into()));
    println!("cargo::rustc-env=BENCH_TARGET={}", env::var("TARGET").unwrap_or_default());
}

fn compiler() -> Option<String> {
    let output = Command::new(env::var_os("RUSTC")?).arg("--version").output().ok()?;
    Some(String::from_utf8(output.stdout).ok()?.trim().to_owned())
}
