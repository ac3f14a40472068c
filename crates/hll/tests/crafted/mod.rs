//! Hashes that go where a test wants them.

/// The hash whose finalised form is `x`: the steps of the finaliser backwards.
pub(crate) fn unfinalized(x: u64) -> u64 {
    let unshift = |x: u64, by: u32| (0..3).fold(x, |y, _| x ^ (y >> by));
    let inverse =
        |a: u64| (0..6).fold(a, |y, _| y.wrapping_mul(2u64.wrapping_sub(a.wrapping_mul(y))));
    let x = unshift(x, 27).wrapping_mul(inverse(0x1c69_b3f7_4ac4_ae35));
    let x = unshift(x, 33).wrapping_mul(inverse(0x3c79_ac49_2ba7_b653));
    unshift(x, 27).wrapping_sub(0x9e37_79b9_7f4a_7c15)
}
