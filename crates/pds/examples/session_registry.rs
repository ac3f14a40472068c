//! A registry of open sessions. A session ends after an hour without a request.
//!
//! ```text
//! cargo run --release --example session_registry [access.log]
//! ```
//!
//! Reads the log of a web server in the common format, or makes a synthetic one. For nearly every client without an
//! open session, the registry answers *certainly not open*. Only the rest is queried in the store. Sessions are removed
//! from the cuckoo filter exactly as often as they were inserted. It is sized for the busiest hours only.

mod shared;

use core::error::Error;
use std::collections::{HashMap, HashSet};

use pds::CuckooFilter;
use shared::access_log::{Request, given_or_made_up};
use shared::grouped;

/// Hours without a request after which a session ends.
const IDLE_HOURS: u32 = 1;
const RATE: f64 = 0.001;

fn main() -> Result<(), Box<dyn Error>> {
    pds_testkit::pipe::end_quietly();
    let mut requests = given_or_made_up(200_000)?;
    requests.sort_by(|a, b| (&a.day, a.hour).cmp(&(&b.day, b.hour)));
    let hours: Vec<&[Request]> =
        requests.chunk_by(|a, b| (&a.day, a.hour) == (&b.day, b.hour)).collect();
    let mut registry = Registry::new(most_open(&hours))?;
    for (hour, requests) in (0..).zip(hours) {
        registry.close_idle(hour);
        requests.iter().try_for_each(|request| registry.serve(request, hour))?;
    }
    registry.report(requests.len());
    registry.close_idle(u32::MAX);
    assert!(registry.open.is_empty(), "every session that was opened was closed, exactly once");
    Ok(())
}

/// The greatest number of open sessions: each has had a request in the hours that keep it open, or in the current one.
fn most_open(hours: &[&[Request]]) -> u64 {
    let clients = |hours: &[&[Request]]| {
        let clients = hours.iter().flat_map(|requests| requests.iter());
        clients.map(|request| &request.client).collect::<HashSet<_>>().len() as u64
    };
    hours.windows(IDLE_HOURS as usize + 1).map(clients).max().unwrap_or(0).max(1)
}

/// The filter in front of the store of sessions.
struct Registry {
    open: CuckooFilter,
    /// The last hour of each session. This is the store, which is slow and far away.
    store: HashMap<String, u32>,
    skipped: usize,
    asked_in_vain: usize,
}

impl Registry {
    fn new(sessions: u64) -> Result<Self, Box<dyn Error>> {
        let open = CuckooFilter::new(sessions, RATE)?;
        Ok(Self { open, store: HashMap::new(), skipped: 0, asked_in_vain: 0 })
    }

    /// Opens a session for a client that has none, or keeps its own open.
    fn serve(&mut self, request: &Request, hour: u32) -> Result<(), Box<dyn Error>> {
        let client = request.client.as_str();
        let known = if self.open.contains(client) {
            let known = self.store.contains_key(client);
            self.asked_in_vain += usize::from(!known);
            known
        } else {
            assert!(!self.store.contains_key(client), "an open session is never denied");
            self.skipped += 1;
            false
        };
        if !known {
            self.open.insert(client)?;
        }
        self.store.insert(client.to_owned(), hour);
        Ok(())
    }

    /// Closes the sessions without a request in the last hours. Only what was inserted is removed.
    fn close_idle(&mut self, hour: u32) {
        let open = &mut self.open;
        self.store.retain(|client, &mut last| {
            let keeps = hour.saturating_sub(last) <= IDLE_HOURS;
            assert!(keeps || open.remove(client.as_str()), "it was inserted, so it is there");
            keeps
        });
    }

    fn report(&self, requests: usize) {
        println!(
            "{} requests: {} without a look into the store, {} looks in vain.",
            grouped(requests),
            grouped(self.skipped),
            grouped(self.asked_in_vain)
        );
        println!(
            "{} sessions are open, in a filter of {} bytes with {} bits each, {:.1} % full.",
            grouped(self.store.len()),
            grouped(usize::try_from(self.open.size_in_bytes()).unwrap_or(usize::MAX)),
            self.open.fingerprint_bits(),
            100.0 * self.open.load_factor()
        );
    }
}
