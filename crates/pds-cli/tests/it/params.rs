use crate::tool::{Folder, command};
use pds_testkit::program::{answer, expect_unread};
use std::path::Path;
use std::process::Command;

#[test]
fn the_calculator_answers_and_refuses() {
    let folder = Folder::new();
    let answer = folder.pds("params --items 1e6 --rate 1%").ok();
    assert!(
        answer.contains("1.14 MiB") && answer.contains("Recommended: standard Bloom filter"),
        "{answer}"
    );
    assert!(
        folder.pds("params --items 1e6").failed().contains("two of --items, --rate and --memory")
    );
}

fn tool(line: &str) -> Command {
    let mut command = command(Path::new("."));
    command.args(line.split_whitespace());
    command
}

/// The exit status does not depend on the reader.
#[test]
fn case_43_a_reader_that_leaves_is_no_error() {
    let lines = [
        ("params --items 1e6 --rate 1%", 0),
        ("params --published", 0),
        ("params --help", 0),
        ("params --items 1e6 --rate 2", 2),
        ("params --items 1e6", 2),
    ];
    for (line, status) in lines {
        expect_unread(&mut tool(line), status);
    }
}

/// Every option that takes a number, with `{}` in place of the number.
const QUESTIONS: [&str; 25] = [
    "params --items {} --rate 1%",
    "params --items 1e6 --rate {}",
    "params --items {} --memory 1KiB",
    "params --items 1e6 --memory {}",
    "params --memory {} --rate 1%",
    "params --memory 1KiB --rate {}",
    "params --memory {}",
    "params --memory 64KiB --delta {}",
    "params --epsilon {} --delta 1%",
    "params --epsilon 0.001 --delta {}",
    "params --epsilon {} --memory 64KiB",
    "params --epsilon 0.001 --memory {}",
    "params --width {} --depth 5",
    "params --width 2000 --depth {}",
    "params --epsilon {} --items 10e6 --total 1e9",
    "params --epsilon 0.001 --items {} --total 1e9",
    "params --epsilon 0.001 --items 10e6 --total {}",
    "params --error {}",
    "params --error {} --items 1e9",
    "params --error 1% --items {} --overlap",
    "params --precision {}",
    "params --precision 12 --items {}",
    "params --share {}",
    "params --share {} --memory 64KiB",
    "params --share 1% --memory {}",
];

const ABSURD: [&str; 13] = [
    "0",
    "1",
    "2",
    "-1",
    "1e18",
    "18446744073709551615",
    "1e400",
    "1e-300",
    "NaN",
    "inf",
    "100%",
    "1TiB",
    "ten",
];

/// An absurd question gets an answer with numbers, or an error that says what is allowed. Both come soon.
#[test]
fn case_44_absurd_numbers_get_an_answer_or_an_error_that_says_what_is_allowed() {
    let allowed = [
        "must be",
        "is not",
        "at least",
        "at most",
        "the least",
        "at the least",
        "take",
        "invalid",
    ];
    for line in
        QUESTIONS.iter().flat_map(|question| ABSURD.map(|value| question.replace("{}", value)))
    {
        let (succeeds, text) = answer(&mut tool(&line));
        assert!(!text.contains("panicked"), "{line}: {text}");
        if succeeds {
            for none in ["NaN", "inf ", "inf\n", "is 0, but"] {
                assert!(!text.contains(none), "{line}: {none} in {text}");
            }
        } else {
            assert!(allowed.iter().any(|word| text.contains(word)), "{line}: {text}");
        }
    }
}

#[test]
fn case_44_too_little_memory_is_an_error_that_says_the_least() {
    for (line, least) in [
        ("params --items 1e6 --memory 10", "at least 4,944 bytes for 1,000,000 keys"),
        (
            "params --items 1e18 --memory 1KiB",
            "bytes (40.4 PiB) for 1,000,000,000,000,000,000 keys",
        ),
    ] {
        let (succeeds, text) = answer(&mut tool(line));
        assert!(!succeeds && text.contains(least), "{line}: {text}");
    }
    let (succeeds, text) = answer(&mut tool("params --items 1e6 --memory 64KiB"));
    assert!(
        succeeds && !text.contains(" 100 %") && text.contains("No cuckoo filter: it takes"),
        "{text}"
    );
}
