//! Independent jobs, on one thread or on all.

use alloc::vec::Vec;

/// Runs `run` for each job. Returns the results in the order of the jobs.
///
/// # Errors
/// The first error of a job, in the order of the threads.
#[cfg(feature = "std")]
pub(crate) fn map<T: Send, R: Send, E: Send>(
    parallel: bool,
    jobs: Vec<T>,
    run: impl Fn(T) -> Result<R, E> + Sync,
) -> Result<Vec<R>, E> {
    use std::{panic, sync, thread};

    let threads = thread::available_parallelism().map_or(1, usize::from).min(jobs.len());
    if !parallel || threads < 2 {
        return jobs.into_iter().map(run).collect();
    }
    let queue = sync::Mutex::new(jobs.into_iter().enumerate());
    // No thread panics while it has the lock.
    let next = || queue.lock().unwrap_or_else(sync::PoisonError::into_inner).next();
    let work = || {
        let mut results = Vec::new();
        while let Some((index, job)) = next() {
            results.push((index, run(job)?));
        }
        Ok(results)
    };
    let mut results = thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
        let mut results = work()?;
        for other in others {
            results.extend(other.join().unwrap_or_else(|panic| panic::resume_unwind(panic))?);
        }
        Ok(results)
    })?;
    results.sort_unstable_by_key(|&(index, _)| index);
    Ok(results.into_iter().map(|(_, result)| result).collect())
}

/// Runs `run` for each job. Returns the results in the order of the jobs.
///
/// # Errors
/// The first error of a job.
#[cfg(not(feature = "std"))]
pub(crate) fn map<T, R, E>(
    _parallel: bool,
    jobs: Vec<T>,
    run: impl Fn(T) -> Result<R, E>,
) -> Result<Vec<R>, E> {
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
