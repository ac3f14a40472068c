/// Computes `floor(fraction * total)` exactly.
///
/// A floating-point product errs by up to a thousand if `total` is near 2^63. A bound that is rounded in the wrong
/// direction does not hold. The result is 0 if the fraction is not above 0, and saturates at `u64::MAX`.
///
/// # Examples
/// ```
/// use pds_params::cms::floor_product;
///
/// assert_eq!(floor_product(0.5, u64::MAX), u64::MAX / 2);
/// assert_eq!(floor_product(0.1, 100), 10);
/// ```
#[doc(hidden)]
#[must_use]
#[expect(clippy::cast_possible_truncation, reason = "checked to be at most `u64::MAX`")]
pub fn floor_product(fraction: f64, total: u64) -> u64 {
    const MANTISSA_BITS: u32 = 52;
    if fraction.is_nan() || fraction <= 0.0 || total == 0 {
        return 0;
    }
    if fraction == f64::INFINITY {
        return u64::MAX;
    }
    let bits = fraction.to_bits();
    let exponent = bits >> MANTISSA_BITS;
    let implicit = u64::from(exponent != 0);
    let mantissa = bits & ((1 << MANTISSA_BITS) - 1) | implicit << MANTISSA_BITS;
    // fraction = mantissa * 2^(exponent - 1075). A subnormal fraction has the exponent of the least normal one.
    let product = u128::from(mantissa) * u128::from(total);
    let exponent = exponent.max(1);
    let shifted = if exponent <= 1075 {
        product.checked_shr(1075 - exponent as u32).unwrap_or(0)
    } else {
        product.saturating_mul(1u128.checked_shl(exponent as u32 - 1075).unwrap_or(u128::MAX))
    };
    shifted.min(u64::MAX.into()) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_are_those_of_integers_where_these_are_exact() {
        for (numerator, shift) in [(1u64, 1), (3, 2), (5, 3), (12_345, 20), (1, 40)] {
            let fraction = numerator as f64 / (1u64 << shift) as f64;
            for total in [1, 2, 1_000, 1 << 53, (1 << 53) + 1, u64::MAX - 1, u64::MAX] {
                let exact = (u128::from(numerator) * u128::from(total)) >> shift;
                assert_eq!(u128::from(floor_product(fraction, total)), exact);
            }
        }
    }

    #[test]
    fn a_decimal_fraction_is_the_double_next_to_it() {
        // 0.1 as a double is above a tenth, 0.3 below three tenths.
        assert_eq!(floor_product(0.1, 10_000_000_000), 1_000_000_000);
        assert_eq!(floor_product(0.3, 10), 2);
        assert_eq!(floor_product(0.1, u64::MAX), 1_844_674_407_370_955_263);
    }

    #[test]
    fn fractions_at_the_edges() {
        assert_eq!(
            (floor_product(0.0, 9), floor_product(-1.0, 9), floor_product(f64::NAN, 9)),
            (0, 0, 0)
        );
        assert_eq!(floor_product(f64::MIN_POSITIVE / 2.0, u64::MAX), 0);
        assert_eq!(floor_product(1.0, u64::MAX), u64::MAX);
        assert_eq!(floor_product(2.5, 3), 7);
        assert_eq!(floor_product(1e300, 1), u64::MAX);
        assert_eq!(floor_product(f64::INFINITY, 1), u64::MAX);
        assert_eq!(floor_product(f64::INFINITY, 0), 0);
    }
}
