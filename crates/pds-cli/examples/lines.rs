//! Writes lines for measurements of `pds dedup`: `lines 25000000 10000000` writes 25 million lines, of which 10 million differ.
//!
//! New lines and repeated ones are spread evenly. A repeated line is any of those before, each with the same probability.

use pds::hash::finalize;
use std::env::args;
use std::io::{self, BufWriter, Write};

fn main() -> io::Result<()> {
    let numbers = args().skip(1).map(|text| text.parse::<u64>().expect("a whole number"));
    let numbers: Vec<_> = numbers.collect();
    let (lines, different) = match *numbers {
        [] => (1_000, 400),
        [lines, different] => (lines, different),
        _ => panic!("two numbers: lines, and different ones among them"),
    };
    assert!((1..=lines).contains(&different), "from 1 to {lines} of the lines can differ");
    match write_lines(lines, different) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => written,
    }
}

fn write_lines(lines: u64, different: u64) -> io::Result<()> {
    let mut output = BufWriter::with_capacity(1 << 20, io::stdout().lock());
    let mut written = 0;
    for index in 0..lines {
        let random = finalize(index);
        let is_new = written == 0 || below(random, lines - index) < different - written;
        let line = if is_new { written } else { below(finalize(random), written) };
        written += u64::from(is_new);
        writeln!(output, "https://example.org/{}", finalize(!line))?;
    }
    assert_eq!(written, different, "as many differ as were asked for");
    output.flush()
}

/// A number below `bound`.
fn below(random: u64, bound: u64) -> u64 {
    ((u128::from(random) * u128::from(bound)) >> 64) as u64
}
