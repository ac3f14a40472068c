//! The union of many sketches.

use alloc::vec::Vec;

use pds_core::error::Incompatible;
use pds_params::ThetaParams;

use crate::set::sealed::Sealed;
use crate::{CompactThetaSketch, ThetaHasher, ThetaSet, set};

/// The union of many sketches, with at most as many hashes as its nominal size.
///
/// The result does not depend on the order of the sketches. It has the bytes that the union of DataSketches gives. An empty sketch
/// changes nothing.
///
/// # Examples
/// ```
/// use theta::{ThetaParams, ThetaSet, ThetaSketch, ThetaUnion};
///
/// let mut week = ThetaUnion::new(ThetaParams::new(4_096)?, Default::default());
/// for day in 0..7_i64 {
///     let mut visitors = ThetaSketch::new(4_096)?;
///     visitors.extend(day * 5_000..day * 5_000 + 20_000);
///     week.add(&visitors)?;
/// }
/// assert!(week.estimate_interval(0.999)?.contains(&50_000.0));
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct ThetaUnion {
    /// With at most as many hashes as the nominal size.
    set: CompactThetaSketch,
    /// Memory for the next operand, and for the next result.
    spare: [Vec<u64>; 2],
    params: ThetaParams,
}

impl ThetaUnion {
    /// Creates the union of no sketch. The sampling probability of `params` is not used.
    #[must_use]
    pub const fn new(params: ThetaParams, hasher: ThetaHasher) -> Self {
        let set = CompactThetaSketch::empty(hasher);
        Self { set, spare: [Vec::new(), Vec::new()], params }
    }

    /// Adds the keys of a sketch, with any nominal size.
    ///
    /// # Errors
    /// [`Incompatible`] if the seeds differ. Nothing is changed then.
    ///
    /// # Complexity
    /// O(K + hashes), for any hashes.
    pub fn add(&mut self, other: &impl ThetaSet) -> Result<(), Incompatible> {
        set::check_seeds(self, other)?;
        if other.is_empty() {
            return Ok(());
        }
        let set = &mut self.set;
        set.is_empty = false;
        set.theta = set.theta.min(other.theta64());
        let nominal = self.params.nominal_size() as usize;
        // One more than are kept: it becomes theta.
        let limit = nominal + 1;
        let [operand, all] = &mut self.spare;
        operand.clear();
        let theta = set.theta;
        operand.extend(other.ascending().take(limit).take_while(|&hash| hash < theta));
        set::union(&set.hashes, operand, theta, limit, all);
        core::mem::swap(&mut set.hashes, all);
        if let Some(&theta) = set.hashes.get(nominal) {
            set.theta = theta;
            set.hashes.truncate(nominal);
        }
        Ok(())
    }

    /// Returns the parameters.
    #[must_use]
    pub const fn params(&self) -> ThetaParams {
        self.params
    }
}

impl Sealed for ThetaUnion {}

impl ThetaSet for ThetaUnion {
    fn hasher(&self) -> ThetaHasher {
        self.set.hasher()
    }

    fn theta64(&self) -> u64 {
        self.set.theta64()
    }

    fn is_empty(&self) -> bool {
        self.set.is_empty()
    }

    fn num_retained(&self) -> usize {
        self.set.num_retained()
    }

    fn ascending(&self) -> impl Iterator<Item = u64> {
        self.set.ascending()
    }
}
