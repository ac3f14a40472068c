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
