use crate::tool::Folder;

#[test]
fn few_lines_are_counted_exactly() {
    let folder = Folder::new();
    let text: String = (0..5_000).map(|i| format!("{}\n", i % 1_234)).collect();
    let found = folder.pipe("distinct --exact --format csv", &text).ok();
    assert_eq!(found, "distinct,at_least,at_most,lines,exact\n1234,1234,1234,5000,1234\n");
    assert_eq!(
        folder.pipe("distinct --format json", "a\n").ok(),
        "{\"at_least\":1,\"at_most\":1,\"distinct\":1,\"lines\":1}\n"
    );
    assert!(folder.pipe("distinct", "").ok().lines().last().unwrap().trim_start().starts_with('0'));
}

#[test]
fn many_lines_are_estimated_with_an_interval_that_holds_the_truth() {
    let folder = Folder::new();
    let text: String = (0..300_000).map(|i| format!("{i}\n")).collect();
    for (options, error) in [("", 0.0082), (" --error 3%", 0.03), (" --error 0.3%", 0.003)] {
        let found =
            folder.pipe(&format!("distinct --confidence 99.9% --format csv{options}"), &text).ok();
        let numbers: Vec<f64> =
            found.lines().nth(1).unwrap().split(',').map(|n| n.parse().unwrap()).collect();
        assert!(numbers[1] <= 3e5 && 3e5 <= numbers[2], "{found}");
        assert!((numbers[0] / 3e5 - 1.0).abs() < 4.0 * error, "{found}");
        assert_eq!(numbers[3], 3e5);
    }
}

#[test]
fn groups_are_counted_apart_and_sorted() {
    let folder = Folder::new();
    let text: String =
        (0..3_000).map(|i| format!("{} {}\n", ["x", "y", "z"][i % 3], i % 90)).collect();
    let found = folder
        .run("distinct|-d| |-f|2|--by|1|--exact|--format|csv".split('|'), text.as_bytes())
        .ok();
    assert_eq!(
        found,
        "group,distinct,at_least,at_most,lines,exact\nx,30,30,30,1000,30\ny,30,30,30,1000,30\nz,30,30,30,1000,30\n"
    );
}
