//! Real keys: words, domain names and lines of an access log, which no one made up for a test, or a user's own.

use crate::process::root;
use alloc::collections::BTreeMap;
use pds_testkit::keys;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Where real keys are looked for, seen from the root of the workspace.
const BESIDE: &str = "../shared/data";

/// The bytes that are read of a file: a million keys of usual length, and seconds of a run.
const MOST_BYTES: u64 = 16 << 20;
/// One half of the keys is stored and the other half asked for: of fewer, too little would be left.
const LEAST_KEYS: usize = 100;
/// The form of a folder of real keys, for the errors.
const EXPECTED: &str = "expected is a folder of text files with one key per line";

/// A kind of real text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Text {
    Words,
    Domains,
    LogLines,
    /// The lines of a file that goes by its own name.
    File(&'static str),
}

impl Text {
    /// The kinds that are compiled in, with their samples.
    const SAMPLES: [(Self, &'static str); 3] = [
        (Self::Words, include_str!("../../data/words.txt")),
        (Self::Domains, include_str!("../../data/domains.txt")),
        (Self::LogLines, include_str!("../../data/log-lines.txt")),
    ];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Words => "words",
            Self::Domains => "domains",
            Self::LogLines => "log lines",
            Self::File(name) => name,
        }
    }

    /// The kind of keys in a file of this name.
    fn of(file: &str) -> Self {
        match file {
            "words-american-english.txt" => Self::Words,
            "opendns-top-domains.txt" | "opendns-random-domains.txt" => Self::Domains,
            "apache-access-10k.log" => Self::LogLines,
            // Names of keys are static everywhere; a run has a few of these, and needs them to its end.
            name => Self::File(Box::leak(Box::<str>::from(name))),
        }
    }
}

/// The real keys of a run.
#[derive(Debug)]
pub(crate) struct Corpus {
    /// Where they come from, for the report.
    pub(crate) source: String,
    texts: BTreeMap<Text, Vec<String>>,
}

impl Corpus {
    /// Reads a folder of data files, the one beside the workspace when none is named, or the compiled-in sample when
    /// that is absent too.
    ///
    /// # Errors
    /// When a folder was named and cannot be read, or holds no files of keys; the message names the path.
    pub(crate) fn load(named: Option<&Path>) -> Result<Self, String> {
        match named {
            Some(folder) => Self::read(folder, folder.display().to_string()),
            None => Ok(Self::beside_the_workspace().unwrap_or_else(|_| Self::sample())),
        }
    }

    /// The keys that are compiled in: a thousand lines of each kind or fewer.
    pub(crate) fn sample() -> Self {
        let texts = Text::SAMPLES.map(|(text, sample)| (text, distinct(lines(sample))));
        Self { source: "built-in sample".to_owned(), texts: texts.into() }
    }

    fn beside_the_workspace() -> Result<Self, String> {
        Self::read(&root().join(BESIDE), BESIDE.to_owned())
    }

    fn read(folder: &Path, source: String) -> Result<Self, String> {
        let unreadable = |path: &Path, error| format!("{}: {error}; {EXPECTED}", path.display());
        let mut texts: BTreeMap<Text, Vec<String>> = BTreeMap::new();
        for (name, path) in files(folder).map_err(|error| unreadable(folder, error))? {
            let text = read_text(&path).map_err(|error| unreadable(&path, error))?;
            texts.entry(Text::of(&name)).or_default().extend(lines(&text));
        }
        texts = texts.into_iter().map(|(text, keys)| (text, distinct(keys))).collect();
        if texts.is_empty() {
            return Err(format!("{}: no file of keys; {EXPECTED}", folder.display()));
        }
        match texts.iter().find(|(_, keys)| keys.len() < LEAST_KEYS) {
            Some((text, keys)) => Err(format!(
                "{}: {} different lines of {}, and {LEAST_KEYS} are the least; {EXPECTED}",
                folder.display(),
                keys.len(),
                text.name(),
            )),
            None => Ok(Self { source, texts }),
        }
    }

    /// The kinds of keys there are.
    pub(crate) fn kinds(&self) -> impl Iterator<Item = Text> {
        self.texts.keys().copied()
    }

    /// The number of distinct keys of a kind.
    pub(crate) fn len(&self, text: Text) -> u64 {
        self.texts[&text].len() as u64
    }

    /// All keys of a kind in the random order that `seed` selects.
    pub(crate) fn shuffled(&self, text: Text, seed: u64) -> Vec<String> {
        let mut tagged: Vec<(u64, &String)> = keys::random(seed).zip(&self.texts[&text]).collect();
        tagged.sort_unstable();
        tagged.into_iter().map(|(_, key)| key.clone()).collect()
    }
}

/// The files of keys in a folder, by name, in the order of their names: all but hidden ones and those that describe
/// the others.
fn files(folder: &Path) -> io::Result<BTreeMap<String, PathBuf>> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_file() && !name.starts_with('.') && !name.starts_with("README") {
            files.insert(name, path);
        }
    }
    Ok(files)
}

/// Reads the whole lines among the first [`MOST_BYTES`] of a file.
fn read_text(path: &Path) -> io::Result<String> {
    let mut bytes = Vec::new();
    File::open(path)?.take(MOST_BYTES).read_to_end(&mut bytes)?;
    if bytes.len() as u64 == MOST_BYTES {
        let end = bytes.iter().rposition(|&byte| byte == b'\n').unwrap_or_default();
        bytes.truncate(end);
    }
    String::from_utf8(bytes).map_err(|_| io::Error::other("no text in UTF-8"))
}

/// The lines that are not empty.
fn lines(text: &str) -> impl Iterator<Item = String> {
    text.lines().filter(|line| !line.is_empty()).map(str::to_owned)
}

fn distinct(keys: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut keys: Vec<String> = keys.into_iter().collect();
    keys.sort_unstable();
    keys.dedup();
    keys
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder of its own for each test, gone when the test ends.
    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str, files: &[(&str, &[u8])]) -> Self {
            let folder = std::env::temp_dir().join(format!("pds-{name}-{}", std::process::id()));
            fs::create_dir_all(&folder).unwrap();
            for (file, bytes) in files {
                fs::write(folder.join(file), bytes).unwrap();
            }
            Self(folder)
        }

        fn load(&self) -> Result<Corpus, String> {
            Corpus::load(Some(&self.0))
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    fn numbered(count: usize) -> Vec<u8> {
        (0..count).map(|number| format!("key {number}\n")).collect::<String>().into_bytes()
    }

    #[test]
    fn the_sample_holds_enough_distinct_keys_of_each_kind() {
        let sample = Corpus::sample();
        assert_eq!(sample.kinds().count(), 3);
        for text in sample.kinds() {
            assert!(sample.len(text) >= 400, "{}: {}", text.name(), sample.len(text));
        }
    }

    #[test]
    fn a_shuffle_keeps_every_key_and_depends_on_its_seed() {
        let sample = Corpus::sample();
        let (one, two) = (sample.shuffled(Text::Words, 1), sample.shuffled(Text::Words, 2));
        assert_ne!(one, two);
        assert_eq!(distinct(one.clone()), distinct(two));
        assert_eq!(one, sample.shuffled(Text::Words, 1));
    }

    #[test]
    fn every_file_of_a_folder_is_a_list_of_keys_by_its_own_name_or_a_known_one() {
        let (few, many) = (numbered(100), numbered(300));
        let folder = Folder::new(
            "lists",
            &[
                ("urls.txt", &[&many[..], b"\n\nkey 7\n"].concat()),
                ("opendns-top-domains.txt", &few),
                ("opendns-random-domains.txt", &many),
                ("README.md", b"what the others are"),
                (".hidden", b"\xff"),
            ],
        );
        let corpus = folder.load().unwrap();
        let found: Vec<_> = corpus.kinds().map(|text| (text.name(), corpus.len(text))).collect();
        assert_eq!(found, [("domains", 300), ("urls.txt", 300)]);
    }

    #[test]
    fn a_large_file_is_read_up_to_its_last_whole_line() {
        let mut bytes = numbered(1_000);
        let whole = bytes.len();
        bytes.resize(usize::try_from(MOST_BYTES).unwrap() + 1, b'x');
        let folder = Folder::new("large", &[("large.txt", &bytes)]);
        assert_eq!(folder.load().unwrap().len(Text::File("large.txt")), 1_000);
        assert_eq!(read_text(&folder.0.join("large.txt")).unwrap().len(), whole - 1);
    }

    #[test]
    fn an_error_names_the_path_and_what_is_expected() {
        let cases = [
            (Folder::new("empty", &[]), "no file of keys"),
            (Folder::new("few", &[("few.txt", &numbered(99))]), "99 different lines of few.txt"),
            (Folder::new("bytes", &[("picture.png", b"\x89PNG\r\n")]), "picture.png: no text"),
        ];
        for (folder, reason) in cases {
            let error = folder.load().unwrap_err();
            let path = folder.0.display().to_string();
            assert!(
                error.contains(&path) && error.contains(reason) && error.contains(EXPECTED),
                "{error}"
            );
        }
        let error = Corpus::load(Some(Path::new("no/such/folder"))).unwrap_err();
        assert!(error.starts_with("no/such/folder: ") && error.contains(EXPECTED), "{error}");
    }
}
