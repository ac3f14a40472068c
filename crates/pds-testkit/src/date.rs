//! The date of a measurement.

use std::time::{SystemTime, UNIX_EPOCH};

/// Returns today's date in UTC by the clock of the machine, year first.
#[must_use]
pub fn today() -> String {
    let elapsed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    date(elapsed.as_secs() / 86_400)
}

/// Returns the date that is `days` days after 1 January 1970.
fn date(mut days: u64) -> String {
    let is_leap = |year: u64| {
        year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
    };
    let mut year = 1970;
    while days >= 365 + u64::from(is_leap(year)) {
        days -= 365 + u64::from(is_leap(year));
        year += 1;
    }
    let february = 28 + u64::from(is_leap(year));
    let mut month = 1;
    for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30] {
        if days < length {
            break;
        }
        days -= length;
        month += 1;
    }
    format!("{year}-{month:02}-{:02}", days + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        let known = [(0, "1970-01-01"), (59, "1970-03-01"), (11_016, "2000-02-29")];
        let later = [(11_322, "2000-12-31"), (20_513, "2026-03-01"), (47_540, "2100-02-28")];
        for (days, expected) in known.into_iter().chain(later) {
            assert_eq!(date(days), expected);
        }
        assert_eq!(date(47_541), "2100-03-01");
    }
}
