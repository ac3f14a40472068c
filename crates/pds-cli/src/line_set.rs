//! An exact set of byte strings, in their order, with a number beside each.

use crate::key;
use core::hint::black_box;

/// An exact set of byte strings.
///
/// The strings lie one behind another, and a table of words leads to them: 8 to 16 bytes per string beside its own, and one
/// or two accesses to memory per question. `sort -u` gives the same set.
#[derive(Debug)]
pub(crate) struct LineSet {
    /// Zero, or the upper bits of a hash above one more than the place of an entry.
    slots: Vec<u64>,
    /// Entries: a count if there are counts, the string, and what belongs to it if something does.
    text: Vec<u8>,
    len: u64,
    extras: Extras,
}

/// Numbers beside each string.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Extras {
    /// How often it came.
    pub(crate) counts: bool,
    /// Another string, which came with it the first time.
    pub(crate) records: bool,
}

/// A string with what is kept beside it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Entry<'a> {
    pub(crate) key: &'a [u8],
    /// 0 unless there are counts.
    pub(crate) count: u64,
    /// The key if nothing else is kept.
    pub(crate) record: &'a [u8],
}

/// Bits of a place: up to a tebibyte of text.
const PLACE_BITS: u32 = 40;
const PLACE: u64 = (1 << PLACE_BITS) - 1;
const FIRST_SLOTS: usize = 1 << 3;

impl LineSet {
    pub(crate) fn new(extras: Extras) -> Self {
        Self { slots: vec![0; FIRST_SLOTS], text: Vec::new(), len: 0, extras }
    }

    /// The number of strings.
    pub(crate) const fn len(&self) -> u64 {
        self.len
    }

    /// Bytes of memory.
    pub(crate) fn size_in_bytes(&self) -> u64 {
        8 * self.slots.len() as u64 + self.text.len() as u64
    }

    /// Bytes of memory for another string of so many bytes in all: while the table grows there are two.
    fn size_with(&self, bytes: usize) -> u64 {
        let grown = if self.is_full() { 16 * self.slots.len() as u64 } else { 0 };
        // A count and two lengths take at most 18 bytes.
        self.size_in_bytes() + grown + bytes as u64 + 18
    }

    /// Bytes of memory, at most, while so many more strings of so many bytes in all are inserted.
    pub(crate) fn size_after(&self, strings: usize, bytes: u64) -> u64 {
        let (now, strings) = (self.slots.len() as u64, strings as u64);
        let mut slots = now;
        while (self.len + strings) * 4 > slots * 3 {
            slots *= 2;
        }
        // While the table grows there are two.
        let grown = if slots > now { 8 * (slots + slots / 2 - now) } else { 0 };
        self.size_in_bytes() + grown + bytes + 18 * strings
    }

    /// At most three quarters of the slots are used.
    const fn is_full(&self) -> bool {
        (self.len + 1) * 4 > self.slots.len() as u64 * 3
    }

    /// Doubles the table.
    fn grow(&mut self) {
        let mut table = vec![0; 2 * self.slots.len()];
        let mut place = 0;
        while place < self.text.len() {
            let (found, next) = self.entry(place);
            let hash = key::hash(found.key);
            let slot = empty_slot(&table, hash);
            table[slot] = word(hash, place);
            place = next;
        }
        self.slots = table;
    }

    /// Touches what the insertion of keys with these hashes will read, all at once.
    ///
    /// One access to memory after another would take several times as long.
    pub(crate) fn prepare(&self, hashes: &[u64]) {
        let mut touched = 0_u64;
        for &hash in hashes {
            touched ^= self.slots[first_slot(hash, self.slots.len())];
        }
        black_box(touched);
        let (mut bytes, last) = (0_u8, self.text.len().saturating_sub(1));
        for &hash in hashes {
            let found = self.slots[first_slot(hash, self.slots.len())];
            if found != 0 && (found ^ hash) >> PLACE_BITS == 0 {
                let start = place(found);
                // Most lines end in the cache line where they begin, or in the next.
                bytes ^= self.text[start] ^ self.text[(start + 40).min(last)];
            }
        }
        black_box(bytes);
    }

    /// Inserts a string. Returns how often it had come before: 0 or 1 if there are no counts. `None`, and nothing is changed, if
    /// the string is new and the set would take more than `most` bytes.
    #[inline]
    pub(crate) fn insert(
        &mut self,
        hash: u64,
        key: &[u8],
        record: &[u8],
        most: u64,
    ) -> Option<u64> {
        let mask = self.slots.len() - 1;
        let mut slot = first_slot(hash, self.slots.len());
        loop {
            let found = self.slots[slot];
            if found == 0 {
                return self.insert_new(slot, hash, key, record, most);
            }
            if (found ^ hash) >> PLACE_BITS == 0 {
                let start = place(found) + self.count_bytes();
                if string(&self.text, start).0 == key {
                    return Some(self.count_again(place(found)));
                }
            }
            slot = (slot + 1) & mask;
        }
    }

    /// Inserts a string that is not there, into an empty slot unless the table has to grow.
    fn insert_new(
        &mut self,
        mut slot: usize,
        hash: u64,
        key: &[u8],
        record: &[u8],
        most: u64,
    ) -> Option<u64> {
        let bytes = key.len() + if self.extras.records { record.len() } else { 0 };
        if self.size_with(bytes) > most {
            return None;
        }
        if self.is_full() {
            self.grow();
            slot = empty_slot(&self.slots, hash);
        }
        self.slots[slot] = word(hash, self.text.len());
        self.append(key, record);
        Some(0)
    }

    const fn count_bytes(&self) -> usize {
        if self.extras.counts { 8 } else { 0 }
    }

    fn append(&mut self, key: &[u8], record: &[u8]) {
        self.len += 1;
        if self.extras.counts {
            self.text.extend_from_slice(&1_u64.to_le_bytes());
        }
        put_string(&mut self.text, key);
        if self.extras.records {
            put_string(&mut self.text, record);
        }
    }

    fn count_again(&mut self, place: usize) -> u64 {
        if !self.extras.counts {
            return 1;
        }
        let bytes = self.text[place..].first_chunk_mut().expect("a count before each string");
        let count = u64::from_le_bytes(*bytes);
        *bytes = (count + 1).to_le_bytes();
        count
    }

    /// The entry at a place, and the place of the next.
    fn entry(&self, place: usize) -> (Entry<'_>, usize) {
        let count = if self.extras.counts { self.text[place..].first_chunk() } else { None };
        let (key, mut next) = string(&self.text, place + self.count_bytes());
        let mut record = key;
        if self.extras.records {
            (record, next) = string(&self.text, next);
        }
        (Entry { key, count: count.map_or(0, |bytes| u64::from_le_bytes(*bytes)), record }, next)
    }

    /// All entries in the order in which their strings came.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Entry<'_>> {
        let mut place = 0;
        core::iter::from_fn(move || {
            (place < self.text.len()).then(|| {
                let (entry, next) = self.entry(place);
                place = next;
                entry
            })
        })
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "the number of slots is that of a table in memory"
)]
const fn first_slot(hash: u64, slots: usize) -> usize {
    hash as usize & (slots - 1)
}

fn empty_slot(slots: &[u64], hash: u64) -> usize {
    let mut slot = first_slot(hash, slots.len());
    while slots[slot] != 0 {
        slot = (slot + 1) & (slots.len() - 1);
    }
    slot
}

fn word(hash: u64, place: usize) -> u64 {
    assert!((place as u64) < PLACE, "the text is within the tebibyte that a place can name");
    hash & !PLACE | (place as u64 + 1)
}

const fn place(word: u64) -> usize {
    (word & PLACE) as usize - 1
}

/// Appends a string behind its length, which has seven bits to a byte.
fn put_string(text: &mut Vec<u8>, string: &[u8]) {
    let mut length = string.len();
    while length >= 0x80 {
        text.push(low(length) | 0x80);
        length >>= 7;
    }
    text.push(low(length));
    text.extend_from_slice(string);
}

/// The lowest seven bits.
#[expect(clippy::cast_possible_truncation, reason = "seven bits are fewer than eight")]
const fn low(length: usize) -> u8 {
    (length & 0x7f) as u8
}

/// The string at a place, and the place behind it.
#[inline]
fn string(text: &[u8], mut place: usize) -> (&[u8], usize) {
    let (mut length, mut shift) = (0, 0);
    loop {
        let byte = text[place];
        place += 1;
        length |= usize::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return (&text[place..place + length], place + length);
        }
        shift += 7;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    const EXTRAS: [Extras; 3] = [
        Extras { counts: false, records: false },
        Extras { counts: true, records: false },
        Extras { counts: true, records: true },
    ];

    /// Strings of all lengths, many with equal slots and equal upper bits of their hashes.
    #[test]
    fn a_set_is_exact_whatever_the_hashes_are() {
        for (mask, extras) in
            [u64::MAX, 0xff, PLACE, !PLACE, 0].into_iter().zip(EXTRAS.into_iter().cycle())
        {
            // Large enough from the start: the hashes here are not those that a greater table would compute.
            let mut set = LineSet { slots: vec![0; 1 << 12], ..LineSet::new(extras) };
            let mut truth = HashMap::<_, u64>::new();
            for number in 0..2_000_u32 {
                let line = format!("{}", number * 7919 % 1_201).repeat((number % 60) as usize);
                let hash = key::hash(line.as_bytes()) & mask;
                set.prepare(&[hash]);
                let count = truth.entry(line.clone()).or_default();
                let known = if extras.counts { *count } else { (*count).min(1) };
                assert_eq!(set.insert(hash, line.as_bytes(), b"record", u64::MAX), Some(known));
                *count += 1;
            }
            assert_eq!(set.len(), truth.len() as u64);
            for entry in set.iter() {
                let count = truth[core::str::from_utf8(entry.key).unwrap()];
                assert_eq!(entry.count, if extras.counts { count } else { 0 });
                assert_eq!(entry.record, if extras.records { b"record" } else { entry.key });
            }
        }
    }

    #[test]
    fn a_set_grows_and_keeps_the_order() {
        for extras in EXTRAS {
            let mut set = LineSet::new(extras);
            let lines = || (0..50_000_u32).map(u32::to_le_bytes);
            for line in lines() {
                assert_eq!(set.insert(key::hash(&line), &line, &line, u64::MAX), Some(0));
            }
            let again = |line: [u8; 4]| set.insert(key::hash(&line), &line, &line, u64::MAX);
            assert!(lines().map(again).all(|known| known == Some(1)));
            assert!(set.iter().map(|entry| entry.key.to_vec()).eq(lines().map(Vec::from)));
            assert_eq!(set.len(), 50_000);
        }
    }
    /// `distinct --by` has a set for each group, and most groups are small.
    #[test]
    fn a_small_set_is_small() {
        let mut set = LineSet::new(Extras::default());
        set.insert(key::hash(b"a"), b"a", &[], u64::MAX);
        assert!(set.size_in_bytes() <= 128, "{}", set.size_in_bytes());
    }

    /// Whatever is asked, the set takes no more than it may, and a string that is there needs nothing.
    #[test]
    fn a_set_keeps_to_its_memory() {
        for most in [200, 5_000, 100_000] {
            let mut set = LineSet::new(Extras::default());
            let mut lines = (0..50_000_u32).map(|number| format!("a line {number}"));
            let refused = lines.find(|line| {
                set.insert(key::hash(line.as_bytes()), line.as_bytes(), &[], most).is_none()
            });
            assert!(refused.is_some() && set.len() > most / 64);
            assert!(set.size_in_bytes() <= most);
            let size = set.size_in_bytes();
            assert_eq!(set.insert(key::hash(b"a line 0"), b"a line 0", &[], most), Some(1));
            assert_eq!(set.size_in_bytes(), size);
        }
    }
}
