//! Count-min sketches with a fault.

use super::Run;
use super::frequency::{Counts, SIMULATED, STREAM_COST, Simulated, measure};
use super::sabotage::Fault;
use super::schedule::{Job, Progress};
use pds::cms::{RowHash, Update};
use pds::{DefaultHashBuilder, KeyHasher};

/// Streams of a case: as many as show the faults, whatever the effort.
const STREAMS: u64 = 12;

/// Plain sketches of some shapes, with this fault.
pub(crate) fn jobs(fault: Fault, run: &Run) -> Vec<Job<'_>> {
    let seed = run.seed;
    plans()
        .step_by(run.effort.choose([6, 3, 1]))
        .map(|plan| Job {
            cost: STREAMS * STREAM_COST,
            run: Box::new(move |progress: &Progress| {
                let build = |stream| Faulty::new(plan, Some(fault), seed ^ stream);
                measure(plan, "random order", STREAMS, seed, build, progress)
            }),
        })
        .collect()
}

fn plans() -> impl Iterator<Item = &'static Simulated> {
    SIMULATED.iter().filter(|plan| plan.update == Update::Plain)
}

/// A count-min sketch written anew, with a fault.
#[derive(Debug)]
struct Faulty {
    rows: Vec<Vec<u64>>,
    fault: Option<Fault>,
    hasher: DefaultHashBuilder,
}

impl Faulty {
    fn new(plan: &Simulated, fault: Option<Fault>, seed: u64) -> Self {
        let width = usize::try_from(plan.params.0).expect("a row in memory");
        let hasher = DefaultHashBuilder::with_seed(seed);
        Self { rows: vec![vec![0; width]; plan.params.1 as usize], fault, hasher }
    }

    fn columns(&self, key: u64) -> Vec<usize> {
        let width = self.rows[0].len();
        let mut hash = RowHash::new(self.hasher.hash_key(&key));
        let column = |_| usize::try_from(hash.next_column(width as u64)).expect("below the width");
        let mut columns: Vec<_> = (0..self.rows.len()).map(column).collect();
        match self.fault {
            Some(Fault::RowTwice) => columns[1] = columns[0],
            Some(Fault::SharedHash) => columns[1] = (columns[0] + 1) % width,
            _ => {}
        }
        columns
    }
}

impl Counts for Faulty {
    fn insert(&mut self, key: u64) {
        let limit = if self.fault == Some(Fault::WrappingCounter) { 1 << 16 } else { u64::MAX };
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
    use super::super::frequency::{BELOW_TRUTH, MEAN_ERROR, TAIL_ERROR};
    use super::super::judge::{Check, FALSE_ALARM, Verdict, judge};
    use super::*;

    fn broken(fault: Option<Fault>) -> Vec<Check> {
        let plan = plans().find(|plan| plan.params == (1_024, 3)).expect("a row of the table");
        let build = |stream| Faulty::new(plan, fault, stream);
        let rows = measure(plan, "", STREAMS, 5, build, &Progress::new(1));
        let rows = judge(rows, FALSE_ALARM / 3_000.0);
        rows.iter().filter(|row| row.verdict == Verdict::Broken).map(|row| row.check).collect()
    }

    #[test]
    fn faults_are_found_and_none_where_there_is_none() {
        assert_eq!(broken(None), []);
        assert_eq!(broken(Some(Fault::RowTwice)), [MEAN_ERROR, TAIL_ERROR]);
        assert_eq!(broken(Some(Fault::SharedHash)), [MEAN_ERROR, TAIL_ERROR]);
        assert!(broken(Some(Fault::WrappingCounter)).contains(&BELOW_TRUTH));
    }
}
