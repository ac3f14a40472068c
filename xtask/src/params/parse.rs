//! Numbers as people write them.

/// A whole number: `1000`, `1_000`, `1,000`, `10e6`, `10M`.
pub(super) fn count(text: &str) -> Result<u64, String> {
    let plain = plain(text);
    if let Ok(exact) = plain.parse() {
        return Ok(exact);
    }
    whole(number(&plain, &[("k", 1e3), ("M", 1e6), ("G", 1e9), ("T", 1e12)])?)
}

/// A share of one: `0.01`, `1%`, `1e-9`.
pub(super) fn fraction(text: &str) -> Result<f64, String> {
    number(&plain(text), &[("%", 0.01)])
}

/// A number of bytes: `4096`, `64MiB`, `1.5GB`.
pub(super) fn bytes(text: &str) -> Result<u64, String> {
    let binary = [("KiB", 10), ("MiB", 20), ("GiB", 30), ("TiB", 40)];
    let units = binary.map(|(unit, power)| (unit, f64::from(power).exp2())).into_iter();
    let decimal = [("kB", 1e3), ("MB", 1e6), ("GB", 1e9), ("TB", 1e12), ("B", 1.0)];
    let units: Vec<_> = units.chain(decimal).collect();
    whole(number(&plain(text), &units)?)
}

/// Without what only groups digits.
fn plain(text: &str) -> String {
    text.chars().filter(|&c| !matches!(c, '_' | ',' | ' ')).collect()
}

/// A real number, times what the first unit that it ends in stands for.
fn number(text: &str, units: &[(&str, f64)]) -> Result<f64, String> {
    let unit = units.iter().find_map(|&(unit, factor)| Some((text.strip_suffix(unit)?, factor)));
    let (digits, factor) = unit.unwrap_or((text, 1.0));
    match digits.parse::<f64>() {
        // Division keeps 1 % the double that 0.01 is.
        Ok(value) if factor < 1.0 => Ok(value / (1.0 / factor)),
        Ok(value) => Ok(value * factor),
        Err(_) => Err(format!("`{text}` is not a number")),
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "checked to be in range"
)]
fn whole(value: f64) -> Result<u64, String> {
    if (0.0..=1e18).contains(&value) {
        return Ok(value.round() as u64);
    }
    Err(format!("{value:e} is not from 0 to 1e18"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_as_people_write_them() {
        for text in ["10000000", "10_000_000", "10,000,000", "10e6", "1e7", "10M", "0.01G"] {
            assert_eq!(count(text), Ok(10_000_000), "{text}");
        }
        assert_eq!(count("18446744073709551615"), Ok(u64::MAX));
        for (text, value) in [("1%", 0.01), ("0.1 %", 0.001), ("0.01", 0.01), ("1e-9", 1e-9)] {
            assert_eq!(fraction(text), Ok(value), "{text}");
        }
        for (text, value) in
            [("4096", 4_096), ("64MiB", 64 << 20), ("1.5 GB", 1_500_000_000), ("8B", 8)]
        {
            assert_eq!(bytes(text), Ok(value), "{text}");
        }
    }

    #[test]
    fn what_is_no_number_is_refused() {
        for text in ["", "ten", "1x", "-1", "NaN", "inf", "1e30"] {
            assert!(count(text).is_err() && bytes(text).is_err(), "{text}");
        }
        assert!(fraction("%").is_err());
    }
}
