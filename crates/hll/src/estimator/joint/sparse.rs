use core::cmp::Ordering;

use pds_params::Estimate;
use pds_params::hll::SPARSE_PRECISION;

use super::super::linear_counting;
use super::{Overlap, Parts, Side};
use crate::coupon::Coupon;

/// Compares two sparse sketches by counting their common coupons. Most keys have a coupon of their own.
///
/// `left` and `right` are the coupons in ascending order, and `left_size` and `right_size` the estimates of each set. There are
/// M = 2^26 registers, and a, b and c keys that are only on the left, only on the right, and in both. Pairs of keys
/// share a register by chance. Their number is Poisson, with this mean:
///
/// | pair | number | effect |
/// |---|---|---|
/// | left only, left only | a² / 2M | one left coupon less |
/// | right only, right only | b² / 2M | one right coupon less |
/// | common, common | c² / 2M | one common coupon less |
/// | left only, right only | a b / M | equal ranks in a third: one common coupon more |
/// | left only, common | a c / M | one left coupon less; the common one is hidden in a third |
/// | right only, common | b c / M | one right coupon less; the common one is hidden in a third |
///
/// Two ranks are equal with probability Σ 4^-k = 1/3. The first is the greater one in another third of the cases.
/// The means correct the counts. The variance of a part is the sum over the pairs that change it. Triples of keys in
/// one register are neglected: there are n³ / 6M² of them, at most 0.002.
pub(crate) fn sparse_overlap(
    left: &[Coupon],
    right: &[Coupon],
    [left_size, right_size]: [Estimate; 2],
) -> Overlap {
    const PLACES: u64 = 1 << SPARSE_PRECISION;
    let [only_left, only_right, common] = compare(left, right);
    let places = PLACES as f64;
    // Coupons of the left or right set that are not common.
    let apart = [left.len(), right.len()].map(|len| (len as u64 - u64::from(common)) as f64);
    let hidden = f64::from(common) * (apart[0] + apart[1]) / (3.0 * places);
    let alike = apart[0] * apart[1] / (3.0 * places);
    let both = (linear_counting(common.into(), PLACES) + hidden - alike).max(0.0);
    let [a, b] = [left_size, right_size].map(|size| (size.value - both).max(0.0));
    let thirds = [
        1.5 * a * a + a * b + 2.0 * a * both + b * both,
        1.5 * b * b + a * b + 2.0 * b * both + a * both,
        1.5 * both * both + a * b + (a + b) * both,
    ];
    let mut covariance = [[0.0; 3]; 3];
    for (i, sum) in thirds.into_iter().enumerate() {
        covariance[i][i] = sum / (3.0 * places);
    }
    let parts =
        Parts { values: [left_size.value - both, right_size.value - both, both], covariance };
    parts.within(Side::new(left_size, only_left), Side::new(right_size, only_right))
}

/// Returns in how many registers the left rank is the greater one, in how many the right one, and in how many they are
/// equal.
fn compare(left: &[Coupon], right: &[Coupon]) -> [u32; 3] {
    let [mut only_left, mut only_right, mut common] = [0; 3];
    let (mut lefts, mut rights) = (left.iter().peekable(), right.iter().peekable());
    loop {
        let registers = match (lefts.peek(), rights.peek()) {
            (None, None) => return [only_left, only_right, common],
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (Some(left), Some(right)) => left.index().cmp(&right.index()),
        };
        let rank = |coupon: Option<&Coupon>| coupon.map_or(0, |coupon| coupon.rank());
        let left = rank(lefts.next_if(|_| registers.is_le()));
        let right = rank(rights.next_if(|_| registers.is_ge()));
        match left.cmp(&right) {
            Ordering::Greater => only_left += 1,
            Ordering::Less => only_right += 1,
            Ordering::Equal => common += 1,
        }
    }
}
