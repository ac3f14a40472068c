//! Faults of count-min sketches.

use super::{
    BELOW_TRUTH, Counts, MEAN_ERROR, SIMULATED, STREAM_COST, Simulated, TAIL_ERROR, measure,
};
use crate::validate::prelude::*;
use pds::cms::Update;
use pds::cms::internal::RowHash;
use pds::hash::{DefaultHashBuilder, KeyHasher};

pub(super) const FAULTS: [Fault; 3] = [
    fault(
        "row-twice",
        "the second row has the columns of the first",
        &[MEAN_ERROR, TAIL_ERROR],
        |run| jobs(Wrong::RowTwice, run),
    ),
    fault(
        "shared-hash",
        "the second row shares the hash of the first: its column is the next one",
        &[MEAN_ERROR, TAIL_ERROR],
        |run| jobs(Wrong::SharedHash, run),
    ),
    fault("wrapping-counter", "counters of 16 bits wrap", &[BELOW_TRUTH], |run| {
        jobs(Wrong::WrappingCounter, run)
    }),
];

/// The fault of the sketch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wrong {
    RowTwice,
    SharedHash,
    WrappingCounter,
}

/// Streams of a case: as many as show the faults, whatever the effort.
const STREAMS: u64 = 12;

/// Plain sketches of some shapes, with this fault.
fn jobs(fault: Wrong, run: &Run) -> Vec<Job<'_>> {
    let seed = run.seed;
    let job = |plan: &'static Simulated| {
        let build = move |stream| Faulty::new(plan, Some(fault), seed ^ stream);
        Job::new(STREAMS * STREAM_COST, move || measure(plan, STREAMS, seed, build))
    };
    plans().step_by(run.effort.choose([6, 3, 1])).map(job).collect()
}

fn plans() -> impl Iterator<Item = &'static Simulated> {
    SIMULATED.iter().filter(|plan| plan.update == Update::Plain)
}

/// A count-min sketch written anew, with a fault.
#[derive(Debug)]
struct Faulty {
    rows: Vec<Vec<u64>>,
    fault: Option<Wrong>,
    hasher: DefaultHashBuilder,
}

impl Faulty {
    fn new(plan: &Simulated, fault: Option<Wrong>, seed: u64) -> Self {
        let width = index(plan.params.0);
        let hasher = DefaultHashBuilder::with_seed(seed);
        Self { rows: vec![vec![0; width]; plan.params.1 as usize], fault, hasher }
    }

    fn columns(&self, key: u64) -> Vec<usize> {
        let width = self.rows[0].len();
        let mut hash = RowHash::new(self.hasher.hash_key(&key));
        let column = |_| index(hash.next_column(width as u64));
        let mut columns: Vec<_> = (0..self.rows.len()).map(column).collect();
        match self.fault {
            Some(Wrong::RowTwice) => columns[1] = columns[0],
            Some(Wrong::SharedHash) => columns[1] = (columns[0] + 1) % width,
            _ => {}
        }
        columns
    }
}

impl Counts for Faulty {
    fn insert(&mut self, key: u64) {
        let limit = if self.fault == Some(Wrong::WrappingCounter) { 1 << 16 } else { u64::MAX };
        for (row, column) in self.columns(key).into_iter().enumerate() {
            let counter = &mut self.rows[row][column];
            *counter = (*counter + 1) % limit;
        }
    }

    fn estimate(&self, key: u64) -> (u64, bool) {
        let columns = self.columns(key).into_iter().enumerate();
        let least = columns.map(|(row, column)| self.rows[row][column]).min();
        (least.expect("a row"), false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::validate::tests::broken;

    #[test]
    fn the_stand_in_without_a_fault_breaks_nothing() {
        let plan = plans().find(|plan| plan.params == (1_024, 3)).expect("a row of the table");
        let build = |stream| Faulty::new(plan, None, stream);
        assert_eq!(broken(vec![Job::new(1, move || measure(plan, STREAMS, 5, build))]), []);
    }
}
