//! Access logs of web servers in the common format, real or synthetic.

use std::{env, fs, io};

use super::{pick, random};

/// One request: its client and its hour.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Request {
    pub(crate) client: String,
    /// Such as `17/May/2015`.
    pub(crate) day: String,
    /// From 0 to 23.
    pub(crate) hour: u8,
}

/// Returns the log that the first argument names, or else a number of synthetic requests.
pub(crate) fn given_or_made_up(requests: usize) -> io::Result<Vec<Request>> {
    match env::args_os().nth(1) {
        Some(path) => Ok(parse(&fs::read_to_string(path)?)),
        None => Ok(made_up(requests)),
    }
}

/// Reads the lines of a log. Ignores lines in another format.
fn parse(log: &str) -> Vec<Request> {
    log.lines().filter_map(parse_line).collect()
}

/// `client identity user [day:hour:minute:second zone] ...`
fn parse_line(line: &str) -> Option<Request> {
    let (client, rest) = line.split_once(' ')?;
    let (_, time) = rest.split_once('[')?;
    let (day, clock) = time.split_once(':')?;
    let hour = clock.get(..2)?.parse().ok().filter(|&hour| hour < 24)?;
    Some(Request { client: client.to_owned(), day: day.to_owned(), hour })
}

/// Makes two days of synthetic requests. Many clients return in other hours, and some on the other day.
fn made_up(requests: usize) -> Vec<Request> {
    let days = ["01/Jun/2026", "02/Jun/2026"];
    let request = |random: u64| {
        let day = usize::from(random >> 63 == 1);
        // Clients 0 to 2 n / 3 on the first day, n / 3 to n on the second. Low numbers come more often.
        let clients = requests as u64 / 2;
        let number = (random & 0xFFFF_FFFF) * (random >> 32 & 0x3FFF_FFFF) / (1 << 30);
        let client = number * (clients * 2 / 3) / (1 << 32) + day as u64 * clients / 3;
        let [.., a, b] = client.to_be_bytes();
        Request {
            client: format!("198.{}.{a}.{b}", 18 + client / 65_536),
            day: (*pick(&days, day as u64)).to_owned(),
            hour: (random >> 40 & 0xFF) as u8 % 24,
        }
    };
    random(7).take(requests).map(request).collect()
}
