//! Times contenders in turn, so that whatever slows the machine slows all of them.

use core::hint::black_box;
use core::time::Duration;
use std::time::Instant;

use crate::keys::Keys;

/// Keys of one sample, the same for all contenders.
#[derive(Debug)]
pub struct Block {
    /// The keys.
    pub keys: Vec<u64>,
    /// Whether they are the first of their stream: a filter that takes the stream in is to be empty.
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

/// Something that is timed.
pub trait Contender {
    /// Makes ready for a block, untimed.
    fn prepare(&mut self, _block: &Block) {}

    /// Does the work for each key. Returns a sum that depends on every answer.
    fn run(&mut self, keys: &[u64]) -> u64;
}

/// How much is measured.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Rounds; in each, every contender runs once.
    pub rounds: usize,
    /// Keys of a block.
    pub block: usize,
}

/// Runs all contenders in each round on the same keys, in alternating order.
///
/// Returns the nanoseconds a key that each of them took, by round. One round before the first is not
/// counted: it brings the arrays into the state in which the others find them.
pub fn contest<const N: usize>(
    effort: Effort,
    mut keys: Keys,
    contenders: [&mut dyn Contender; N],
) -> [Vec<f64>; N] {
    let mut block = Block::new(effort.block);
    let mut times = [const { Vec::new() }; N];
    for round in 0..=effort.rounds {
        block.fill(&mut keys);
        for turn in 0..N {
            let index = if round % 2 == 0 { turn } else { N - 1 - turn };
            let time = time(contenders[index], &block);
            if round > 0 {
                times[index].push(time.as_secs_f64() * 1e9 / effort.block as f64);
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

    struct Logger<'a>(char, &'a RefCell<String>);

    impl Contender for Logger<'_> {
        fn run(&mut self, keys: &[u64]) -> u64 {
            self.1.borrow_mut().push(self.0);
            keys[0]
        }
    }

    #[test]
    fn the_order_alternates_and_the_first_round_does_not_count() {
        let log = RefCell::new(String::new());
        let (mut a, mut b) = (Logger('a', &log), Logger('b', &log));
        let effort = Effort { rounds: 3, block: 8 };
        let times = contest(effort, Keys::absent(), [&mut a, &mut b]);
        assert_eq!(log.into_inner(), "abbaabba");
        assert_eq!(times.map(|times| times.len()), [3, 3]);
    }
}
