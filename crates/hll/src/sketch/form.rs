//! The two forms of a sketch, and the operations on them that need no hasher.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

use pds_params::HllParams;

use super::reading::estimate_sparse;
use crate::coupon::Coupon;
use crate::dense::{Dense, histogram, packed, raise_to};
use crate::sparse::SparseTable;
use crate::storage::{OwnedRegisters, RegisterSource};

/// Storage of a sketch in memory of its own: a few bytes per key while it is sparse, then one byte per register.
#[derive(Clone, Debug)]
pub struct Registers {
    pub(crate) form: Form,
}

impl From<Form> for Registers {
    fn from(form: Form) -> Self {
        Self { form }
    }
}

impl RegisterSource for Registers {
    fn params(&self) -> HllParams {
        self.form.params()
    }

    fn entries(&self) -> Option<u64> {
        match &self.form {
            Form::Sparse(table) => Some(table.len() as u64),
            Form::Dense(_) => None,
        }
    }

    fn counts(&self) -> [u32; 64] {
        histogram(&self.form.registers_at(self.params().precision()))
    }

    fn size_in_bytes(&self) -> u64 {
        match &self.form {
            Form::Sparse(table) => table.size_in_bytes() as u64,
            Form::Dense(dense) => dense.registers().len() as u64,
        }
    }

    fn name_of([owned, ..]: [&'static str; 3]) -> &'static str {
        owned
    }
}

impl OwnedRegisters for Registers {
    fn payload(&self) -> Vec<u8> {
        match &self.form {
            Form::Sparse(table) => {
                table.sorted().iter().flat_map(|coupon| coupon.word().to_le_bytes()).collect()
            }
            Form::Dense(dense) => packed(dense.registers()),
        }
    }
}

/// The two forms of a state. The set alone determines which one it is, unless the dense form was asked for.
// The parameters are in the forms, where they take no space, because there are many small sets.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Form {
    Sparse(SparseTable),
    Dense(Box<Dense>),
}

impl Form {
    /// Inserts into the sparse form.
    // A function of its own, so that the code of an insert into the dense form stays small.
    #[inline(never)]
    pub(super) fn insert_coupon(&mut self, coupon: Coupon) -> bool {
        let Self::Sparse(table) = self else { unreachable!("the sketch is sparse") };
        let changed = table.insert(coupon);
        if table.is_over_full() {
            self.make_dense();
        }
        changed
    }

    /// Inserts many keys. Returns how many of them changed the state, one after the other.
    pub(super) fn insert_batch<K>(&mut self, keys: &[K], hash: impl Fn(&K) -> u64) -> usize {
        let mut rest = keys.iter();
        let mut changes = 0;
        while let Self::Sparse(_) = self {
            let Some(key) = rest.next() else { return changes };
            changes += usize::from(self.insert_coupon(Coupon::of_hash(hash(key))));
        }
        changes + self.dense_mut().insert_batch(rest.as_slice(), hash)
    }

    /// Switches to the dense form. Its martingale continues from the estimate of the sparse form.
    pub(crate) fn make_dense(&mut self) {
        if let Self::Sparse(table) = self {
            let (params, estimate) = (table.params(), estimate_sparse(table.len() as u64));
            let registers = self.registers_at(params.precision()).into_owned();
            let dense = Dense::new(registers, params).followed_from(Some(estimate));
            *self = Self::Dense(Box::new(dense));
        }
    }

    fn dense_mut(&mut self) -> &mut Dense {
        self.make_dense();
        let Self::Dense(dense) = self else { unreachable!("it was made dense") };
        dense
    }

    pub(super) fn is_empty(&self) -> bool {
        match self {
            Self::Sparse(table) => table.len() == 0,
            Self::Dense(dense) => dense.registers().iter().all(|&rank| rank == 0),
        }
    }

    pub(crate) fn params(&self) -> HllParams {
        match self {
            Self::Sparse(table) => table.params(),
            Self::Dense(dense) => dense.params(),
        }
    }

    /// Lowers the precision to one that is not greater.
    pub(super) fn fold_to(&mut self, params: HllParams) {
        match self {
            Self::Dense(dense) => dense.fold_to(params),
            Self::Sparse(table) => {
                table.set_params(params);
                if table.is_over_full() {
                    self.make_dense();
                }
            }
        }
    }

    /// Returns the registers at a precision that is not greater than that of the dense form. The sparse form has
    /// registers of any precision.
    pub(super) fn registers_at(&self, precision: u32) -> Cow<'_, [u8]> {
        match self {
            Self::Dense(dense) => dense.registers_at(precision),
            Self::Sparse(table) => {
                let mut registers = vec![0; 1 << precision];
                table.scattered().for_each(|coupon| raise_to(&mut registers, precision, coupon));
                Cow::Owned(registers)
            }
        }
    }

    /// Merges another state. The hashers must be equal.
    pub(super) fn merge(&mut self, other: &Self) {
        if self.is_empty() || other.is_empty() {
            return self.merge_with_empty(other);
        }
        if other.params().precision() < self.params().precision() {
            self.fold_to(other.params());
        }
        match other {
            Self::Sparse(theirs) => self.merge_table(theirs),
            Self::Dense(theirs) => self.dense_mut().merge(theirs),
        }
    }

    /// Merges if one of the two is empty. The other one is unchanged, with its precision and its martingale.
    fn merge_with_empty(&mut self, other: &Self) {
        let is_dense = [&*self, other].iter().any(|form| matches!(form, Self::Dense(_)));
        if !other.is_empty() {
            *self = other.clone();
        } else if self.is_empty() && other.params().precision() < self.params().precision() {
            self.fold_to(other.params());
        }
        // An empty sketch may have been made dense, too.
        if is_dense {
            self.make_dense();
        }
    }

    /// Merges the coupons of another table, one by one as long as each finds a place after few steps.
    // Forged bytes can hold coupons that all belong into one bucket. Each of them would pass all the others.
    fn merge_table(&mut self, theirs: &SparseTable) {
        let mut patience = 4 * theirs.len();
        if let Self::Sparse(ours) = self {
            // About as long as it takes to sort them.
            patience += 64 * ours.num_buckets();
        }
        for coupon in theirs.scattered() {
            if let Self::Sparse(ours) = self {
                let passed = ours.passed(coupon);
                if passed > patience {
                    return self.merge_sorted(theirs);
                }
                patience -= passed;
            }
            self.merge_coupon(coupon);
        }
        if let Self::Dense(dense) = self {
            dense.forget_martingale();
        }
    }

    /// Merges another table by sorting both. The time does not depend on the coupons.
    fn merge_sorted(&mut self, theirs: &SparseTable) {
        let Self::Sparse(ours) = self else { unreachable!("the sketch is sparse") };
        let params = ours.params();
        let union = ours.union(theirs);
        if union.len() as u64 <= params.max_sparse_entries() {
            *ours = SparseTable::of_ascending(params, union.into_iter());
            return;
        }
        self.make_dense();
        union.into_iter().for_each(|coupon| self.merge_coupon(coupon));
        if let Self::Dense(dense) = self {
            dense.forget_martingale();
        }
    }

    /// Merges a coupon of another sketch.
    fn merge_coupon(&mut self, coupon: Coupon) {
        match self {
            Self::Dense(dense) => dense.merge_coupon(coupon),
            Self::Sparse(_) => {
                self.insert_coupon(coupon);
            }
        }
    }
}
