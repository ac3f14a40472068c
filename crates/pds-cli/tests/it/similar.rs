use crate::tool::Folder;

const TEXT: &str =
    "the quick brown fox jumps over the lazy dog and runs away into the dark wood behind the hill";

#[test]
fn near_duplicates_are_found_and_others_are_not() {
    let folder = Folder::new();
    let other = "a paper about the frequencies of words in seven languages, with tables and a long appendix";
    let text = format!("{TEXT}\n{other}\n{TEXT}!\n{}\n", TEXT.replace("fox", "box"));
    let found = folder.pipe("similar --recall 99.9% --threshold 70% --format csv", &text).ok();
    let pairs: Vec<_> = found
        .lines()
        .skip(1)
        .map(|line| line.split(',').take(2).collect::<Vec<_>>().join("-"))
        .collect();
    assert_eq!(pairs, ["1-3", "1-4", "3-4"], "{found}");
    assert!(found.lines().nth(1).unwrap().ends_with(&format!("{TEXT},{TEXT}!")));
}

#[test]
fn whole_files_are_documents() {
    let folder = Folder::new();
    let long =
        |word: &str| (0..400).map(|i| format!("{word}{} ", i * 7 % 1_000)).collect::<String>();
    folder.write("a", long("x")).write("b", long("x") + "end").write("c", long("y"));
    let found = folder.pds("similar --files --shingle words:2 --format csv a b c").ok();
    assert!(found.starts_with("left,right,similarity,at_least,at_most\na,b,"), "{found}");
    assert_eq!(found.lines().count(), 2);
}

/// Pairs of documents that share 8 of 10 words: their Jaccard index is the threshold.
fn pairs_at_the_threshold(pairs: u32) -> String {
    let line = |pair: u32, last: &str| {
        let words: String = (0..8).map(|word| format!("w{pair}x{word} ")).collect();
        format!("{words}{pair}{last}\n")
    };
    (0..pairs).map(|pair| line(pair, "left") + &line(pair, "right")).collect()
}

/// 95 % of 1,000 are 950. A recall of 95 % would give less than 924 once in 10,000 data sets.
#[test]
fn pairs_at_the_threshold_are_listed_with_the_probability_that_is_promised() {
    let folder = Folder::new();
    let text = pairs_at_the_threshold(1_000);
    let found = folder.pipe("similar --shingle words:1 --format csv", &text).ok();
    let right = |line: &&str| {
        let numbers: Vec<u32> = line.split(',').take(2).map(|cell| cell.parse().unwrap()).collect();
        numbers[0] % 2 == 1 && numbers[1] == numbers[0] + 1
    };
    let listed = found.lines().skip(1).filter(right).count();
    assert!(listed >= 924, "{listed} of 1,000");
    let found = folder.pipe("similar --shingle words:1 --recall 50% --format csv", &text).ok();
    assert!(found.lines().count() > 450, "{}", found.lines().count());
}

#[test]
fn copies_are_listed_once_each() {
    let folder = Folder::new();
    let text = format!("{TEXT}\n").repeat(5_000) + TEXT + "!\n\n\n";
    let found = folder.pipe("similar --recall 99.9% --format csv", &text).ok();
    assert_eq!(
        found.lines().count(),
        1 + 4_999 + 1,
        "each copy, and the one that is like all of them"
    );
    assert!(found.lines().nth(1).unwrap().starts_with("1,2,1,1,1,"), "{}", &found[..200]);
    assert!(found.lines().last().unwrap().starts_with("1,5001,"));
    let run = folder.pipe("similar --max-pairs 1k --format csv", &text);
    assert!(run.failed().contains("more than the 1,000 pairs that --max-pairs allows"));
}

#[test]
fn documents_of_several_files_are_named_by_file_and_line() {
    let folder = Folder::new();
    folder.write("a", format!("other words\nbad\n{TEXT}\n")).write("b", format!("\n{TEXT}\n"));
    let found = folder.pds("similar --format csv a b").ok();
    assert!(found.lines().nth(1).unwrap().starts_with("a:3,b:2,1,1,1,"), "{found}");
    // Records that are left out count.
    folder.write("c", format!("x\t{TEXT}\nbad\ny\t{TEXT}\n"));
    let found = folder.pds("similar --format csv -f 2 --skip-bad c").ok();
    assert!(found.lines().nth(1).unwrap().starts_with("1,3,1,1,1,"), "{found}");
}
