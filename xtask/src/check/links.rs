//! Links between documents: every file and every heading that a document points to exists, and so does every document that a
//! source names.

use super::files;
use crate::process::{Outcome, root};
use std::fs;
use std::path::Path;

/// Checks the links of all documents, and the paths of documents in all sources.
///
/// # Errors
/// If one leads nowhere, or a file cannot be read.
pub(crate) fn compare() -> Outcome {
    let mut wrong = Vec::new();
    for path in files::with_extension("md")? {
        let text = fs::read_to_string(&path)?;
        let folder = path.parent().unwrap_or(&path);
        let links = targets(&text).filter(|target| !leads_somewhere(&path, folder, target));
        wrong.extend(links.map(|target| format!("{}: no {target}", files::shown(&path))));
        wrong.extend(missing(&path, &text));
    }
    for path in files::with_extension("rs")? {
        wrong.extend(missing(&path, &fs::read_to_string(&path)?));
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n").into()) }
}

/// Returns the targets of the links to files and headings, `[text](target)` or `srcset="target"`. Paths of Rust items are no files.
fn targets(text: &str) -> impl Iterator<Item = &str> {
    let closed = |start: &'static str, end: char| {
        text.split(start)
            .skip(1)
            .filter_map(move |rest| rest.split_once(end))
            .map(|(target, _)| target)
    };
    closed("](", ')')
        .chain(closed("src=\"", '"'))
        .chain(closed("srcset=\"", '"'))
        .filter(|target| !target.contains("::") && !target.contains("://"))
}

fn leads_somewhere(document: &Path, folder: &Path, target: &str) -> bool {
    let (file, heading) =
        target.split_once('#').map_or((target, None), |(file, heading)| (file, Some(heading)));
    let path = if file.is_empty() { document.to_owned() } else { folder.join(file) };
    match heading {
        None => path.exists(),
        Some(heading) => fs::read_to_string(path).is_ok_and(|text| has_heading(&text, heading)),
    }
}

/// Whether a heading has this anchor: small letters, hyphens for blanks, no other signs.
fn has_heading(text: &str, anchor: &str) -> bool {
    let kept = |letter: char| letter.is_alphanumeric() || letter == '-';
    let anchor_of = |line: &str| {
        let words = line.trim_start_matches('#').trim().to_lowercase().replace(' ', "-");
        words.chars().filter(|&letter| kept(letter)).collect::<String>()
    };
    text.lines().any(|line| line.starts_with('#') && anchor_of(line) == anchor)
}

/// Returns a complaint for every document that a text names, by its path in the workspace, and that does not exist.
fn missing(path: &Path, text: &str) -> Vec<String> {
    let complaint = |name: &str| format!("{}: no {name}", files::shown(path));
    documents(text)
        .filter(|name| !root().join(name).exists())
        .map(|name| complaint(&name))
        .collect()
}

/// Returns the paths `docs/....md` in a text.
fn documents(text: &str) -> impl Iterator<Item = String> {
    let in_name = |letter: char| letter.is_ascii_alphanumeric() || "-_/".contains(letter);
    text.split("`docs/").skip(1).filter_map(move |rest| {
        let (name, _) = rest.split_once(".md")?;
        (!name.is_empty() && name.chars().all(in_name)).then(|| format!("docs/{name}.md"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_to_files_are_told_from_others() {
        let text =
            "[a](docs/a.md) [b](https://b) [c](hash::Mixed)\n<img srcset=\"d.svg\"> [e](#top)";
        assert_eq!(targets(text).collect::<Vec<_>>(), ["docs/a.md", "#top", "d.svg"]);
    }

    #[test]
    fn links_lead_to_files_and_headings() {
        let folder = root();
        let document = folder.join("README.md");
        let leads = |target| leads_somewhere(&document, &folder, target);
        assert!(
            leads("docs/cases.md") && leads("crates/hll") && leads("docs/choosing.md#how-large")
        );
        assert!(!leads("docs/none.md") && !leads("docs/choosing.md#none") && !leads("#none"));
    }

    #[test]
    fn documents_are_found_in_sources() {
        let source = "/// `docs/format.md` and `docs/design/hll.md`, not 'docs/*.md'.";
        assert_eq!(documents(source).collect::<Vec<_>>(), ["docs/format.md", "docs/design/hll.md"]);
    }
}
