//! Values of JSON, as they are written: no number is rounded.

use alloc::collections::BTreeMap;
use serde_json::value::RawValue;
use std::collections::HashMap;

/// The deepest nesting of a value that is a key.
const MOST_DEPTH: u32 = 128;

/// Finds the value at a pointer (RFC 6901). Of equal names in an object the last one counts.
pub(super) fn find<'a>(document: &'a RawValue, pointer: &str) -> Option<&'a RawValue> {
    let tokens =
        pointer.split('/').skip(1).map(|token| token.replace("~1", "/").replace("~0", "~"));
    tokens.into_iter().try_fold(document, |value, token| {
        let text = value.get();
        if text.starts_with('{') {
            let members: HashMap<String, &RawValue> = serde_json::from_str(text).ok()?;
            return members.get(&token).copied();
        }
        let is_index = token == "0" || token.starts_with(|first: char| matches!(first, '1'..='9'));
        let place: usize = token.parse().ok().filter(|_| is_index)?;
        // Only arrays have elements.
        let elements: Vec<&RawValue> = serde_json::from_str(text).ok()?;
        elements.get(place).copied()
    })
}

/// Returns the contents of a string, or `None` of another value.
pub(super) fn string(value: &RawValue) -> Option<String> {
    if value.get().starts_with('"') { serde_json::from_str(value.get()).ok() } else { None }
}

/// Whether a text is JSON itself.
pub(super) fn is_json(text: &str) -> bool {
    serde_json::from_str::<&RawValue>(text).is_ok()
}

/// The message of an error in a document of one line. The line is named elsewhere.
pub(super) fn error(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let what = text.split(" at line ").next().unwrap_or(&text);
    format!("is not JSON: {what} in column {}", error.column())
}

/// Appends a value in one form: without blanks, members sorted by name, strings with the escapes that they need. Numbers are as they
/// are written.
///
/// # Errors
/// If the value is nested too deeply, or a string is no text.
pub(super) fn append(text: &mut Vec<u8>, value: &RawValue) -> Result<(), String> {
    append_nested(text, value, MOST_DEPTH)
}

fn append_nested(text: &mut Vec<u8>, value: &RawValue, depth: u32) -> Result<(), String> {
    let wrong = |error| self::error(&error);
    let left = depth
        .checked_sub(1)
        .ok_or_else(|| format!("is nested more than {MOST_DEPTH} times below the pointer"))?;
    let json = value.get();
    match json.as_bytes()[0] {
        b'{' => {
            let members: BTreeMap<String, &RawValue> = serde_json::from_str(json).map_err(wrong)?;
            text.push(b'{');
            for (index, (name, member)) in members.into_iter().enumerate() {
                if index > 0 {
                    text.push(b',');
                }
                append_string(text, &name);
                text.push(b':');
                append_nested(text, member, left)?;
            }
            text.push(b'}');
        }
        b'[' => {
            let elements: Vec<&RawValue> = serde_json::from_str(json).map_err(wrong)?;
            text.push(b'[');
            for (index, element) in elements.into_iter().enumerate() {
                if index > 0 {
                    text.push(b',');
                }
                append_nested(text, element, left)?;
            }
            text.push(b']');
        }
        b'"' => append_string(text, &serde_json::from_str::<String>(json).map_err(wrong)?),
        _ => text.extend_from_slice(json.as_bytes()),
    }
    Ok(())
}

fn append_string(text: &mut Vec<u8>, string: &str) {
    serde_json::to_writer(text, string).expect("a write to memory");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pointers_are_those_of_the_rfc() {
        // The document and the pointers of RFC 6901, section 5, and more.
        let text = r#"{"foo":["bar","baz"],"":0,"a/b":1,"c%d":2,"e^f":3,"g|h":4,"k\"l":6," ":7,"m~n":8,"twice":1,"twice":{"x":[[],9]}}"#;
        let document: &RawValue = serde_json::from_str(text).unwrap();
        for (pointer, value) in [
            ("", Some(text)),
            ("/foo/0", Some("\"bar\"")),
            ("/", Some("0")),
            ("/a~1b", Some("1")),
            ("/k\"l", Some("6")),
            ("/m~0n", Some("8")),
            ("/twice/x/1", Some("9")),
            ("/foo/2", None),
            ("/foo/01", None),
            ("/foo/-", None),
            ("/foo/+1", None),
            ("/foo/0/0", None),
            ("/none", None),
        ] {
            assert_eq!(find(document, pointer).map(RawValue::get), value, "{pointer}");
        }
    }

    #[test]
    fn equal_values_have_one_form_and_no_number_is_rounded() {
        let form = |text: &str| {
            let mut form = Vec::new();
            append(&mut form, serde_json::from_str(text).unwrap())
                .map(|()| String::from_utf8(form).unwrap())
        };
        assert_eq!(
            form(" { \"b\" : [ 1 , {} ] , \"a\" : \"\\u0041\\n\" } ").unwrap(),
            r#"{"a":"A\n","b":[1,{}]}"#
        );
        assert_eq!(form("[123456789012345678901,1.10]").unwrap(), "[123456789012345678901,1.10]");
        let deep = "[".repeat(200) + &"]".repeat(200);
        assert!(form(&deep).unwrap_err().contains("more than 128"));
    }
}
