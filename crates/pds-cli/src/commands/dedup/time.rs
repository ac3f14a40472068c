//! Windows and times of records.

use crate::parse;
use core::str;
use jiff::{SignedDuration, Timestamp, fmt::strtime};

/// How old a line may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Window {
    /// Lines that came since.
    Lines(u64),
    /// Milliseconds.
    Time(u64),
}

impl Window {
    /// A number of lines, or a time such as `90s`, `1h 30m` or `7d`.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        if let Ok(lines) = parse::count(text) {
            return Ok(Self::Lines(lines));
        }
        let wrong = || {
            format!(
                "`{text}` is neither a number of lines nor a time like 90s, 1h or 7d: lines go from 1 to 2^64 - 1, times from 1ms up"
            )
        };
        // A unit of days has always 24 hours here.
        let days = text.strip_suffix('d').and_then(|days| days.trim().parse::<u32>().ok());
        let duration = match days {
            Some(days) => SignedDuration::from_hours(24 * i64::from(days)),
            None => text.parse().map_err(|_| wrong())?,
        };
        match u64::try_from(duration.as_millis()) {
            Ok(milliseconds @ 1..) => Ok(Self::Time(milliseconds)),
            _ => Err(wrong()),
        }
    }
}

/// The forms of a time, for messages.
pub(super) const FORMS: &str = "it must be seconds or milliseconds since 1970, or a date with its zone, like 2026-01-31T12:00:00Z or 31/Jan/2026:12:00:00 +0000, from 1970 to 9999";

/// Reads a time, in milliseconds since 1970.
pub(super) fn milliseconds(text: &[u8]) -> Option<u64> {
    let text = str::from_utf8(text).ok()?.trim().trim_start_matches('[').trim_end_matches(']');
    if let Ok(number) = text.parse::<f64>() {
        return number_to_milliseconds(number);
    }
    let date = text.parse::<Timestamp>().ok().or_else(|| {
        strtime::parse("%d/%b/%Y:%H:%M:%S %z", text).and_then(|parsed| parsed.to_timestamp()).ok()
    })?;
    u64::try_from(date.as_millisecond()).ok()
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "checked to be in range"
)]
fn number_to_milliseconds(number: f64) -> Option<u64> {
    // As seconds this is the year 5138, as milliseconds 1973.
    let unit = if number < FIRST_MILLISECONDS { 1e3 } else { 1.0 };
    (0.0..1e3 * FIRST_MILLISECONDS).contains(&number).then(|| (number * unit).round() as u64)
}

/// The least number that stands for milliseconds, and not for seconds.
const FIRST_MILLISECONDS: f64 = 1e11;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_are_lines_or_times() {
        for (text, window) in [
            ("1000", Window::Lines(1_000)),
            ("10k", Window::Lines(10_000)),
            ("10M", Window::Lines(10_000_000)),
            ("90s", Window::Time(90_000)),
            ("1h 30m", Window::Time(5_400_000)),
            ("7d", Window::Time(604_800_000)),
            ("250ms", Window::Time(250)),
        ] {
            assert_eq!(Window::parse(text), Ok(window), "{text}");
        }
        for text in ["", "0", "-1h", "0s", "soon", "1e30"] {
            assert!(Window::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn times_have_the_forms_of_logs() {
        for text in [
            "1769860800",
            "1769860800.000",
            "1769860800000",
            "2026-01-31T12:00:00Z",
            "2026-01-31 13:00:00+01:00",
            "31/Jan/2026:12:00:00 +0000",
            "[31/Jan/2026:07:00:00 -0500]",
        ] {
            assert_eq!(milliseconds(text.as_bytes()), Some(1_769_860_800_000), "{text}");
        }
        assert_eq!(milliseconds(b"0.25"), Some(250));
        for text in [
            "",
            "now",
            "-5",
            "1e14",
            "1e300",
            "nan",
            "1960-01-01T00:00:00Z",
            "31/Foo/2026:12:00:00 +0000",
        ] {
            assert_eq!(milliseconds(text.as_bytes()), None, "{text}");
        }
    }
}
