use crate::tool::Folder;

fn skewed() -> String {
    (1..=200).flat_map(|i| core::iter::repeat_n(format!("word{i}\n"), 2_000 / i)).collect()
}

#[test]
fn the_first_ones_and_their_counts() {
    let folder = Folder::new();
    let found = folder.pipe("top -n 3 --format csv", skewed()).ok();
    assert_eq!(
        found
            .lines()
            .map(|line| line.split(',').take(3).collect::<Vec<_>>().join(" "))
            .collect::<Vec<_>>(),
        ["line at_least at_most", "word1 2000 2000", "word2 1000 1000", "word3 666 666"]
    );
    assert!(found.lines().skip(1).all(|line| line.ends_with(",true")));
}

/// With fewer counters than lines bounds come apart, and still hold.
#[test]
fn bounds_hold_in_little_memory() {
    let folder = Folder::new();
    let found = folder.pipe("top -n 2 --capacity 20 --format csv", skewed()).ok();
    for (line, truth) in found.lines().skip(1).zip([2_000, 1_000]) {
        let cells: Vec<_> = line.split(',').collect();
        let [least, most] = [1, 2].map(|cell| cells[cell].parse::<u64>().unwrap());
        assert!(least <= truth && truth <= most, "{line}");
    }
}

#[test]
fn no_line_above_a_share_is_missed() {
    let folder = Folder::new();
    let text = skewed();
    let total = text.lines().count();
    let found = folder.pipe("top --share 5% --format json", &text).ok();
    let above = (1..=200).take_while(|i| 2_000 / i > total / 20).count();
    assert_eq!(found.lines().count(), above);
    assert!(found.lines().all(|line| line.contains("\"certain\":true")), "{found}");
    assert!(
        folder.pipe("top -n 1 --format json", b"\xff\xfe\n").ok().contains("\"line_hex\":\"fffe\"")
    );
}

/// Every number that is a capacity is one, and the default fits what is asked.
#[test]
fn capacities_fit() {
    let folder = Folder::new();
    for options in ["--capacity 49 -n 1", "-n 10001", "--share 0.0009%", "--capacity 2 -n 1"] {
        let found = folder.pipe(&format!("top {options} --format csv"), "a\na\n").ok();
        assert!(found.contains("a,2,2,1,true"), "{options}: {found}");
    }
    let error = folder.pipe("top --share 1% --capacity 50", "a\n").failed();
    assert!(error.contains("capacity is 50, but must be from 100"), "{error}");
}
