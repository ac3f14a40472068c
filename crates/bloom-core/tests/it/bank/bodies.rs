//! The bodies of the fuzz targets, which ordinary tests run, too.
use bloom_core::{BloomFilter, FilterBank, FilterBankView};
use pds_core::hash::SipHashBuilder;
use pds_core::storage::WordSource;
use pds_testkit::mutate::{Choices, mutate as change};
use pds_testkit::portable::{self, HASHES};

/// Asks everything, in every way. Returns the answers.
fn answers<W: WordSource>(
    bank: &FilterBank<impl bloom_core::hash::KeyHasher, W>,
) -> Vec<Vec<usize>> {
    let mut bitmap = vec![u64::MAX; bank.num_sets().div_ceil(64)];
    let sets = HASHES.map(|hash| {
        let sets: Vec<usize> = bank.sets_with_hash(hash).collect();
        assert!(sets.is_sorted() && sets.last().is_none_or(|&set| set < bank.num_sets()));
        bank.bitmap_of_hash(hash, &mut bitmap);
        let bit = |set: usize| bitmap[set / 64] >> (set % 64) & 1 == 1;
        assert!((0..64 * bitmap.len()).filter(|&set| bit(set)).eq(sets.iter().copied()));
        let contained = (0..bank.num_sets()).filter(|&set| bank.contains_hash(set, hash));
        assert!(contained.eq(sets.iter().copied()));
        sets
    });
    sets.into()
}

/// Decodes bytes. What is accepted is written back as it was.
pub(crate) fn decode(bytes: &[u8]) {
    if let Some(bank) = portable::decode::<FilterBank>(bytes) {
        answers(&bank);
    }
    portable::decode::<FilterBank<SipHashBuilder>>(bytes);
}

/// Opens bytes without a copy. The view answers for any payload, and verifies what can be decoded.
pub(crate) fn view(bytes: &[u8]) {
    let read = FilterBank::from_bytes(bytes);
    match FilterBankView::open(bytes) {
        Ok(view) => {
            let of_view = answers(&view);
            portable::assert_alike(&view.to_bank(), &read);
            assert_eq!(view.verify().is_ok(), read.is_ok());
            assert!(read.map_or(true, |read| answers(&read) == of_view));
        }
        refused => portable::assert_alike(&refused, &read),
    }
}

/// Changes the bytes of a bank, with checksums that fit again, and reads them in every way.
pub(crate) fn mutate(input: &[u8]) {
    let mut choices = Choices::new(input);
    let (mut bank, _) = built(&mut choices);
    for set in 0..choices.below(150) {
        bank.add_set().unwrap();
        bank.insert(set, &choices.byte());
    }
    let mut bytes = bank.to_bytes();
    change(&mut bytes, &mut choices);
    decode(&bytes);
    view(&bytes);
}

/// Adds, changes and removes sets, and writes and reads the bank. It always answers as its filters one by one.
pub(crate) fn ops(input: &[u8]) {
    let mut choices = Choices::new(input);
    let (mut bank, mut filters) = built(&mut choices);
    let empty = bank.clone();
    while !choices.is_empty() {
        step(&mut bank, &mut filters, &mut choices);
        check(&bank, &filters);
    }
    for (set, filter) in filters.iter().enumerate() {
        assert_eq!(bank.to_filter(set).unwrap(), *filter);
    }
    let mut again = empty;
    again.extend_from(&filters).unwrap();
    assert_eq!((&again, again.to_bytes()), (&bank, bank.to_bytes()));
}

fn check(bank: &FilterBank, filters: &[BloomFilter]) {
    assert_eq!(bank.num_sets(), filters.len());
    let with = |hash| (0..filters.len()).filter(move |&set| filters[set].contains_hash(hash));
    let expected: Vec<Vec<usize>> = HASHES.map(|hash| with(hash).collect()).into();
    assert_eq!(answers(bank), expected);
}

fn step(bank: &mut FilterBank, filters: &mut Vec<BloomFilter>, choices: &mut Choices<'_>) {
    let filter = || BloomFilter::from_params(bank.params(), *bank.hasher()).unwrap();
    match choices.below(8) {
        0 => {
            filters.push(filter());
            assert_eq!(bank.add_set().unwrap() + 1, filters.len());
        }
        1 => {
            let mut filter = filter();
            filter.extend(0..choices.below(9));
            filter.insert_hash(HASHES[choices.below(5)]);
            assert_eq!(bank.push(&filter).unwrap(), filters.len());
            filters.push(filter);
        }
        // Beyond a word, and beyond a group of 512 sets.
        2 => {
            let all: Vec<BloomFilter> = (0..choices.below(600))
                .map(|_| {
                    let mut filter = filter();
                    filter.insert_hash(HASHES[choices.below(5)]);
                    filter
                })
                .collect();
            bank.extend_from(&all).unwrap();
            filters.extend(all);
        }
        3 if !filters.is_empty() => {
            for _ in 0..choices.below(100).min(filters.len()) {
                let set = choices.below(filters.len());
                bank.swap_remove(set);
                filters.swap_remove(set);
            }
        }
        4 if choices.below(8) == 0 => {
            bank.clear();
            filters.clear();
        }
        5 => *bank = portable::sent(bank, choices),
        6 => {
            let bytes = bank.to_bytes();
            let view = FilterBankView::open(bytes).unwrap();
            view.verify().unwrap();
            assert!(answers(&view) == answers(bank) && view.to_bank().unwrap() == *bank);
        }
        _ if !filters.is_empty() => {
            let (set, key) = (choices.below(filters.len()), choices.byte());
            assert_eq!(bank.insert(set, &key), filters[set].insert(&key));
        }
        _ => assert!(bank.num_sets() > 0 || bank.size_in_bytes() == 0),
    }
}

/// Returns an empty bank of any small shape.
fn built(choices: &mut Choices<'_>) -> (FilterBank, Vec<BloomFilter>) {
    let builder = BloomFilter::builder().seed(choices.byte().into());
    let (bits, hashes) = (1 + choices.below(200) as u64, 1 + u32::from(choices.byte() % 12));
    let builder = match choices.below(3) {
        0 => builder.expected_items(1 + choices.below(10) as u64),
        _ => builder.bits(bits).hashes(hashes),
    };
    (builder.build_bank().unwrap(), Vec::new())
}
