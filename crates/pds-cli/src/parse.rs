//! Numbers as people write them.

/// A whole number above 0: `1000`, `1_000`, `1,000`, `10e6`, `10M`.
pub(crate) fn count(text: &str) -> Result<u64, String> {
    let units = [("k", 1e3), ("M", 1e6), ("G", 1e9), ("T", 1e12)];
    let number = Number { text, like: "a number like 10e6, 10M or 10_000_000" };
    let plain = number.plain()?;
    let value = plain.parse().or_else(|_| whole(text, number.value(&plain, &units)?))?;
    if value == 0 { Err("0 is too few: it must be 1 at the least".to_owned()) } else { Ok(value) }
}

/// A share of one, between 0 and 1: `0.01`, `1%`, `1e-9`.
pub(crate) fn fraction(text: &str) -> Result<f64, String> {
    let number = Number { text, like: "a share like 1% or 0.01" };
    let value = number.value(&number.plain()?, &[("%", 0.01)])?;
    if value > 0.0 && value < 1.0 {
        return Ok(value);
    }
    Err(format!("`{text}` is not above 0 and below 1, which is 100%"))
}

/// A number of bytes: `4096`, `64MiB`, `1.5GB`.
pub(crate) fn bytes(text: &str) -> Result<u64, String> {
    let binary = [("KiB", 10), ("MiB", 20), ("GiB", 30), ("TiB", 40)];
    let units = binary.map(|(unit, power)| (unit, f64::from(power).exp2())).into_iter();
    let decimal = [("kB", 1e3), ("MB", 1e6), ("GB", 1e9), ("TB", 1e12), ("B", 1.0)];
    let units: Vec<_> = units.chain(decimal).collect();
    let number = Number { text, like: "a size like 64MiB, 1.5GB or 4096" };
    let plain = number.plain()?;
    // A part of a byte is left out: 1.5GiB is whole, 0.7KiB is not.
    let value = plain.parse().or_else(|_| whole(text, number.value(&plain, &units)?.floor()))?;
    if value == 0 {
        Err("0 is too little: it must be 1 byte at the least".to_owned())
    } else {
        Ok(value)
    }
}

/// A number as it was written, and an example of its form.
struct Number<'a> {
    text: &'a str,
    like: &'static str,
}

impl Number<'_> {
    /// Without what only groups digits. A comma has three digits behind it, lest `10,5` be a hundred and five.
    fn plain(&self) -> Result<String, String> {
        let groups = |rest: &str| rest.bytes().take_while(u8::is_ascii_digit).count() == 3;
        let text = self.text.replace(['_', ' '], "");
        if text.split(',').skip(1).all(groups) {
            Ok(text.replace(',', ""))
        } else {
            Err(self.wrong())
        }
    }

    /// A real number, times what the first unit that it ends in stands for.
    fn value(&self, plain: &str, units: &[(&str, f64)]) -> Result<f64, String> {
        let in_unit = |&(unit, factor)| Some((plain.strip_suffix(unit)?, factor));
        let (digits, factor) = units.iter().find_map(in_unit).unwrap_or((plain, 1.0));
        match digits.parse::<f64>() {
            // Division keeps 1 % the double that 0.01 is.
            Ok(value) if factor < 1.0 => Ok(value / (1.0 / factor)),
            Ok(value) => Ok(value * factor),
            Err(_) => Err(self.wrong()),
        }
    }

    fn wrong(&self) -> String {
        format!("`{}` is not {}", self.text, self.like)
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "checked to be in range"
)]
fn whole(text: &str, value: f64) -> Result<u64, String> {
    // 2^64, from which on nothing fits.
    if !(0.0..18_446_744_073_709_551_616.0).contains(&value) {
        return Err(format!("`{text}` is not from 1 to 2^64 - 1"));
    }
    if value.fract() != 0.0 {
        return Err(format!("`{text}` is not a whole number"));
    }
    Ok(value as u64)
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
        assert_eq!(count("1e19"), Ok(10_000_000_000_000_000_000));
        assert_eq!(bytes("18446744073709551615"), Ok(u64::MAX));
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
        for text in ["", "ten", "1x", "-1", "NaN", "inf", "1e30", "10,5", "1,0000", ",100,", "10.5"]
        {
            assert!(count(text).is_err(), "{text}");
        }
        for text in ["", "ten", "1x", "-1", "NaN", "inf", "1e30", "10,5", "1,0000", "64mib"] {
            assert!(bytes(text).is_err(), "{text}");
        }
        for text in ["", "%", "0", "-1", "1", "100%", "150%", "NaN", "inf", "1,5%"] {
            assert!(fraction(text).is_err(), "{text}");
        }
    }

    /// Each says what was written and what would be right.
    #[test]
    fn errors_say_what_is_allowed() {
        let cases = [
            (count("10MB"), "`10MB` is not a number like 10e6, 10M or 10_000_000"),
            (count("0"), "0 is too few: it must be 1 at the least"),
            (count("1.5"), "`1.5` is not a whole number"),
            (count("-1"), "`-1` is not from 1 to 2^64 - 1"),
            (bytes("0"), "0 is too little: it must be 1 byte at the least"),
            (bytes("64mib"), "`64mib` is not a size like 64MiB, 1.5GB or 4096"),
            (bytes("1e99GB"), "`1e99GB` is not from 1 to 2^64 - 1"),
        ];
        for (result, text) in cases {
            assert_eq!(result, Err(text.to_owned()));
        }
        let share = "`150%` is not above 0 and below 1, which is 100%";
        assert_eq!(fraction("150%"), Err(share.to_owned()));
        assert_eq!(
            fraction("1 percent"),
            Err("`1 percent` is not a share like 1% or 0.01".to_owned())
        );
    }
}
