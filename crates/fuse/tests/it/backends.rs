//! Every backend of this processor, compared bit for bit.
//!
//! `RUSTFLAGS='--cfg pds_backend="avx2"' cargo test -p fuse --test it backends` restricts the build to one backend.
//! The vectors of `AArch64` run where they are not at hand, too: `cargo test --target aarch64-unknown-linux-gnu -p fuse --lib
//! --test it backends` with a cross linker, and qemu as the runner.
#![cfg(feature = "std")]

use fuse::{RibbonFilter, RibbonFilterView, backends};
use pds_testkit::keys;

#[test]
fn the_portable_backend_is_always_there() {
    let confined = cfg!(any(pds_backend = "avx2", pds_backend = "avx512"));
    assert!(confined || backends().any(|name| name == "portable"));
    assert!(RibbonFilter::new([1], 0.1).unwrap().with_backend("none").is_none());
}

#[test]
fn all_backends_agree() {
    for keys in [0, 1, 63, 64, 65, 130, 1_000, 2_049, 30_000, 300_000] {
        for columns in [0.5, 1.0, 3.25, 7.0, 8.0, 8.01, 9.0, 16.0, 17.5, 32.0] {
            let mut hashes = keys::random(keys as u64);
            let set: Vec<u64> = hashes.by_ref().take(keys).collect();
            let asked: Vec<u64> =
                set.iter().copied().take(4_000).chain(hashes.take(4_000)).collect();
            let filter = RibbonFilter::builder().columns(columns).build_hashes(set).unwrap();
            let bytes = filter.to_bytes();
            let portable = filter.clone().with_backend("portable");
            let expected: Option<Vec<bool>> = portable
                .map(|filter| asked.iter().map(|&hash| filter.contains_hash(hash)).collect());
            for name in backends() {
                let filter = filter.clone().with_backend(name).unwrap();
                let view = RibbonFilterView::open(&bytes).unwrap().with_backend(name).unwrap();
                let mut answers = vec![false; asked.len()];
                filter.contains_hash_batch(&asked, &mut answers);
                assert!(expected.as_ref().is_none_or(|expected| *expected == answers), "{name}");
                for (&hash, &answer) in asked.iter().zip(&answers) {
                    let all = [filter.contains_hash(hash), view.contains_hash(hash)];
                    assert_eq!(all, [answer; 2], "{name}, {keys} keys, {columns} columns");
                }
                assert!(answers.iter().take(keys.min(4_000)).all(|&answer| answer));
            }
        }
    }
}
