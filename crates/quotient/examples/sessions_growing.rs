//! Open sessions, whose number nobody knows in advance: the filter grows, and shrinks when they are closed.
//!
//! ```text
//! cargo run --release -p quotient --example sessions_growing
//! ```
//!
//! No list of sessions is needed to grow: the filter moves the fingerprints that it has. Compare the example `rebuild` of
//! the cuckoo filter.

use core::error::Error;

use pds_core::hash::reduce;
use pds_testkit::keys;
use quotient::QuotientFilter;

const RATE: f64 = 0.01;
const FIRST_SIZE: u64 = 500;
const GREATEST: u64 = 1_000_000;
const MOST_OPEN: usize = 100_000;

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    pds_testkit::pipe::end_quietly();
    let builder = QuotientFilter::builder().expected_items(FIRST_SIZE).grows_to(GREATEST);
    let mut sessions = builder.false_positive_rate(RATE).build()?;
    // The example keeps the open sessions to close some of them, and to check the answers.
    let mut open = Vec::new();
    let mut random = keys::random(41);
    let mut one_of = |open: &[u64]| {
        let index = reduce(random.next().expect("endless"), open.len() as u64);
        usize::try_from(index).expect("below the length")
    };
    println!("   open     bytes  bits per session  predicted rate");
    for (step, session) in keys::random(42).enumerate() {
        let slots = sessions.num_slots();
        sessions.insert(&session)?;
        open.push(session);
        if sessions.num_slots() > slots {
            report(&sessions);
        }
        // Every third session is closed soon.
        if step % 3 == 0 {
            let closed = open.swap_remove(one_of(&open));
            assert!(sessions.remove(&closed), "every open session can be closed");
        }
        if open.len() == MOST_OPEN {
            break;
        }
    }
    report(&sessions);
    assert!(open.iter().all(|session| sessions.contains(session)), "no open session is lost");

    let asked = 200_000;
    let found = keys::random(43).take(asked).filter(|session| sessions.contains(session)).count();
    println!("{found} of {asked} sessions that were never opened are found");
    assert!(found < asked / 100, "the rate is below the promised one before the greatest size");

    // In the evening most sessions are closed.
    while open.len() > 1_000 {
        let closed = open.swap_remove(one_of(&open));
        assert!(sessions.remove(&closed));
    }
    sessions.shrink_to_fit()?;
    report(&sessions);
    assert!(open.iter().all(|session| sessions.contains(session)));
    Ok(())
}

fn report(sessions: &QuotientFilter) {
    let (len, bytes) = (sessions.len(), sessions.size_in_bytes());
    let bits = 8.0 * bytes as f64 / len as f64;
    println!("{len:>7} {bytes:>9} {bits:>17.2} {:>14.5} %", 100.0 * sessions.false_positive_rate());
}
