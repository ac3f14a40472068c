//! The natural logarithm as the C library of a server computes it.

use libm::{fma, frexp};

/// Returns the natural logarithm of a normal number above 0, nearly always the nearest number.
///
/// The sizes in a dump depend on the last bit. `libm::log` is off by one bit more often than the C library of a server.
pub(super) fn log(x: f64) -> f64 {
    // The upper 33 bits of ln 2, whose multiples by an exponent are exact, and the rest.
    const LN2_HIGH: f64 = 0.693_147_180_369_123_8;
    const LN2_LOW: f64 = 1.908_214_929_270_587_7e-10;
    let (mut mantissa, mut exponent) = frexp(x);
    if mantissa < core::f64::consts::FRAC_1_SQRT_2 {
        mantissa *= 2.0;
        exponent -= 1;
    }
    // log m = 2 artanh s = 2 (s + s^3 / 3 + s^5 / 5 + ...) for s = (m - 1) / (m + 1), in two parts.
    let (above, below) = (mantissa - 1.0, mantissa + 1.0);
    let below_rest = mantissa - (below - 1.0);
    let s = above / below;
    let s_rest = (fma(-s, below, above) - s * below_rest) / below;
    let series = (1..16).rev().fold(0.0, |sum, i| s * s * (sum + 1.0 / f64::from(2 * i + 1)));
    let exponent = f64::from(exponent);
    let (high, middle) = (exponent * LN2_HIGH, 2.0 * s);
    let (sum, rest) = two_sum(high, middle);
    sum + (rest + (exponent * LN2_LOW + 2.0 * (s_rest + s * series)))
}

/// Returns a sum, and what rounding took from it.
fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let part = sum - a;
    (sum, (a - (sum - part)) + (b - part))
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::log;

    /// The C library is right but for one value in a hundred, by one bit.
    #[test]
    fn logarithms_are_those_of_the_c_library() {
        let mut different = 0;
        for i in 1..20_000 {
            let rate = f64::from(i) / 20_000.0;
            for halvings in [0, 1, 2, 10, 300] {
                let rate = rate * libm::exp2(-f64::from(halvings));
                let (ours, theirs) = (log(rate), rate.ln());
                assert!(
                    (ours - theirs).abs() <= 2.3e-16 * theirs.abs(),
                    "{rate}: {ours}, {theirs}"
                );
                different += u32::from(ours != theirs);
            }
        }
        assert!(different < 1_000, "{different} of 100,000");
    }
}
