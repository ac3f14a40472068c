//! Every filter and its peers under criterion, one at a time. For ratios, use `cargo run`.

use core::time::Duration;

use criterion::{Bencher, Criterion, Throughput, criterion_group, criterion_main};
use pds_benches::arena::{Arena, Lineup};
use pds_benches::contest::{Block, time};
use pds_benches::filter::Task;
use pds_benches::keys::Keys;
use pds_benches::{blocked, bloom};

/// Sizes of filters, in bytes: within the innermost caches, and within the outer ones.
const SIZES: [u64; 2] = [64 << 10, 8 << 20];

fn filters(criterion: &mut Criterion) {
    let lineups =
        [("bloom", bloom::LINEUP), ("blocked", blocked::HASHED), ("blocked", blocked::HASH_IN)];
    for (name, lineup) in &lineups {
        for bytes in SIZES {
            compare(criterion, name, lineup, bytes);
        }
    }
}

fn compare(criterion: &mut Criterion, name: &str, lineup: &Lineup, bytes: u64) {
    let mut arena = Arena::build(lineup, bytes).expect("contenders of some megabytes");
    let design = *arena.design();
    for &operation in lineup.operations {
        let group = format!("{name} {} {}", lineup.case(bytes), operation.name());
        let mut group = criterion.benchmark_group(group);
        let block = design.block(operation);
        group.throughput(Throughput::Elements(block.0 as u64));
        for (name, filter) in arena.filters_mut() {
            let mut task = Task::new(filter, operation);
            group.bench_function(name, |bencher| run(bencher, &mut task, block.clone()));
        }
        group.finish();
    }
}

/// Times the work on blocks of fresh keys. Each iteration is one block.
fn run(bencher: &mut Bencher<'_>, task: &mut Task<'_>, (len, mut keys): (usize, Keys)) {
    let mut block = Block::new(len);
    bencher.iter_custom(|blocks| {
        let next = |_| {
            block.fill(&mut keys);
            time(task, &block)
        };
        (0..blocks).map(next).sum::<Duration>()
    });
}

/// Returns a configuration that takes some minutes for all benchmarks.
fn brief() -> Criterion {
    let criterion = Criterion::default().sample_size(20);
    criterion.warm_up_time(Duration::from_secs(1)).measurement_time(Duration::from_secs(2))
}

criterion_group! {
    name = benches;
    config = brief();
    targets = filters
}
criterion_main!(benches);
