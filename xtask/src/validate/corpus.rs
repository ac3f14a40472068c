//! Real keys: words, domain names and lines of an access log, which no one made up for a test.

use crate::process::root;
use pds_testkit::keys;
use std::path::Path;
use std::{fs, io};

/// Where real keys are looked for, seen from the root of the workspace.
const BESIDE: &str = "../shared/data";

/// A kind of real text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Text {
    Words,
    Domains,
    LogLines,
}

impl Text {
    pub(crate) const ALL: [Self; 3] = [Self::Words, Self::Domains, Self::LogLines];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Words => "words",
            Self::Domains => "domains",
            Self::LogLines => "log lines",
        }
    }

    /// The files of a data folder that hold such keys, one a line.
    const fn files(self) -> &'static [&'static str] {
        match self {
            Self::Words => &["words-american-english.txt"],
            Self::Domains => &["opendns-top-domains.txt", "opendns-random-domains.txt"],
            Self::LogLines => &["apache-access-10k.log"],
        }
    }

    /// The sample that is compiled in.
    const fn sample(self) -> &'static str {
        match self {
            Self::Words => include_str!("../../data/words.txt"),
            Self::Domains => include_str!("../../data/domains.txt"),
            Self::LogLines => include_str!("../../data/log-lines.txt"),
        }
    }
}

/// The real keys of a run.
#[derive(Debug)]
pub(crate) struct Corpus {
    /// Where they come from, for the report.
    pub(crate) source: String,
    texts: [Vec<String>; 3],
}

impl Corpus {
    /// Reads a folder of data files, the one beside the workspace when none is named, or the compiled-in sample when
    /// that is absent too.
    ///
    /// # Errors
    /// When a folder was named and one of its files cannot be read.
    pub(crate) fn load(named: Option<&Path>) -> io::Result<Self> {
        match named {
            Some(folder) => Self::read(folder, folder.display().to_string()),
            None => Ok(Self::beside_the_workspace().unwrap_or_else(|_| Self::sample())),
        }
    }

    /// The keys that are compiled in: a thousand lines of each kind or fewer.
    pub(crate) fn sample() -> Self {
        let texts = Text::ALL.map(|text| distinct(text.sample().lines()));
        Self { source: "built-in sample".to_owned(), texts }
    }

    fn beside_the_workspace() -> io::Result<Self> {
        Self::read(&root().join(BESIDE), BESIDE.to_owned())
    }

    fn read(folder: &Path, source: String) -> io::Result<Self> {
        let mut texts = [const { Vec::new() }; 3];
        for (keys, text) in texts.iter_mut().zip(Text::ALL) {
            let mut joined = String::new();
            for file in text.files() {
                joined += &fs::read_to_string(folder.join(file))?;
                joined.push('\n');
            }
            *keys = distinct(joined.lines());
        }
        Ok(Self { source, texts })
    }

    /// The number of distinct keys of a kind.
    pub(crate) fn len(&self, text: Text) -> u64 {
        self.texts[text as usize].len() as u64
    }

    /// All keys of a kind in the random order that `seed` selects.
    pub(crate) fn shuffled(&self, text: Text, seed: u64) -> Vec<String> {
        let mut tagged: Vec<(u64, &String)> =
            keys::random(seed).zip(&self.texts[text as usize]).collect();
        tagged.sort_unstable();
        tagged.into_iter().map(|(_, key)| key.clone()).collect()
    }
}

fn distinct<'a>(lines: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut lines: Vec<String> = lines.filter(|line| !line.is_empty()).map(str::to_owned).collect();
    lines.sort_unstable();
    lines.dedup();
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sample_holds_enough_distinct_keys_of_each_kind() {
        let sample = Corpus::sample();
        for text in Text::ALL {
            assert!(sample.len(text) >= 400, "{}: {}", text.name(), sample.len(text));
        }
    }

    #[test]
    fn a_shuffle_keeps_every_key_and_depends_on_its_seed() {
        let sample = Corpus::sample();
        let (one, two) = (sample.shuffled(Text::Words, 1), sample.shuffled(Text::Words, 2));
        assert_ne!(one, two);
        assert_eq!(
            distinct(one.iter().map(String::as_str)),
            distinct(two.iter().map(String::as_str))
        );
        assert_eq!(one, sample.shuffled(Text::Words, 1));
    }

    #[test]
    fn a_named_folder_that_is_missing_is_an_error() {
        assert!(Corpus::load(Some(Path::new("no/such/folder"))).is_err());
    }
}
