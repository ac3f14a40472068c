//! The exact list of the keys that a structure could not take.

use core::cmp::Ordering;

use pds_core::internal::StoredWord;

/// Returns the index of `hash` in an ascending list.
///
/// If the list is damaged, the answer may be wrong.
#[inline]
pub(crate) fn find<W: StoredWord>(hashes: &[W], hash: u64) -> Option<usize> {
    // The list is almost always empty, and then this is one comparison.
    if hashes.is_empty() {
        return None;
    }
    hashes.binary_search_by(|word| word.value().cmp(&hash)).ok()
}

/// Returns the index of the first hash of a list that is not above the one before.
pub(crate) fn first_unordered<W: StoredWord>(hashes: &[W]) -> Option<usize> {
    let ascends = |pair: &[W]| pair[0].value().cmp(&pair[1].value()) == Ordering::Less;
    hashes.windows(2).position(|pair| !ascends(pair)).map(|index| index + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exactly_the_hashes_of_the_list_are_found() {
        let list = [2, 5, 9, u64::MAX];
        for (index, &hash) in list.iter().enumerate() {
            assert_eq!(find(&list, hash), Some(index));
            assert_eq!(find(&list, hash - 1), None);
        }
        assert_eq!(find::<u64>(&[], 0), None);
    }

    #[test]
    fn a_list_that_does_not_ascend_is_found() {
        assert_eq!(first_unordered::<u64>(&[]), None);
        assert_eq!(first_unordered(&[1, 2, 3]), None);
        assert_eq!(first_unordered(&[1, 2, 2]), Some(2));
        assert_eq!(first_unordered(&[2, 1, 3]), Some(1));
    }
}
