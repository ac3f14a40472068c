//! Answers of golden files, for readers in other languages.

/// A golden file, and its answers.
#[derive(Clone, Copy, Debug)]
pub struct Golden<'a> {
    /// The name of the file.
    pub file: &'a str,
    /// The secret key that the file lacks, as hex digits.
    pub key: &'a str,
    /// The type of the keys that were asked for: `u64`, or `text` for `key-0`, `key-1`, ...
    pub keys: &'a str,
    /// The answers for the keys from 0 on.
    pub answers: &'a [bool],
}

/// Returns the contents of the file `golden.json` about these files.
pub fn manifest<'a>(all: impl IntoIterator<Item = Golden<'a>>) -> String {
    let entry = |golden: Golden<'_>| {
        let Golden { file, key, keys, answers } = golden;
        let (asked, answers) = (answers.len(), hex_of_bits(answers));
        format!(
            r#"{{"file": "{file}", "key": "{key}", "keys": "{keys}", "asked": {asked}, "answers": "{answers}"}}"#
        )
    };
    format!("[\n{}\n]\n", all.into_iter().map(entry).collect::<Vec<_>>().join(",\n"))
}

fn hex_of_bits(bits: &[bool]) -> String {
    let byte = |chunk: &[bool]| chunk.iter().rev().fold(0, |byte, &bit| 2 * byte + u8::from(bit));
    bits.chunks(8).map(|chunk| format!("{:02x}", byte(chunk))).collect()
}
