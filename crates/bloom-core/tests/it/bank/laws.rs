//! Laws of banks, for all sets.

use bloom_core::{BloomFilter, FilterBank};
use quickcheck::quickcheck;

fn filters(sets: &[Vec<u16>]) -> Vec<BloomFilter> {
    let filter = |keys: &Vec<u16>| {
        let mut filter = BloomFilter::builder().bits(300).hashes(4).build().unwrap();
        filter.extend(keys);
        filter
    };
    sets.iter().map(filter).collect()
}

fn bank(filters: &[BloomFilter]) -> FilterBank {
    let mut bank = BloomFilter::builder().bits(300).hashes(4).build_bank().unwrap();
    bank.extend_from(filters).unwrap();
    bank
}

quickcheck! {
    fn a_bank_answers_as_its_filters_one_by_one(sets: Vec<Vec<u16>>, keys: Vec<u16>) -> bool {
        let filters = filters(&sets);
        let bank = bank(&filters);
        keys.iter().chain(sets.iter().flatten()).all(|key| {
            let with = (0..filters.len()).filter(|&set| filters[set].contains(key));
            bank.sets_with(key).eq(with)
        })
    }

    fn the_way_of_filling_makes_no_difference(sets: Vec<Vec<u16>>, split: usize) -> bool {
        let filters = filters(&sets);
        let all = bank(&filters);
        let mut by_keys = bank(&[]);
        for keys in &sets {
            let set = by_keys.add_set().unwrap();
            keys.iter().for_each(|key| _ = by_keys.insert(set, key));
        }
        let split = split % (filters.len() + 1);
        let mut in_parts = bank(&filters[..split]);
        filters[split..].iter().for_each(|filter| _ = in_parts.push(filter).unwrap());
        all == by_keys && all == in_parts && all.to_bytes() == in_parts.to_bytes()
    }

    fn removal_is_that_of_a_vector(sets: Vec<Vec<u16>>, which: Vec<usize>) -> bool {
        let mut filters = filters(&sets);
        let mut left = bank(&filters);
        for set in which {
            if filters.is_empty() {
                break;
            }
            let set = set % filters.len();
            filters.swap_remove(set);
            left.swap_remove(set);
        }
        left == bank(&filters)
    }
}
