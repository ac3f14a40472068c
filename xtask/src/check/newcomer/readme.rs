//! The blocks of a README: manifests and examples.

use core::error::Error;
use core::fmt::Write;
use std::path::Path;
use std::{fs, io};

/// The text of a README.
#[derive(Debug)]
pub(super) struct Readme(String);

impl Readme {
    /// Reads the README in a folder.
    ///
    /// # Errors
    /// If there is none.
    pub(super) fn of(folder: &Path) -> io::Result<Self> {
        fs::read_to_string(folder.join("README.md")).map(Self)
    }

    /// Returns the examples that run: all Rust except examples that must not compile.
    pub(super) fn examples(&self) -> Vec<String> {
        self.blocks("rust").map(visible).collect()
    }

    /// Returns the examples that use this crate.
    pub(super) fn examples_of(&self, name: &str) -> Vec<String> {
        let mut examples = self.examples();
        examples.retain(|example| example.contains(&format!("use {name}::")));
        examples
    }

    /// Returns the dependencies of all manifests: those of a user with a copy of the workspace beside the package.
    ///
    /// # Errors
    /// If there is no manifest.
    pub(super) fn dependencies(&self, root: &Path) -> Result<String, Box<dyn Error>> {
        let lines = self.blocks("toml").flat_map(str::lines);
        let lines: Vec<_> = lines.filter(|line| line.contains(" = {")).collect();
        if lines.is_empty() {
            return Err("the README shows no dependency".into());
        }
        let text = lines.join("\n").replace("\"../pds/", &format!("\"{}/", root.display()));
        Ok(text + "\n")
    }

    /// Lists the contents of the fenced blocks of a language.
    fn blocks<'a>(&'a self, language: &'a str) -> impl Iterator<Item = &'a str> {
        let mut parts = self.0.split("\n```").skip(1);
        core::iter::from_fn(move || {
            let block = parts.next()?;
            // Between two blocks is the text that follows the end of the first.
            parts.next();
            Some(block)
        })
        .filter_map(move |block| {
            let (found, content) = block.split_once('\n')?;
            (found == language).then_some(content)
        })
    }
}

/// Removes the marks of lines that documentation hides.
fn visible(block: &str) -> String {
    let unmarked = |line: &str| line.strip_prefix("# ").unwrap_or(line).to_owned() + "\n";
    block.lines().filter(|&line| line != "#").map(unmarked).collect()
}

/// Returns a program that runs the examples one after the other.
pub(super) fn program(examples: &[String]) -> String {
    let mut program = String::from("fn main() {\n");
    for example in examples {
        // The type of its error is that of the example, if it states one.
        let end = match example {
            whole if whole.contains("fn main()") => "main()\n",
            tail if tail.trim_end().ends_with("(())") => "",
            _ => "Ok::<(), Box<dyn std::error::Error>>(())\n",
        };
        let _ = write!(program, "(|| {{\n{example}{end}}})().unwrap();\n");
    }
    program + "}\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "Text\n```rust\nuse a::B;\n# hidden()?;\n# Ok::<(), E>(())\n```\nMore\n```toml\n\
        [dependencies]\na = { path = \"../pds/crates/a\" }\n```\n```rust\nuse c::D;\n```\n```rust,compile_fail\nno\n```\n";

    #[test]
    fn blocks_are_told_apart() {
        let readme = Readme(TEXT.to_owned());
        let first = "use a::B;\nhidden()?;\nOk::<(), E>(())\n";
        assert_eq!(readme.examples(), [first, "use c::D;\n"]);
        assert_eq!(readme.examples_of("c"), ["use c::D;\n"]);
        let dependencies = readme.dependencies(Path::new("/copy")).unwrap();
        assert_eq!(dependencies, "a = { path = \"/copy/crates/a\" }\n");
    }

    #[test]
    fn every_example_returns_a_result() {
        let examples = ["use a::B;\nOk::<(), E>(())\n", "f()?;\n", "fn main() -> R {\n}\n"];
        let program = program(&examples.map(str::to_owned));
        assert_eq!(program.matches("Ok::<").count(), 2);
        assert_eq!(program.matches(".unwrap()").count(), 3);
        assert!(program.contains("}\nmain()\n})()"));
    }
}
