//! A client that checks a filter, and queries the server only for names that it may hold.
//!
//! ```text
//! cargo run --release --example contacts
//! ```
//!
//! The client keeps a filter of the names on the server. A *no* of the filter is final and saves a round trip.
//! Therefore one rule must survive every failure: **each name on the server is in the filter**. An extra name in the
//! filter only costs a needless query. Hence the order: first the server, then the filter. The filter gets the name if
//! the server has agreed, and also if its reply was lost.

mod shared;

use core::error::Error;
use core::fmt;

use pds::error::BuildError;
use pds::{BloomFilter, Typed};
use shared::{
    ExactSet, MEMORY_OF_SETS, ask, assert_rate, grouped, percent, pick, random, size,
    string_set_bytes,
};

const QUOTA: usize = 100_000;
const ADDED: usize = 120_000;
// The quota, and room for names whose reply was lost.
const EXPECTED: u64 = 101_000;
const ADDRESS_BOOK: usize = 1_000_000;
const PROMISE: f64 = 0.01;

fn main() -> Result<(), Box<dyn Error>> {
    pds_testkit::pipe::end_quietly();
    let mut client = Client { filter: empty_filter()?, server: Server::default() };
    let mut tally = Tally::default();
    for name in (0..ADDED).map(user) {
        let result = client.add(&name);
        tally.note(name, &result);
    }
    tally.print();
    client.check(&tally.unsettled)?;
    look_up(&mut client)
}

/// Looks up a large address book with few users, and compares with an exact copy of the names.
fn look_up(client: &mut Client) -> Result<(), Box<dyn Error>> {
    let book = address_book();
    let questions = client.server.questions;
    let found = book.iter().filter(|name| client.has(name)).count();
    let asked = client.server.questions - questions;
    let users = book.iter().filter(|name| client.server.names.contains(*name)).count();
    assert_eq!(found, users, "the filter hides no user");
    println!(
        "An address book of {} names, {} of them users:\n",
        grouped(book.len()),
        grouped(users)
    );
    println!("the client keeps     memory    questions       in vain      a check");
    row("nothing", 0, book.len(), users, 0.0);
    let exact = ask(&book, |name| client.server.names.contains(name));
    row(
        "HashSet<String>",
        string_set_bytes(&client.server.names),
        exact.yes,
        users,
        exact.nanoseconds,
    );
    let guarded = ask(&book, |name| client.filter.contains(name));
    assert_eq!(guarded.yes, asked);
    row("BloomFilter", client.filter.get_ref().size_in_bytes(), asked, users, guarded.nanoseconds);
    conclude(client, asked - users, book.len() - users);
    Ok(())
}

fn row(kept: &str, bytes: u64, questions: usize, users: usize, nanoseconds: f64) {
    println!(
        "{kept:<17} {:>9} {:>12} {:>13} {nanoseconds:>9.0} ns",
        size(bytes),
        grouped(questions),
        grouped(questions - users)
    );
}

fn conclude(client: &Client, vain: usize, strangers: usize) {
    assert_rate(client.filter.get_ref(), vain, strangers);
    println!(
        "\nThe same users found each time. {} of the strangers were asked about in vain, {} were promised.",
        percent(vain as f64 / strangers as f64),
        percent(PROMISE)
    );
    println!(
        "A client with the names themselves asks for users only, and holds everyone's name to do so."
    );
    println!("{MEMORY_OF_SETS}");
}

/// The server, a round trip away.
#[derive(Default)]
struct Server {
    names: ExactSet<String>,
    requests: usize,
    questions: usize,
}

/// The reason why a name may not have been added.
#[derive(Debug, PartialEq)]
enum AddError {
    /// The server is full. It is certain that nothing has changed.
    Full,
    /// No reply came. The server may or may not have the name.
    Lost,
}

impl fmt::Display for AddError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Full => "the server is full",
            Self::Lost => "the server's reply was lost",
        })
    }
}

impl Error for AddError {}

impl Server {
    /// Adds a name. Of a thousand requests one is lost, and for another one the reply is lost.
    fn add(&mut self, name: &str) -> Result<(), AddError> {
        self.requests += 1;
        match self.requests % 1_000 {
            0 => Err(AddError::Lost),
            500 => {
                let _unheard = self.store(name);
                Err(AddError::Lost)
            }
            _ => self.store(name),
        }
    }

    fn store(&mut self, name: &str) -> Result<(), AddError> {
        if self.names.len() == QUOTA {
            return Err(AddError::Full);
        }
        self.names.insert(name.to_owned());
        Ok(())
    }

    fn holds(&mut self, name: &str) -> bool {
        self.questions += 1;
        self.names.contains(name)
    }
}

struct Client {
    filter: Typed<BloomFilter, str>,
    server: Server,
}

impl Client {
    /// Returns whether the server holds `name`. Queries it only if the filter cannot exclude that.
    fn has(&mut self, name: &str) -> bool {
        self.filter.contains(name) && self.server.holds(name)
    }

    /// Adds `name` on both sides. Returns `false` if the server had it already.
    ///
    /// [`AddError::Full`] changes neither side. After [`AddError::Lost`] the name is in the filter. If the server has
    /// it, the rule holds. If not, the filter has one more false positive.
    fn add(&mut self, name: &str) -> Result<bool, AddError> {
        if self.has(name) {
            return Ok(false);
        }
        let reply = self.server.add(name);
        if reply != Err(AddError::Full) {
            self.filter.insert(name);
        }
        reply.map(|()| true)
    }

    /// Checks bit for bit that the filter is that of the names on the server and of the unsettled names. No name is
    /// missing, and no refused name has left a trace.
    fn check(&self, unsettled: &[String]) -> Result<(), BuildError> {
        let mut expected = empty_filter()?;
        expected.extend(self.server.names.iter().chain(unsettled).map(String::as_str));
        assert_eq!(self.filter, expected);
        Ok(())
    }
}

fn empty_filter() -> Result<Typed<BloomFilter, str>, BuildError> {
    Ok(Typed::new(BloomFilter::new(EXPECTED, PROMISE)?))
}

/// The outcomes of the attempts to add a name.
#[derive(Default)]
struct Tally {
    added: usize,
    refused: usize,
    unsettled: Vec<String>,
}

impl Tally {
    fn note(&mut self, name: String, result: &Result<bool, AddError>) {
        match result {
            Ok(new) => self.added += usize::from(*new),
            Err(AddError::Full) => self.refused += 1,
            Err(AddError::Lost) => self.unsettled.push(name),
        }
    }

    fn print(&self) {
        println!(
            "{} people sign up at a server that has room for {}.\n",
            grouped(ADDED),
            grouped(QUOTA)
        );
        println!("{:>9} taken in: on both sides", grouped(self.added));
        println!("{:>9} refused, the server was full: on neither", grouped(self.refused));
        println!(
            "{:>9} without a reply: in the filter, whatever the server did\n",
            grouped(self.unsettled.len())
        );
    }
}

fn user(number: usize) -> String {
    format!("user-{number:06}@mail.example")
}

/// One name in twenty may be that of a user.
fn address_book() -> Vec<String> {
    let users: Vec<_> = (0..ADDED).map(user).collect();
    let name = |(number, random): (usize, u64)| match number % 20 {
        0 => pick(&users, random).clone(),
        _ => format!("person-{random:016x}@mail.example"),
    };
    random(1).enumerate().take(ADDRESS_BOOK).map(name).collect()
}
