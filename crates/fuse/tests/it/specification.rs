//! A reader of ribbon systems that was written from section 8 of `docs/hashing.md` and from `docs/format.md`, without the
//! code of the crate. It looks up bit by bit, and has to agree on every answer.
#![cfg(feature = "std")]

use fuse::bytes::Header;
use fuse::{Preset, RetrievalMap, RibbonFilter};
use pds_core::hash::finalize;
use pds_testkit::keys;

/// `mulhi` of the page.
fn mulhi(a: u64, b: u64) -> u64 {
    u64::try_from((u128::from(a) * u128::from(b)) >> 64).unwrap()
}

fn lower(number: u128) -> u64 {
    u64::try_from(number & u128::from(u64::MAX)).unwrap()
}

fn index(number: u64) -> usize {
    usize::try_from(number).unwrap()
}

fn fingerprint(hash: u64) -> u64 {
    hash.wrapping_mul(0xBB67_AE85_84CA_A73B) >> 32
}

struct Layer {
    segments: u64,
    /// 0 in the last layer.
    buckets: u64,
    slots: u64,
    window: u64,
    starts: u64,
    salt: u64,
    /// Bit of each slot and column in the payload.
    bits: Vec<Vec<Option<u64>>>,
    thresholds_at: u64,
}

struct Reader {
    words: Vec<u64>,
    layers: Vec<Layer>,
    columns: u64,
}

impl Reader {
    /// Reads the numbers 0 to 3 of a head, `steps` columns of 1/256, and the payload.
    fn new(bytes: &[u8], steps: u64) -> Self {
        let header = Header::peek(bytes).unwrap();
        let [keys, preset, seed, layers, exact, ..] = *header.shape.as_slice() else { panic!() };
        assert_eq!(exact, 0);
        let start = bytes.len() - 8 - index(header.payload_bytes);
        let payload = &bytes[start..bytes.len() - 8];
        let words: Vec<u64> =
            payload.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word)).collect();
        let counts = words.len() - index(layers);
        let (mut left, mut at, mut all) = (keys, 0, Vec::new());
        for (number, &bumped) in (0..).zip(&words[counts..]) {
            let slots = left * if preset == 0 { 965 } else { 1_000 } / 1_000;
            let segments = 1.max(left >> 17);
            let slots = slots.saturating_sub(64 * segments);
            let buckets = segments * 1.max(slots.div_ceil(128 * segments));
            let (window, slots, starts) = (64, 128 * buckets + 64 * segments, 128 * buckets);
            let salt = finalize(number);
            let bits = Vec::new();
            all.push(Layer {
                segments,
                buckets,
                slots,
                window,
                starts,
                salt,
                bits,
                thresholds_at: 0,
            });
            left = bumped;
        }
        let slots = left + left / 64;
        let window = slots.min(64);
        let (starts, salt) = (slots - window + 1, finalize((1 << 32) + seed));
        let (segments, buckets, bits) = (1, 0, Vec::new());
        all.push(Layer { segments, buckets, slots, window, starts, salt, bits, thresholds_at: 0 });
        for layer in &mut all {
            at = layer.place(steps, at);
        }
        for layer in &mut all {
            layer.thresholds_at = 64 * at;
            at += (2 * layer.buckets).div_ceil(64);
        }
        assert_eq!(at, counts as u64);
        Self { words, layers: all, columns: steps.div_ceil(256) }
    }

    fn bit(&self, bit: u64) -> u64 {
        self.words[index(bit / 64)] >> (bit % 64) & 1
    }

    /// Returns the columns of the window of a key, and how many there are.
    fn sums(&self, hash: u64) -> (u64, usize) {
        for (number, layer) in self.layers.iter().enumerate() {
            let hash =
                if number == 0 && layer.buckets > 0 { hash } else { finalize(hash ^ layer.salt) };
            let start = mulhi(hash, layer.starts);
            if layer.buckets > 0 {
                let at = layer.thresholds_at + start / 128 * 2;
                let level = self.bit(at) | self.bit(at + 1) << 1;
                if start % 128 < [0, 13, 33, 128][index(level)] {
                    continue;
                }
            }
            let slot = start + 64 * mulhi(hash, layer.segments);
            let product = u128::from(hash) * 0x6A09_E667_F3BC_C909;
            let coefficients = (lower(product) ^ lower(product >> 64)) | 1;
            let slots: Vec<_> =
                (0..layer.window).map(|offset| &layer.bits[index(slot + offset)]).collect();
            let columns = (0..self.columns)
                .take_while(|&column| slots.iter().all(|slot| slot[index(column)].is_some()))
                .count();
            let sum = |column: u64| {
                let of = |(offset, slot): (usize, &&Vec<Option<u64>>)| {
                    coefficients >> offset & 1 & self.bit(slot[index(column)].unwrap())
                };
                slots.iter().enumerate().map(of).fold(0, |sum, bit| sum ^ bit)
            };
            return (
                (0..columns).fold(0, |sums, column| sums | sum(column as u64) << column),
                columns,
            );
        }
        unreachable!("the last layer bumps nothing")
    }
}

impl Layer {
    /// Finds the bits of all slots in a solution from word `at` on. Returns the word after it.
    fn place(&mut self, steps: u64, mut at: u64) -> u64 {
        let (columns, part) = (steps / 256, steps % 256);
        let groups = self.slots.div_ceil(64);
        let needed = (part * self.starts).div_ceil(256);
        let per_segment = self.starts / self.segments;
        let touched = |starts: u64| if starts == 0 { 0 } else { (starts + 63).div_ceil(64) };
        let wider = needed / per_segment * (groups / self.segments) + touched(needed % per_segment);
        for group in 0..groups {
            let columns = columns + u64::from(group < wider);
            let width = (self.slots - 64 * group).min(64);
            for slot in 0..width {
                let bit = |column| 64 * at + column * width + slot;
                let most = steps.div_ceil(256);
                self.bits.push((0..most).map(|c| (c < columns).then(|| bit(c))).collect());
            }
            at += (columns * width).div_ceil(64);
        }
        at
    }
}

#[test]
fn filters_are_read_as_the_pages_say() {
    for (keys, steps, preset) in [
        (1, 2_048_u32, Preset::Compact),
        (10, 640, Preset::Compact),
        (63, 2_048, Preset::Compact),
        (64, 256, Preset::Compact),
        (700, 960, Preset::Quick),
        (2_048, 1_280, Preset::Compact),
        (2_049, 64, Preset::Compact),
        (5_000, 640, Preset::Quick),
        (300_000, 1_101, Preset::Compact),
    ] {
        let mut hashes = keys::random(keys);
        let set = hashes.by_ref().take(index(keys)).collect();
        let builder = RibbonFilter::builder().columns(f64::from(steps) / 256.0).preset(preset);
        let filter = builder.build_hashes(set).unwrap();
        let reader = Reader::new(&filter.to_bytes(), steps.into());
        let keys = keys::random(keys).take(2_000);
        for hash in keys.chain(hashes.take(2_000)) {
            let (sums, columns) = reader.sums(hash);
            let is_met = (sums ^ fingerprint(hash)).trailing_zeros() as usize >= columns;
            assert_eq!(filter.contains_hash(hash), is_met, "{hash:x}");
        }
    }
}

#[test]
fn maps_are_read_as_the_pages_say() {
    for keys in [3, 100, 2_000, 9_000] {
        let mut hashes = keys::random(keys ^ 5);
        let set = hashes.by_ref().zip(0..keys);
        let map = RetrievalMap::builder().check_bits(3).build_hashes(set.collect()).unwrap();
        let reader = Reader::new(&map.to_bytes(), 256 * u64::from(map.value_bits() + 3));
        for hash in keys::random(keys ^ 5).take(3_000).chain(hashes.take(3_000)) {
            let (bits, _) = reader.sums(hash);
            let value = ((bits ^ fingerprint(hash)) & 7 == 0).then_some(bits >> 3);
            assert_eq!(map.get_hash(hash), value, "{hash:x}");
        }
    }
}
