//! Timing of contenders in turn, so that a disturbance of the machine affects all of them.

use core::hint::black_box;
use core::time::Duration;
use std::time::Instant;

use crate::keys::Keys;

/// The keys of one sample, the same for all contenders.
#[derive(Debug)]
pub struct Block {
    /// The keys.
    pub keys: Vec<u64>,
    /// Whether they are the first that are stored. A filter that inserts the stored keys must then be empty.
    pub starts: bool,
}

impl Block {
    /// Creates a block for `len` keys.
    #[must_use]
    pub fn new(len: usize) -> Self {
        Self { keys: vec![0; len], starts: false }
    }

    /// Takes the next keys of a stream.
    pub fn fill(&mut self, keys: &mut Keys) {
        self.starts = keys.fill(&mut self.keys);
    }
}

/// A timed operation: a function of the keys of a block.
pub trait Contender {
    /// Prepares for a block, untimed.
    fn prepare(&mut self, _block: &Block) {}

    /// Does the work for each key. Returns a sum that depends on every answer.
    fn run(&mut self, keys: &[u64]) -> u64;
}

impl<F: FnMut(&[u64]) -> u64> Contender for F {
    fn run(&mut self, keys: &[u64]) -> u64 {
        self(keys)
    }
}

/// A function of each key of a block.
#[derive(Debug)]
pub struct Each<F>(F);

impl<F: FnMut(u64) -> u64> Contender for Each<F> {
    fn run(&mut self, keys: &[u64]) -> u64 {
        keys.iter().fold(0, |sum, &key| sum.wrapping_add((self.0)(key)))
    }
}

/// Returns the contender that does some work for each key of a block.
pub const fn each<F: FnMut(u64) -> u64>(work: F) -> Each<F> {
    Each(work)
}

/// Runs all contenders `rounds` times on the same blocks of `len` keys, always in one order.
///
/// Returns the nanoseconds per key of each contender, by round. An additional first round is not counted. It brings the
/// arrays into the state in which the other rounds find them.
// An alternating order would be unfair. The contender at the end of a round would begin the next one with its own lines
// and pages still in the caches. It would have two states, up to a factor of two apart at 8 MiB. In a cycle, all others
// run between two turns of each contender.
pub fn contest<const N: usize>(
    rounds: usize,
    (len, mut keys): (usize, Keys),
    mut contenders: [&mut dyn Contender; N],
) -> [Vec<f64>; N] {
    let mut block = Block::new(len);
    let mut times = [const { Vec::new() }; N];
    for round in 0..=rounds {
        block.fill(&mut keys);
        for (contender, times) in contenders.iter_mut().zip(&mut times) {
            let time = time(*contender, &block);
            if round > 0 {
                times.push(time.as_secs_f64() * 1e9 / len as f64);
            }
        }
    }
    times
}

/// Times one contender for one block.
pub fn time(contender: &mut dyn Contender, block: &Block) -> Duration {
    contender.prepare(block);
    let start = Instant::now();
    black_box(contender.run(black_box(&block.keys)));
    start.elapsed()
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::cell::RefCell;

    #[test]
    fn the_order_is_a_cycle_and_the_first_round_does_not_count() {
        let log = RefCell::new(String::new());
        let [mut a, mut b] = ['a', 'b'].map(|name| {
            let log = &log;
            move |keys: &[u64]| {
                log.borrow_mut().push(name);
                keys[0]
            }
        });
        let times = contest(3, (8, Keys::absent()), [&mut a, &mut b]);
        assert_eq!(times.map(|times| times.len()), [3, 3]);
        assert_eq!(log.into_inner(), "abababab");
    }
}
