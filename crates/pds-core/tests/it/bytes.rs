//! The envelope by itself, with a structure as small as can be: words, and nothing else.
//!
//! Crafted heads, and envelopes in envelopes, are tested beside the code that crafts them, in `pds-testkit`.

#![cfg(feature = "std")]

use core::hash::{BuildHasher, Hasher};
use std::panic::catch_unwind;

use crate::plain::{MOST_WORDS, Plain, plain};
use pds_core::bytes::{ByteOptions, Envelope, Header, Shape};
use pds_core::error::{DecodeError, ReadError};
use pds_core::hash::{DefaultHashBuilder, KeyHasher, PortableHasher};
use pds_core::internal::DecodeFault;

/// Words pass in pieces of 2048: sizes about its multiples.
#[test]
fn case_20_every_number_of_words_comes_back() {
    for words in [0, 1, 7, 2047, 2048, 2049, 4095, 4096, 4097, 10_000] {
        let bytes = ByteOptions::new().without_key().to_bytes(&plain(words));
        assert_eq!(bytes.len() as u64, 136 + 8 * words);
        assert_eq!(ByteOptions::new().from_bytes::<Plain>(&bytes).unwrap(), plain(words));
        let mut written = Vec::new();
        ByteOptions::new().write_to(&plain(words), &mut written).unwrap();
        assert_eq!(written, bytes);
        let read =
            ByteOptions::new().max_bytes(136 + 8 * words).read_from::<Plain>(bytes.as_slice());
        assert_eq!(read.unwrap(), plain(words));
    }
}

/// The words are laid out by value: the same on machines of either byte order.
#[test]
fn case_19_the_lowest_byte_comes_first() {
    let bytes = ByteOptions::new().without_key().to_bytes(&plain(2));
    assert_eq!(bytes[136..144], [0xef, 0xcd, 0xab, 0x89, 0x67, 0x45, 0x23, 0x01]);
}

#[test]
fn an_envelope_opens_without_its_payload_being_looked_at() {
    let mut bytes = ByteOptions::new().without_key().to_bytes(&plain(3));
    bytes[130] ^= 1;
    let envelope = Envelope::open(bytes.as_slice()).unwrap();
    assert_eq!(envelope.payload(), &bytes[128..152]);
    assert_eq!(envelope.header(), &Header::peek(&bytes).unwrap());
    let DecodeError(DecodeFault::Checksum { part: "payload", offset: 152, .. }) =
        envelope.verify().unwrap_err()
    else {
        panic!("another error")
    };
    assert_eq!(envelope.decode::<Plain>(None), Err(envelope.verify().unwrap_err()));
}

#[test]
fn an_envelope_beyond_the_payload_is_refused_at_its_end() {
    let bytes = ByteOptions::new().without_key().to_bytes(&plain(3));
    let envelope = Envelope::open(bytes.as_slice()).unwrap();
    for position in [25, 1_000, u64::MAX] {
        let error = envelope.nested_at(position).map(|_| ()).unwrap_err();
        let needed = position - 24;
        assert_eq!(error, DecodeError(DecodeFault::PayloadEnd { offset: 152, needed, left: 0 }));
    }
}

/// A shape that no reader accepts, or that is read as another one, cannot be written.
#[test]
fn an_impossible_design_is_noticed_before_it_is_written() {
    let shape = || Shape::new([1]);
    for (items, rate) in [(Some(1), None), (None, Some(0.5)), (Some(u64::MAX), Some(1e-300))] {
        let designed = shape().with_design(items, rate);
        assert_eq!((designed.expected_items(), designed.promised_rate()), (items, rate));
    }
    assert_eq!(shape().with_design(None, None), shape());
    let rates = [0.0, -0.5, 1.0, 1.5, f64::INFINITY, f64::NAN].map(|rate| (Some(5), Some(rate)));
    for (items, rate) in [(Some(0), None), (Some(0), Some(0.5))].into_iter().chain(rates) {
        let designed = catch_unwind(|| shape().with_design(items, rate));
        assert!(designed.is_err(), "{items:?} {rate:?}");
    }
}

/// A hasher of a user's own, whose id lies above ours.
#[derive(Clone, Debug, PartialEq)]
struct Own(u8);

struct Sum(u64);

impl Hasher for Sum {
    fn write(&mut self, bytes: &[u8]) {
        self.0 =
            bytes.iter().fold(self.0, |sum, &byte| sum.wrapping_mul(257).wrapping_add(byte.into()));
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

impl BuildHasher for Own {
    type Hasher = Sum;

    fn build_hasher(&self) -> Sum {
        Sum(self.0.into())
    }
}

impl KeyHasher for Own {
    fn hash_key_dyn(&self, feed: &mut dyn FnMut(&mut dyn Hasher)) -> u64 {
        let mut hasher = self.build_hasher();
        feed(&mut hasher);
        hasher.finish()
    }
}

impl PortableHasher for Own {
    const ID: u16 = 1 << 15;
    const SECRET: bool = true;

    fn to_seed(&self) -> [u8; 16] {
        [self.0; 16]
    }

    fn from_seed(seed: [u8; 16]) -> Option<Self> {
        (seed == [seed[0]; 16]).then_some(Self(seed[0]))
    }
}

/// A hasher that cannot read its own seed: it reads another one, or none.
#[derive(Clone, Debug, PartialEq)]
struct Forgetful<const READS: bool>(Own);

impl<const READS: bool> KeyHasher for Forgetful<READS> {
    fn hash_key_dyn(&self, feed: &mut dyn FnMut(&mut dyn Hasher)) -> u64 {
        self.0.hash_key_dyn(feed)
    }
}

impl<const READS: bool> PortableHasher for Forgetful<READS> {
    const ID: u16 = Own::ID + 1;
    const SECRET: bool = true;

    fn to_seed(&self) -> [u8; 16] {
        self.0.to_seed()
    }

    fn from_seed(seed: [u8; 16]) -> Option<Self> {
        READS.then(|| Self(Own(seed[0] ^ 1)))
    }
}

/// Bytes that nobody could read are not written. Without the seed they can be read by whoever has the hasher.
#[test]
fn a_hasher_that_cannot_read_its_seed_is_noticed_on_writing() {
    fn check<const READS: bool>() {
        let structure = Plain { words: vec![1, 2], hasher: Forgetful::<READS>(Own(9)) };
        let written =
            std::panic::catch_unwind(|| ByteOptions::new().with_key().to_bytes(&structure));
        let panic = written.unwrap_err();
        assert_eq!(
            panic.downcast_ref::<&str>(),
            Some(&"`from_seed` of the hasher does not undo its `to_seed`")
        );
        let bytes = ByteOptions::new().without_key().to_bytes(&structure);
        let read = ByteOptions::new().hasher(Forgetful::<READS>(Own(9))).from_bytes(&bytes);
        assert_eq!(read, Ok(structure));
    }
    check::<true>();
    check::<false>();
}

#[test]
fn a_hasher_of_ones_own_travels_with_its_seed() {
    let own = Plain { words: vec![1, 2], hasher: Own(9) };
    let bytes = ByteOptions::new().with_key().to_bytes(&own);
    assert_eq!(Header::peek(&bytes).unwrap().hasher.map(|hasher| hasher.id), Some(Own::ID));
    assert_eq!(ByteOptions::new().from_bytes::<Plain<Own>>(&bytes).unwrap(), own);
    let wrong = ByteOptions::new().hasher(Own(8)).from_bytes::<Plain<Own>>(&bytes).unwrap_err();
    assert!(matches!(wrong, DecodeError(DecodeFault::KeyMismatch { offset: 40, .. })), "{wrong:?}");
    let error = ByteOptions::new().from_bytes::<Plain>(&bytes).unwrap_err();
    assert_eq!(error, DecodeError(DecodeFault::Hasher { offset: 32, expected: 1, found: Own::ID }));
    let without = ByteOptions::new().without_key().to_bytes(&own);
    assert_eq!(
        ByteOptions::new().from_bytes::<Plain<Own>>(&without),
        Err(DecodeError(DecodeFault::KeyMissing { offset: 48 }))
    );
    assert_eq!(ByteOptions::new().hasher(Own(9)).from_bytes::<Plain<Own>>(&without).unwrap(), own);
}

#[test]
fn a_shape_that_is_refused_is_not_read() {
    let bytes = ByteOptions::new().without_key().to_bytes(&plain(8));
    let mut head = bytes[..128].to_vec();
    head[72..80].copy_from_slice(&(MOST_WORDS + 1).to_le_bytes());
    head[16..24].copy_from_slice(&(136 + 8 * (MOST_WORDS + 1)).to_le_bytes());
    let sum = DefaultHashBuilder::default().hash_bytes(&head[..120]);
    head[120..].copy_from_slice(&sum.to_le_bytes());
    let read = ByteOptions::new().max_bytes(u64::MAX).read_from::<Plain>(head.as_slice());
    let ReadError::Decode(DecodeError(DecodeFault::Field { offset: 72, found, .. })) =
        read.unwrap_err()
    else {
        panic!("another error")
    };
    assert_eq!(found, MOST_WORDS + 1);
}

/// Whatever a format gives (bytes, borrowed or owned, a sequence, text), it is read.
#[cfg(feature = "serde")]
#[test]
fn case_18_every_form_that_a_format_gives_is_read() {
    use pds_core::internal::serde::deserialize;
    use serde::de::IntoDeserializer;
    use serde::de::value::{
        BytesDeserializer, Error, SeqDeserializer, StrDeserializer, StringDeserializer,
    };

    let bytes = ByteOptions::new().without_key().to_bytes(&plain(5));
    let text = serde_json::to_value(Written(plain(5))).unwrap();
    let text = text.as_str().unwrap();
    let borrowed: StrDeserializer<'_, Error> = text.into_deserializer();
    let owned: StringDeserializer<Error> = text.to_owned().into_deserializer();
    let read: [Result<Plain, Error>; 4] = [
        deserialize(BytesDeserializer::new(&bytes)),
        deserialize(SeqDeserializer::new(bytes.iter().copied())),
        deserialize(borrowed),
        deserialize(owned),
    ];
    for read in read {
        assert_eq!(read.unwrap(), plain(5));
    }
    let cut: Result<Plain, Error> = deserialize(BytesDeserializer::new(&bytes[..bytes.len() - 1]));
    assert!(cut.unwrap_err().to_string().contains("175 of at least 176 bytes are there"));
}

#[cfg(feature = "serde")]
struct Written(Plain);

#[cfg(feature = "serde")]
impl serde::Serialize for Written {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        pds_core::internal::serde::serialize(&self.0, serializer)
    }
}
