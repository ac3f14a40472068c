//! The promises of `Words`: aligned, zero, lazy, refused without an abort, shared by threads.

#![cfg(feature = "alloc")]

use core::sync::atomic::Ordering::Relaxed;

use pds_core::error::AllocError;
use pds_core::internal::{
    BitWords, Bits, LINE_BYTES, StoredWord, prefetch, reduced_in_row, reduced_in_row_mut, set_bits,
};
use pds_core::storage::{AtomicWords, OwnedWords, WordSource, Words};

#[test]
fn words_are_zero_and_start_a_cache_line() {
    // Dirty memory is freed first, so that the allocator has some to hand out again.
    for len in [1u64, 2, 7, 8, 9, 1_000, 100_000] {
        drop(vec![u64::MAX; 2 * usize::try_from(len).unwrap()]);
        let words = Words::zeroed(len).unwrap();
        assert_eq!(words.as_ptr().addr() % LINE_BYTES, 0, "{len} words");
        assert_eq!(words.len() as u64, len);
        assert_eq!(words.size_in_bytes(), 8 * len);
        assert!(words.iter().all(|&w| w == 0), "{len} words");
    }
}

#[test]
fn no_words_are_words_too() {
    let words = Words::zeroed(0).unwrap();
    assert!(words.is_empty());
    assert!(words.clone().is_empty());
    assert!(AtomicWords::from(words).is_empty());
}

#[test]
fn case_06_impossible_sizes_are_refused() {
    for len in [u64::MAX, 1 << 61, 1 << 60, (isize::MAX as u64) / 8, 125_000_000_000_000_000] {
        let refused = Words::zeroed(len).unwrap_err();
        assert_eq!(refused, AllocError { bytes: len.saturating_mul(8) });
        assert_eq!(refused.to_string(), format!("memory of {} bytes was refused", refused.bytes));
    }
}

#[test]
fn owned_shared_and_copied_words_have_the_same_values() {
    let mut words = Words::zeroed(11).unwrap();
    (0..).zip(words.iter_mut()).for_each(|(i, word)| *word = 0x0123_4567_89ab_cdef << i);
    let shared = AtomicWords::from(words.clone());
    assert!(shared.values().eq(words.values()) && words.values().eq(words.iter().copied()));
    let value = |i: usize| shared.as_words()[i].value();
    assert!((0..11).all(|i| value(i) == words.as_words()[i]));
    assert_eq!(Words::copied(&shared).unwrap(), words);
    assert!(AtomicWords::copied(&words).unwrap().values().eq(words.values()));
    assert!(shared.clone().values().eq(words.values()));
}

#[test]
fn owned_and_shared_words_are_combined_alike() {
    fn combined<W: OwnedWords>(words: Words) -> Words {
        let mut words = W::from(words);
        words.combine([1, 2].into_iter(), |word, other| word & !other);
        words.into()
    }
    let mut words = Words::zeroed(3).unwrap();
    words.fill(7);
    let expected = [6, 5, 7];
    assert_eq!(*combined::<Words>(words.clone()), expected, "the third word has no other");
    assert_eq!(*combined::<AtomicWords>(words), expected);
}

#[test]
fn shared_words_are_united_and_cleared_by_whoever_has_them() {
    let shared = AtomicWords::from(Words::zeroed(3).unwrap());
    shared[1].store(4, Relaxed);
    shared.unite([1, 2, 3].into_iter());
    assert!(shared.values().eq([1, 6, 3]));
    shared.clear();
    assert!(shared.values().eq([0; 3]));
}

#[test]
fn shared_words_tell_which_bits_were_clear() {
    let words = AtomicWords::from(Words::zeroed(2).unwrap());
    assert_eq!(set_bits(&words[0], 0b0110), 0b0110);
    assert_eq!(set_bits(&words[0], 0b1100), 0b1000);
    assert_eq!(set_bits(&words[0], 0b1110), 0);
    assert!(words.values().eq([0b1110, 0]));
}

#[test]
fn clones_are_equal_and_apart() {
    let mut words = Words::zeroed(10).unwrap();
    words[3] = 5;
    let mut copy = words.try_clone().unwrap();
    assert_eq!(copy, words);
    copy[4] = 1;
    assert_ne!(copy, words);
    assert_eq!(words[4], 0);
}

/// Resident memory of this process, in bytes.
#[cfg(target_os = "linux")]
fn resident() -> usize {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    statm.split(' ').nth(1).unwrap().parse::<usize>().unwrap() * 4096
}

#[cfg(target_os = "linux")]
#[test]
fn fresh_words_cost_address_space_only() {
    let before = resident();
    let mut words = Words::zeroed(1 << 29).unwrap();
    words[1 << 28] = 1;
    words[(1 << 29) - 1] = 2;
    assert_eq!(words[1 << 27], 0);
    let touched = resident().saturating_sub(before);
    assert!(touched < 64 << 20, "4 GiB of words made {touched} bytes resident");
}

#[cfg(all(target_os = "linux", feature = "huge-pages"))]
#[test]
fn huge_pages_are_only_advice() {
    let mut words = Words::zeroed(1 << 20).unwrap();
    words.advise_huge_pages();
    words[12_345] = 1;
    assert_eq!(words.iter().sum::<u64>(), 1);
    assert!(!Words::zeroed(8).unwrap().advise_huge_pages(), "nothing to gain");
}

#[test]
fn threads_share_words_and_lose_nothing() {
    let shared = AtomicWords::from(Words::zeroed(64).unwrap());
    std::thread::scope(|scope| {
        for bit in 0..8 {
            let shared = &shared;
            scope.spawn(move || {
                for word in shared.iter() {
                    word.fetch_or(1 << bit, Relaxed);
                }
            });
        }
    });
    let words = Words::from(shared);
    assert!(words.iter().all(|&w| w == 0xff));
}

#[test]
fn the_way_to_atomics_and_back_copies_nothing() {
    let mut words = Words::zeroed(5).unwrap();
    words[1] = 9;
    let address = words.as_ptr();
    let shared = AtomicWords::from(words);
    shared[2].store(8, Relaxed);
    let words = Words::from(shared);
    assert_eq!(*words, [0, 9, 8, 0, 0]);
    assert_eq!(words.as_ptr(), address);
}

#[test]
fn prefetching_changes_nothing_and_reaches_nothing_outside() {
    let words = Words::zeroed(8).unwrap();
    prefetch(&words, 7);
    prefetch(&words, 8);
    prefetch(&words, usize::MAX);
    prefetch::<u64>(&[], 0);
    assert!(words.iter().all(|&w| w == 0));
}

#[test]
fn debug_shows_the_length_and_not_the_words() {
    let words = Words::zeroed(1 << 20).unwrap();
    assert_eq!(format!("{words:?}"), "Words { len: 1048576, .. }");
    assert_eq!(format!("{:?}", AtomicWords::from(words)), "AtomicWords { len: 1048576, .. }");
}

#[test]
fn bits_are_those_of_the_positions_in_every_storage() {
    for num_bits in [1, 63, 64, 65, 100, 128] {
        let mut owned = BitWords::new(Words::zeroed(2).unwrap(), num_bits);
        let shared = BitWords::new(AtomicWords::from(Words::zeroed(2).unwrap()), num_bits);
        for (round, x) in (0..500).map(pds_core::hash::finalize).chain([0, u64::MAX]).enumerate() {
            let position = pds_core::hash::reduce(x, num_bits);
            let index = usize::try_from(position / 64).unwrap();
            let before = (owned.words()[index] >> (position % 64)) & 1;
            let bytes: Vec<[u8; 8]> = owned.words().iter().map(|word| word.to_le_bytes()).collect();
            let reads = [
                (owned.as_bits().get(x), owned.as_bits().at(position)),
                (shared.as_bits().get(x), shared.as_bits().at(position)),
                (Bits::new(&bytes, num_bits).get(x), Bits::new(&bytes, num_bits).at(position)),
            ];
            assert_eq!(reads, [(before, before); 3]);
            assert_eq!(owned.as_bits().position(x), position);
            let changed = if round % 2 == 0 {
                (owned.as_bits_mut().set(x), shared.as_bits().set(x))
            } else {
                (owned.as_bits_mut().set_at(position), shared.as_bits().set_at(position))
            };
            assert_eq!(changed, (before == 0, before == 0));
            assert_eq!(owned.as_bits().get(x), 1);
        }
        let ones: u32 = owned.words().iter().map(|word| word.count_ones()).sum();
        assert!(u64::from(ones) <= num_bits);
        assert!(shared.into_words().values().eq(owned.into_words().values()));
    }
}

#[test]
#[should_panic(expected = "bits beyond the words")]
fn bits_need_words() {
    let _ = Bits::new(&[0u64; 2], 129);
}

#[test]
#[should_panic(expected = "bits beyond the words")]
fn bits_in_a_storage_need_words() {
    let _ = BitWords::new(Words::zeroed(2).unwrap(), 129);
}

#[test]
#[should_panic(expected = "bits beyond the words")]
fn no_words_have_no_bits() {
    let _ = BitWords::new(Words::zeroed(0).unwrap(), 0);
}

#[test]
fn a_row_has_its_own_items() {
    for width in [1, 2, 7, 100] {
        let mut items: Vec<usize> = (0..3 * width).collect();
        for x in (0..500).map(pds_core::hash::finalize).chain([0, u64::MAX]) {
            let column = usize::try_from(pds_core::hash::reduce(x, width as u64)).unwrap();
            for row in 0..3 {
                let place = row * width + column;
                assert_eq!(*reduced_in_row::<3, _>(&items, width, row, x), place);
                assert_eq!(*reduced_in_row_mut::<3, _>(&mut items, width, row, x), place);
            }
        }
    }
}

#[test]
#[should_panic(expected = "no such row")]
fn a_row_beyond_the_last_is_none() {
    let _ = reduced_in_row::<3, _>(&[0; 12], 4, 3, 0);
}

#[test]
#[should_panic(expected = "no such row")]
fn rows_are_as_wide_as_they_claim() {
    let _ = reduced_in_row::<3, _>(&[0; 12], 5, 0, 0);
}

#[test]
#[should_panic(expected = "no element to fall on")]
fn rows_of_nothing_have_no_items() {
    let _ = reduced_in_row_mut::<3, u8>(&mut [], 0, 0, 0);
}
