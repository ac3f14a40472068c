use crate::tool::Folder;

fn numbers(range: core::ops::Range<u32>) -> String {
    range.map(|i| format!("{i}\n")).collect()
}

#[test]
fn a_structure_survives_compression() {
    let folder = Folder::new();
    for kind in ["bloom", "quotient", "hyper-log-log", "heavy-hitters"] {
        let items = if kind.contains('-') { "" } else { " --items 100000" };
        folder.pipe(&format!("build -o f.pds --kind {kind}{items}"), numbers(0..500)).ok();
        folder.pds("convert f.pds -o c.pds --to compressed").ok();
        folder.pds("convert c.pds -o back.pds --to plain").ok();
        assert!(folder.read("back.pds") == folder.read("f.pds"), "{kind}");
        assert!(folder.pds("verify c.pds").ok().contains("compressed structure"));
        assert!(folder.pds("info c.pds").ok().contains("contents"));
    }
    folder.pipe("build -o f.pds --items 100000", numbers(0..500)).ok();
    folder.pds("convert f.pds -o c.pds --to compressed").ok();
    assert!(folder.read("c.pds").len() * 10 < folder.read("f.pds").len(), "a nearly empty filter");
    assert_eq!(
        folder.pipe("check -c c.pds", numbers(0..500)).ok(),
        "500\n",
        "it is asked as it is"
    );
}

#[test]
fn shells_and_man_know_every_command() {
    let folder = Folder::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let text = folder.pds(&format!("completions {shell}")).ok();
        assert!(["dedup", "similar", "window"].iter().all(|word| text.contains(word)), "{shell}");
    }
    let page = folder.pds("man").ok();
    assert!(page.contains(".TH pds 1") && page.contains("distinct"), "{page}");
    folder.pds("man -o .").ok();
    assert!(folder.names().contains(&"pds-dedup.1".to_owned()), "{:?}", folder.names());
    assert!(String::from_utf8(folder.read("pds-dedup.1")).unwrap().contains("repeated"));
}
