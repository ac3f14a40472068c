//! Keys: bytes that hash as text does.

use core::hash::{Hash, Hasher};
use pds::hash::{DefaultHashBuilder, KeyHasher};

/// The bytes of a key. They hash as the `str` with these bytes, UTF-8 or not.
///
/// So `filter.contains("text")` in Rust finds a line that this tool inserted, and the other way round.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Key<'a>(pub(crate) &'a [u8]);

impl Hash for Key<'_> {
    #[inline]
    fn hash<H: Hasher>(&self, state: &mut H) {
        // What `str` writes, on every version of Rust that the golden files of this workspace cover.
        state.write(self.0);
        state.write_u8(0xff);
    }
}

/// Returns the hash of a key by the default hasher, which every structure of this tool has.
#[inline]
pub(crate) fn hash(bytes: &[u8]) -> u64 {
    DefaultHashBuilder::default().hash_key(&Key(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_hashes_as_the_text_that_it_is() {
        for text in
            ["", "a", "naïve", "a line of a log, longer than any short path of the hash function"]
        {
            assert_eq!(hash(text.as_bytes()), DefaultHashBuilder::default().hash_key(text));
        }
    }
}
