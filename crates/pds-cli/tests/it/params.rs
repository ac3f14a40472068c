use crate::tool::Folder;

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
