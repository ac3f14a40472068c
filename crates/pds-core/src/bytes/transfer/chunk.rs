//! Entropy code of one chunk of a payload, for bits that are set independently with one probability.
//!
//! A range coder takes a byte at a time: a byte with c of its 8 bits set has the weight p^c (1 - p)^(8 - c), in integers.
//! `docs/format.md` of the workspace specifies every step.
//!
//! G. N. N. Martin, "Range Encoding: an Algorithm for Removing Redundancy from a Digitised Message", Video and Data
//! Recording Conference, 1979.

use alloc::vec::Vec;

/// Length of a chunk in bytes: 32,768 bits, a page of memory.
// The index and the count of ones take 4 bytes per coded chunk. Chunks of 16,384 bits would be 0.85 % above the entropy at a
// fill of 0.05, these are 0.4 %.
pub(super) const CHUNK_BYTES: usize = 4096;

/// Length of the number of ones in bytes. It precedes the code.
const COUNT_BYTES: usize = 2;

/// Appends the body of a chunk to `bodies`: nothing if no bit is set, the code, or the bytes themselves if they are not longer.
pub(super) fn encode(bytes: &[u8], bodies: &mut Vec<u8>) {
    let ones = count_ones(bytes);
    if ones == 0 {
        return;
    }
    let start = bodies.len();
    bodies.extend(ones.to_le_bytes());
    let model = Model::new(ones, bytes.len());
    let mut encoder = Encoder { low: 0, range: u64::MAX, first: bodies.len(), code: bodies };
    for &byte in bytes {
        encoder.put(model.interval(byte));
    }
    encoder.finish();
    if bodies.len() - start >= bytes.len() {
        bodies.truncate(start);
        bodies.extend(bytes);
    }
}

/// Number of bytes that [`encode`] appends at most, before it replaces a code that is not shorter than the chunk.
// The probabilities are those of the chunk, so the code has no more bits than the chunk. The count, the rounding and the last byte
// of the code add less than 32 bytes.
pub(super) const MAX_BODY_BYTES: usize = CHUNK_BYTES + 32;

/// Fills `bytes` from the body of a chunk. Returns `None` if the encoder writes another body for that chunk, or none.
///
/// Overwrites `scratch`, and allocates nothing if it has a capacity of [`MAX_BODY_BYTES`].
pub(super) fn decode(body: &[u8], bytes: &mut [u8], scratch: &mut Vec<u8>) -> Option<()> {
    if body.is_empty() {
        bytes.fill(0);
        return Some(());
    }
    if body.len() > bytes.len() {
        return None;
    }
    if body.len() == bytes.len() {
        bytes.copy_from_slice(body);
        // The number of ones alone does not tell whether a code is shorter: a code may end in zeros, which are not stored.
        scratch.clear();
        encode(bytes, scratch);
        return (scratch == body).then_some(());
    }
    let (count, code) = body.split_first_chunk::<COUNT_BYTES>()?;
    let ones = u16::from_le_bytes(*count);
    if ones == 0 || usize::from(ones) > 8 * bytes.len() {
        return None;
    }
    let model = Model::new(ones, bytes.len());
    let mut decoder = Decoder::new(code);
    for byte in &mut *bytes {
        *byte = decoder.take(&model)?;
    }
    (decoder.is_canonical() && count_ones(bytes) == ones).then_some(())
}

/// Counts the set bits of a chunk: at most 32,768.
#[expect(clippy::cast_possible_truncation, reason = "a chunk has at most 2^15 bits")]
fn count_ones(bytes: &[u8]) -> u16 {
    let (words, rest) = bytes.as_chunks();
    let of_words: u32 = words.iter().map(|word| u64::from_le_bytes(*word).count_ones()).sum();
    let of_rest: u32 = rest.iter().map(|byte| byte.count_ones()).sum();
    (of_words + of_rest) as u16
}

/// Number of bytes with fewer than 0, 1, ..., 9 set bits.
const FEWER_ONES: [u8; 9] = [0, 1, 9, 37, 93, 163, 219, 247, 255];

/// All bytes, ordered by the number of their set bits, then by value.
const BYTES: [u8; 256] = {
    let (mut bytes, mut next, mut ones) = ([0; 256], 0, 0);
    while ones <= 8 {
        let mut byte = 0_u8;
        loop {
            if byte.count_ones() == ones {
                bytes[next] = byte;
                next += 1;
            }
            if byte == u8::MAX {
                break;
            }
            byte += 1;
        }
        ones += 1;
    }
    bytes
};

/// The rank of each byte among those with as many set bits.
const RANKS: [u8; 256] = {
    let (mut ranks, mut i) = ([0; 256], 0);
    while i < 256 {
        let byte = BYTES[i];
        #[expect(clippy::cast_possible_truncation, reason = "below 70")]
        let rank = (i - FEWER_ONES[byte.count_ones() as usize] as usize) as u8;
        ranks[byte as usize] = rank;
        i += 1;
    }
    ranks
};

/// The share of the whole that weights are given in: 2^32.
const WEIGHT_BITS: u32 = 32;

/// Weights of the bytes of a chunk. They depend on the number of set bits of a byte only.
struct Model {
    /// Weight of one byte with 0, 1, ..., 8 set bits, at least 1.
    weights: [u64; 9],
    /// Sum of the weights of all bytes with fewer than 0, 1, ..., 9 set bits, at most 2^32.
    starts: [u64; 10],
}

/// A part of the whole: where it starts, and its weight.
type Interval = (u64, u64);

impl Model {
    /// Returns the weights for `ones` set bits, at least 1, in a chunk of `len` bytes.
    fn new(ones: u16, len: usize) -> Self {
        /// Bits of a probability.
        const SCALE: u32 = 15;
        /// The whole without 1 for each byte.
        const SHARED: u128 = (1 << WEIGHT_BITS) - 256;
        // At least 1, since a chunk has at most 2^15 bits.
        let set = (u128::from(ones) << SCALE) / (8 * len as u128);
        let clear = (1 << SCALE) - set;
        let (mut weights, mut starts) = ([0; 9], [0; 10]);
        for (ones, weight) in (0..).zip(&mut weights) {
            // A product of 8 probabilities has 120 bits, and 32 fewer leave room for the factor.
            let probability = (set.pow(ones) * clear.pow(8 - ones)) >> WEIGHT_BITS;
            *weight = 1 + ((probability * SHARED) >> (8 * SCALE - WEIGHT_BITS)) as u64;
        }
        for ones in 0..9 {
            let end = FEWER_ONES.get(ones + 1).map_or(256, |&fewer| u64::from(fewer));
            starts[ones + 1] = starts[ones] + weights[ones] * (end - u64::from(FEWER_ONES[ones]));
        }
        debug_assert!(starts[9] <= 1 << WEIGHT_BITS);
        Self { weights, starts }
    }

    fn interval(&self, byte: u8) -> Interval {
        let ones = byte.count_ones() as usize;
        let weight = self.weights[ones];
        (self.starts[ones] + weight * u64::from(RANKS[usize::from(byte)]), weight)
    }

    /// Returns the byte whose interval holds `at`. `None` if there is none.
    #[expect(clippy::cast_possible_truncation, reason = "below 70")]
    fn byte_at(&self, at: u64) -> Option<u8> {
        let ones = (0..9).find(|&ones| at < self.starts[ones + 1])?;
        let rank = (at - self.starts[ones]) / self.weights[ones];
        Some(BYTES[usize::from(FEWER_ONES[ones]) + rank as usize])
    }
}

/// Least range between two bytes: the top byte of a code is settled below it.
const LEAST_RANGE: u64 = 1 << 56;

/// Encoder: a code is a fraction in base 256, of which it keeps the interval.
struct Encoder<'a> {
    /// The bytes of the fraction that are settled but for a carry.
    code: &'a mut Vec<u8>,
    /// Where they start in `code`.
    first: usize,
    /// Lower end of the interval, in the 8 bytes after these.
    low: u64,
    /// Length of the interval.
    range: u64,
}

impl Encoder<'_> {
    fn put(&mut self, (start, weight): Interval) {
        let unit = self.range >> WEIGHT_BITS;
        let (low, carry) = self.low.overflowing_add(unit * start);
        if carry {
            self.carry();
        }
        (self.low, self.range) = (low, unit * weight);
        while self.range < LEAST_RANGE {
            self.code.push(self.low.to_be_bytes()[0]);
            self.low <<= 8;
            self.range <<= 8;
        }
    }

    /// Adds 1 to the last settled byte. The whole fraction stays below 1, so the carry ends within the code.
    fn carry(&mut self) {
        for byte in self.code[self.first..].iter_mut().rev() {
            *byte = byte.wrapping_add(1);
            if *byte != 0 {
                return;
            }
        }
        debug_assert!(false, "a code of 1 or more");
    }

    /// Ends the code by the shortest fraction in the interval. A reader appends zeros.
    fn finish(mut self) {
        // 0 lies in the interval if it is its lower end, 2^64 if the upper end is above it: the next settled bytes are then 0.
        let wraps = u128::from(self.low) + u128::from(self.range) > 1 << 64;
        if wraps {
            self.carry();
        } else if self.low != 0 {
            self.code.push(self.low.div_ceil(LEAST_RANGE).to_le_bytes()[0]);
        }
        while self.code.len() > self.first && self.code.last() == Some(&0) {
            self.code.pop();
        }
    }
}

/// Decoder: keeps the interval of the encoder, and where in it the code is.
struct Decoder<'a> {
    code: &'a [u8],
    /// Number of bytes taken, with the zeros after the end of the code.
    taken: usize,
    /// Distance of the code from the lower end of the interval, in the last 8 bytes taken.
    offset: u64,
    /// Length of the interval.
    range: u64,
}

impl<'a> Decoder<'a> {
    fn new(code: &'a [u8]) -> Self {
        let mut decoder = Self { code, taken: 0, offset: 0, range: u64::MAX };
        (0..8).for_each(|_| decoder.shift());
        decoder
    }

    fn shift(&mut self) {
        let next = self.code.get(self.taken).copied().unwrap_or(0);
        self.offset = self.offset << 8 | u64::from(next);
        self.taken += 1;
    }

    fn take(&mut self, model: &Model) -> Option<u8> {
        let unit = self.range >> WEIGHT_BITS;
        let byte = model.byte_at(self.offset / unit)?;
        let (start, weight) = model.interval(byte);
        self.offset -= unit * start;
        self.range = unit * weight;
        while self.range < LEAST_RANGE {
            self.range <<= 8;
            self.shift();
        }
        Some(byte)
    }

    /// Returns whether the encoder would have ended the code like this.
    fn is_canonical(&self) -> bool {
        let settled = self.taken - 8;
        match self.code.last() {
            None => true,
            Some(0) => false,
            Some(_) if self.code.len() <= settled => true,
            // The last byte counts multiples of `LEAST_RANGE`. It is the first in the interval, and no multiple of 256 is.
            Some(&last) if self.code.len() == settled + 1 => {
                let to_next = (256 - u128::from(last)) * u128::from(LEAST_RANGE);
                self.offset < LEAST_RANGE
                    && u128::from(self.offset) + to_next >= u128::from(self.range)
            }
            Some(_) => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec;

    use super::*;
    use crate::hash::finalize;

    /// Returns pseudorandom bytes, each bit set with a probability of `share` / 2^16.
    fn random(len: usize, share: u64, seed: u64) -> Vec<u8> {
        let bit = |i| u8::from(finalize(seed << 32 | i) >> 48 < share);
        (0..len as u64)
            .map(|byte| (0..8).fold(0, |bits, i| bits << 1 | bit(8 * byte + i)))
            .collect()
    }

    fn body_of(bytes: &[u8]) -> Vec<u8> {
        let mut body = Vec::with_capacity(MAX_BODY_BYTES);
        let capacity = body.capacity();
        encode(bytes, &mut body);
        assert_eq!(body.capacity(), capacity, "a body is longer than the longest");
        body
    }

    fn decode(body: &[u8], bytes: &mut [u8]) -> Option<()> {
        super::decode(body, bytes, &mut vec![])
    }

    #[test]
    fn every_chunk_is_read_back_from_no_more_bytes_than_it_has() {
        for len in [1, 2, 3, 7, 8, 9, 64, 1000, 4095, CHUNK_BYTES] {
            for share in [0, 1, 20, 300, 3_277, 13_000, 32_768, 52_000, 65_000, 65_535, 65_536] {
                for seed in 0..4 {
                    let bytes = random(len, share, seed);
                    let body = body_of(&bytes);
                    assert!(body.len() <= len, "{len} {share}");
                    let mut read = vec![0xAA; len];
                    assert_eq!(decode(&body, &mut read), Some(()), "{len} {share} {seed}");
                    assert_eq!(read, bytes, "{len} {share} {seed}");
                }
            }
        }
    }

    #[test]
    fn a_chunk_of_equal_bytes_takes_next_to_nothing() {
        assert_eq!(body_of(&[0; CHUNK_BYTES]), []);
        assert!(body_of(&[0xff; CHUNK_BYTES]).len() <= 8);
        let mut one = [0; CHUNK_BYTES];
        one[4095] = 0x80;
        assert!(body_of(&one).len() <= 5, "{:?}", body_of(&one));
    }

    #[test]
    fn no_two_bodies_are_one_chunk() {
        let mut read = vec![0; 40];
        for share in [0, 3_000, 9_000, 32_768, 60_000, 65_536] {
            for seed in 0..40 {
                let bytes = random(40, share, seed);
                let body = body_of(&bytes);
                assert_eq!(decode(&bytes, &mut read).is_some(), body == bytes, "{share} {seed}");
                for at in 0..body.len() {
                    for change in 1..=255 {
                        let mut other = body.clone();
                        other[at] ^= change;
                        if decode(&other, &mut read).is_some() {
                            assert_eq!(body_of(&read), other, "{share} {seed} {at} {change}");
                        }
                    }
                }
                for longer in [0_u8, 1, 128, 255] {
                    let mut other = body.clone();
                    other.push(longer);
                    if decode(&other, &mut read).is_some() {
                        assert_eq!(body_of(&read), other, "{share} {seed} + {longer}");
                    }
                }
                for len in 1..body.len() {
                    if decode(&body[..len], &mut read).is_some() {
                        assert_eq!(body_of(&read), body[..len], "{share} {seed}, {len}");
                    }
                }
            }
        }
    }

    #[test]
    fn bodies_that_lie_are_refused() {
        let mut read = vec![0; 64];
        assert_eq!(decode(&[1], &mut read), None, "half of a count");
        assert_eq!(decode(&[0, 0], &mut read), None, "an empty chunk has no body");
        assert_eq!(decode(&[1, 2, 0], &mut read), None, "513 of 512 bits");
        assert_eq!(decode(&[0; 65], &mut read), None, "longer than the chunk");
        assert_eq!(decode(&[0; 64], &mut read), None, "an empty chunk as it is");
        assert_eq!(
            decode(&[0xff; 64], &mut read),
            None,
            "a chunk as it is, though its code is shorter"
        );
        let body = body_of(&random(64, 5_000, 1));
        // A wrong count gives other bytes. Some have as many ones by chance, and are the chunk of that code then.
        let lies = (0..=513_u16).map(|ones| [&ones.to_le_bytes(), &body[2..]].concat());
        let accepted: Vec<_> = lies.filter(|lie| decode(lie, &mut read).is_some()).collect();
        assert!(accepted.contains(&body) && accepted.len() < 50, "{}", accepted.len());
        for lie in accepted {
            decode(&lie, &mut read).unwrap();
            assert_eq!(body_of(&read), lie);
        }
    }
}
