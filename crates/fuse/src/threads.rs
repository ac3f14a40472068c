//! Independent jobs, on one thread or on all.

use alloc::vec::Vec;

/// Runs `run` for each job. Returns the results in the order of the jobs.
///
/// # Errors
/// An error of a job. Others may not have run then.
#[cfg_attr(not(feature = "parallel"), expect(unused_variables, reason = "there is one thread"))]
pub(crate) fn map<T: Send, R: Send, E: Send>(
    parallel: bool,
    jobs: Vec<T>,
    run: impl Fn(T) -> Result<R, E> + Sync,
) -> Result<Vec<R>, E> {
    #[cfg(feature = "parallel")]
    if parallel {
        use rayon::iter::{IntoParallelIterator, ParallelIterator};

        return jobs.into_par_iter().map(&run).collect();
    }
    jobs.into_iter().map(run).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_the_order_of_the_jobs() {
        for parallel in [false, true] {
            for len in [0, 1, 2, 1_000] {
                let doubled = map(parallel, (0..len).collect(), |job: u32| Ok::<_, ()>(2 * job));
                assert_eq!(doubled, Ok((0..len).map(|job| 2 * job).collect()));
            }
            let result =
                map(
                    parallel,
                    (0..100).collect(),
                    |job: u32| {
                        if job == 70 { Err(job) } else { Ok(()) }
                    },
                );
            assert_eq!(result, Err(70));
        }
    }
}
