//! The aggregate function that builds a ribbon filter, which needs all keys at once.

use std::ops::RangeInclusive;

use datafusion::arrow::array::ArrayRef;
use datafusion::arrow::datatypes::DataType;
use datafusion::common::{Result, ScalarValue, exec_datafusion_err, exec_err};
use fuse::RibbonFilter;

use crate::blobs::blob_value;
use crate::call::Call;
use crate::fold::Fold;
use crate::keys::{check_type, hash_rows};

const DEFAULT_RATE: f64 = 0.01;
/// Number of hashes that fit into a value of Arrow, which has less than 2^32 bytes.
const MAX_HASHES: usize = (1 << 29) - 1;

/// The hashes of the keys, and the rate of the filter that they become.
#[derive(Debug)]
pub(crate) struct Ribbon {
    function: &'static str,
    rate: f64,
    /// Number of hashes that a group holds before the repeated ones are removed.
    max_hashes: usize,
}

impl Ribbon {
    /// Returns the number of distinct keys that a group may have. An eighth of the memory is left for repeated ones, or every
    /// key would be a reason to sort.
    const fn max_keys(&self) -> usize {
        self.max_hashes - self.max_hashes / 8
    }

    fn build(&self, hashes: Vec<u64>) -> Result<Vec<u8>> {
        let builder = RibbonFilter::builder().false_positive_rate(self.rate);
        let filter = builder.build_hashes(hashes);
        Ok(filter.map_err(|error| exec_datafusion_err!("{}: {error}", self.function))?.to_bytes())
    }
}

impl Fold for Ribbon {
    type Column = Vec<u64>;
    type State = Vec<u64>;

    const NUM_ARGS: RangeInclusive<usize> = 1..=2;

    fn check_types(function: &str, types: &[DataType]) -> Result<()> {
        check_type(function, &types[0])
    }

    fn of_call(call: &Call) -> Result<Self> {
        let rate = call.number(1, "rate")?.unwrap_or(DEFAULT_RATE);
        let this = Self { function: call.function, rate, max_hashes: MAX_HASHES };
        // Refuses a rate out of range before any row is read.
        this.build(Vec::new())?;
        Ok(this)
    }

    fn column(&self, array: &ArrayRef) -> Result<Vec<u64>> {
        let mut hashes = Vec::new();
        hash_rows(array, &mut hashes)?;
        Ok(hashes)
    }

    fn fold(&self, state: &mut Option<Vec<u64>>, column: &Vec<u64>, row: usize) -> Result<()> {
        let hashes = state.get_or_insert_default();
        if hashes.len() == hashes.capacity() {
            // Memory for the distinct ones only.
            hashes.sort_unstable();
            hashes.dedup();
            let max_keys = self.max_keys();
            if hashes.len() > max_keys {
                let function = self.function;
                return exec_err!(
                    "{function}: a group has more than {max_keys} distinct keys; allowed are {max_keys}, and \
                     pds_bloom_agg takes more"
                );
            }
            // So many are added before the next sort.
            let room = self.max_hashes - hashes.len();
            hashes.reserve_exact(hashes.len().max(4).min(room));
        }
        hashes.push(column[row]);
        Ok(())
    }

    fn merge(&self, state: &mut Option<Vec<u64>>, other: Vec<u64>) -> Result<()> {
        for row in 0..other.len() {
            self.fold(state, &other, row)?;
        }
        Ok(())
    }

    fn write_state(&self, state: &Vec<u64>) -> Vec<u8> {
        state.iter().flat_map(|hash| hash.to_le_bytes()).collect()
    }

    fn read_state(&self, bytes: &[u8]) -> Result<Vec<u64>> {
        let (hashes, rest) = bytes.as_chunks();
        if !rest.is_empty() {
            let length = bytes.len();
            return Err(exec_datafusion_err!("{}: a state of {length} bytes", self.function));
        }
        Ok(hashes.iter().map(|&hash| u64::from_le_bytes(hash)).collect())
    }

    fn heap_bytes(&self, state: &Vec<u64>) -> usize {
        state.capacity() * size_of::<u64>()
    }

    fn finish(&self, state: Option<&Vec<u64>>) -> Result<ScalarValue> {
        let bytes = self.build(state.cloned().unwrap_or_default())?;
        blob_value(self.function, Some(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_has_no_more_distinct_keys_than_the_limit() {
        let ribbon = Ribbon { function: "f", rate: 0.01, max_hashes: 1_000 };
        let few: Vec<u64> = (0..875).collect();
        let mut state = None;
        for _ in 0..5 {
            ribbon.merge(&mut state, few.clone()).unwrap();
            assert!(state.as_ref().is_some_and(|state| state.capacity() <= 1_000));
        }
        let all = (0..2_000).collect();
        let error = ribbon.merge(&mut state, all).unwrap_err().strip_backtrace();
        let expected = "f: a group has more than 875 distinct keys; allowed are 875";
        assert!(error.contains(expected), "{error}");
    }
}
