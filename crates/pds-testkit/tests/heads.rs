//! Headers of envelopes, byte by byte. Each fault gets its own error at its exact offset.

#[path = "../../pds-core/tests/it/plain/mod.rs"]
mod plain;

extern crate alloc;

use alloc::sync::Arc;
use core::cell::Cell;
use core::ops::RangeInclusive;

use pds_core::bytes::{
    ByteOptions, Envelope, Header, Kind, NoHasher, Portable, Shape, Sink, Source,
};
use pds_core::error::{DecodeError, ReadError};
use pds_core::hash::{DefaultHashBuilder, SipHashBuilder, probe};
use pds_core::internal::{DecodeFault, SectionFault};
use pds_testkit::envelope::{
    DESIGN, HASHER, SHAPE, Section, envelope, forged, head_bytes, number_offset, sections,
    with_numbers, with_payload, with_sections,
};
use plain::{PLAIN, Plain, plain};

/// Words with a hasher and a design.
#[derive(Clone, Debug, PartialEq)]
struct Designed(Plain, Option<u64>, Option<f64>);

impl Portable for Designed {
    type Hasher = DefaultHashBuilder;
    const KIND: Kind = Kind::new(0x8002, "list of words that was designed");

    fn portable_hasher(&self) -> &DefaultHashBuilder {
        &self.0.hasher
    }

    fn shape(&self) -> Shape {
        self.0.shape().with_design(self.1, self.2)
    }

    fn payload_range(shape: &Shape) -> Result<RangeInclusive<u64>, DecodeError> {
        Plain::<DefaultHashBuilder>::payload_range(shape)
    }

    fn write_payload<W: Sink>(&self, sink: &mut W) -> Result<(), W::Error> {
        self.0.write_payload(sink)
    }

    fn read_payload<R: Source>(
        shape: &Shape,
        hasher: DefaultHashBuilder,
        source: &mut R,
    ) -> Result<Self, R::Error> {
        let words = Plain::read_payload(shape, hasher, source)?;
        Ok(Self(words, shape.expected_items(), shape.promised_rate()))
    }
}

/// A structure of a payload alone, without hasher, design or numbers. It always reads `READS` bytes.
#[derive(Debug, PartialEq)]
struct Bare<const READS: usize>(Vec<u8>);

impl<const READS: usize> Portable for Bare<READS> {
    type Hasher = NoHasher;
    const KIND: Kind = Kind::new(u16::MAX, "bare bytes");

    fn portable_hasher(&self) -> &NoHasher {
        &NoHasher
    }

    fn shape(&self) -> Shape {
        Shape::new([])
    }

    fn payload_range(shape: &Shape) -> Result<RangeInclusive<u64>, DecodeError> {
        shape.numbers([])?;
        shape.expect_no_design()?;
        Ok(2..=5)
    }

    fn write_payload<W: Sink>(&self, sink: &mut W) -> Result<(), W::Error> {
        sink.put(&self.0)
    }

    fn read_payload<R: Source>(_: &Shape, _: NoHasher, source: &mut R) -> Result<Self, R::Error> {
        let mut bytes = vec![0; READS];
        source.take(&mut bytes)?;
        Ok(Self(bytes))
    }
}

fn bytes_of<P: Portable>(structure: &P) -> Vec<u8> {
    ByteOptions::new().without_key().to_bytes(structure)
}

/// Returns the error for these bytes, which must be the same from a slice, a stream and a reader of single bytes.
fn error_of<P: Portable>(bytes: &[u8]) -> DecodeError {
    let error = ByteOptions::new().from_bytes::<P>(bytes).err().expect("bytes that are refused");
    let streams = [
        ByteOptions::new().max_bytes(u64::MAX).read_from::<P>(bytes),
        ByteOptions::new().max_bytes(u64::MAX).read_from::<P>(Slow(bytes)),
    ];
    for streamed in streams {
        match streamed.err() {
            Some(ReadError::Decode(streamed)) => assert_eq!(streamed, error),
            other => panic!("{other:?} instead of {error}"),
        }
    }
    assert!(!error.to_string().is_empty());
    error
}

/// A reader of one byte at a time.
struct Slow<'a>(&'a [u8]);

impl std::io::Read for Slow<'_> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let length = into.len().min(1);
        std::io::Read::read(&mut self.0, &mut into[..length])
    }
}

/// Compares every field with the specification, without the code that writes headers.
#[test]
fn case_19_a_head_is_what_the_specification_says() {
    let words = plain(2);
    let structure = Designed(words.clone(), Some(1_000), Some(0.01));
    let hasher = [
        &[1, 0, 1, 0, 0, 0, 0, 0][..],
        &probe(&words.hasher).to_le_bytes(),
        &[2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
    ];
    let design = [1_000u64.to_le_bytes(), 0.01f64.to_le_bytes()];
    let parts: [Section; 3] = [
        (HASHER, hasher.concat()),
        (DESIGN, design.concat()),
        (SHAPE, 2u64.to_le_bytes().to_vec()),
    ];
    let payload = [0u64, 0x0123_4567_89ab_cdef].map(u64::to_le_bytes).concat();
    let expected = envelope(0x8002, &parts, &payload);
    assert_eq!(bytes_of(&structure), expected);
    assert_eq!(ByteOptions::new().from_bytes::<Designed>(&expected), Ok(structure));
    assert_eq!(expected.len(), 128 + 16 + 8);

    let bare = envelope(u16::MAX, &[], &[1, 2, 3]);
    assert_eq!((bare.len(), bytes_of(&Bare::<3>(vec![1, 2, 3]))), (64 + 3 + 8, bare.clone()));
    assert_eq!(ByteOptions::new().from_bytes::<Bare<3>>(&bare), Ok(Bare(vec![1, 2, 3])));
}

#[test]
fn a_secret_that_is_left_out_leaves_zeros() {
    let keyed = Plain { words: vec![7], hasher: SipHashBuilder::from_key([9; 16]) };
    let (without, with) = (bytes_of(&keyed), ByteOptions::new().with_key().to_bytes(&keyed));
    assert_eq!(
        (without.len(), &without[34..36], &without[48..64]),
        (with.len(), &[0, 0][..], &[0; 16][..])
    );
    assert_eq!((&with[34..36], &with[48..64]), (&[1, 0][..], &[9; 16][..]));
    assert_eq!(ByteOptions::new().from_bytes::<Plain<SipHashBuilder>>(&with), Ok(keyed));
    assert_eq!(
        error_of::<Plain<SipHashBuilder>>(&without),
        DecodeError(DecodeFault::KeyMissing { offset: 48 })
    );
    // Unused bytes that are not zero, and unknown flags.
    let error = error_of::<Plain<SipHashBuilder>>(&forged(&without, 50, &[3]));
    assert_eq!(error, DecodeError(DecodeFault::Padding { offset: 50, found: 3 }));
    let error = error_of::<Plain<SipHashBuilder>>(&forged(&with, 34, &[2]));
    let (name, allowed) = ("the flags of the hasher", "0, or 1 where the seed is stored");
    assert_eq!(error, DecodeError(DecodeFault::Field { name, offset: 34, found: 2, allowed }));
}

/// Each part of a design may be missing. If both are, the section must be missing, too.
#[test]
fn a_design_has_one_form() {
    for (items, rate) in [(None, None), (Some(5), None), (None, Some(0.5)), (Some(1), Some(0.1))] {
        let structure = Designed(plain(1), items, rate);
        let bytes = bytes_of(&structure);
        assert_eq!(ByteOptions::new().from_bytes::<Designed>(&bytes).as_ref(), Ok(&structure));
        let has_design = sections(&bytes).iter().any(|(tag, _)| *tag == DESIGN);
        assert_eq!(has_design, items.is_some() || rate.is_some());
    }
    let bytes = bytes_of(&Designed(plain(1), Some(5), Some(0.5)));
    let rate = |rate: f64| error_of::<Designed>(&forged(&bytes, 80, &rate.to_le_bytes()));
    for value in [1.0, -0.5, -0.0, f64::NAN, f64::INFINITY, 1.5] {
        let (name, allowed) =
            ("the promised rate (as bits)", "0 for none, or a number above 0 and below 1");
        let found = value.to_bits();
        assert_eq!(
            rate(value),
            DecodeError(DecodeFault::Field { name, offset: 80, found, allowed })
        );
    }
    let (name, allowed) = ("the expected items", "at least 1 where no rate is stated");
    let error = error_of::<Designed>(&forged(&bytes, 72, &[0; 16]));
    assert_eq!(error, DecodeError(DecodeFault::Field { name, offset: 72, found: 0, allowed }));
}

#[test]
fn case_17_each_fault_of_a_section_is_an_error_of_its_own() {
    let bytes = bytes_of(&Designed(plain(2), Some(9), None));
    let parts = sections(&bytes);
    let [hasher, design, shape] = [0, 1, 2].map(|i: usize| parts[i].clone());
    let error = |parts: &[Section]| error_of::<Designed>(&with_sections(&bytes, parts));
    let fault = |offset, tag, fault| DecodeError(DecodeFault::Section { offset, tag, fault });

    let four = (4, vec![0; 8]);
    let unknown = error(&[hasher.clone(), design.clone(), shape.clone(), four]);
    assert_eq!(unknown, fault(104, 4, SectionFault::Unknown));
    let unknown = error(&[(u16::MAX, vec![])]);
    assert_eq!(unknown, fault(24, u16::MAX, SectionFault::Unknown));
    let repeated = error(&[hasher.clone(), hasher.clone(), shape.clone()]);
    assert_eq!(repeated, fault(64, HASHER, SectionFault::Repeated));
    let disordered = error(&[hasher.clone(), shape.clone(), design.clone()]);
    assert_eq!(disordered, fault(80, DESIGN, SectionFault::After { tag: SHAPE }));
    let disordered = error(&[hasher.clone(), design.clone(), hasher.clone()]);
    assert_eq!(disordered, fault(88, HASHER, SectionFault::After { tag: DESIGN }));
    let missing = error(&[design.clone(), shape.clone()]);
    assert_eq!(missing, fault(24, HASHER, SectionFault::Missing));
    let bare = envelope(u16::MAX, core::slice::from_ref(&hasher), &[1, 2, 3]);
    assert_eq!(error_of::<Bare<3>>(&bare), fault(24, HASHER, SectionFault::Unexpected));

    // 24 bytes of the header are left after the tag and the length of the shape.
    for found in [25, 32, 1 << 16, u32::MAX] {
        let error = error_of::<Designed>(&forged(&bytes, 92, &found.to_le_bytes()));
        let too_long = SectionFault::TooLong { found: found.into(), left: 24 };
        assert_eq!(error, fault(88, SHAPE, too_long), "{found}");
    }
    let length = |tag, offset, length: usize, allowed| {
        let mut parts = parts.clone();
        parts.retain(|part| part.0 < tag);
        parts.push((tag, vec![0; length]));
        let found = length as u64;
        assert_eq!(error(&parts), fault(offset, tag, SectionFault::Length { found, allowed }));
    };
    [0, 16, 31, 33, 64].iter().for_each(|&bytes| length(HASHER, 24, bytes, "32 bytes"));
    [0, 8, 15, 17, 24].iter().for_each(|&bytes| length(DESIGN, 64, bytes, "16 bytes"));
    let numbers = "8 bytes for each of 1 to 16 numbers";
    [0, 1, 7, 9, 12, 136, 1_000].iter().for_each(|&bytes| length(SHAPE, 88, bytes, numbers));

    let numbers = |found| DecodeError(DecodeFault::Numbers { offset: 96, expected: 1, found });
    assert_eq!(error_of::<Designed>(&with_numbers(&bytes, &[2, 0])), numbers(2));
    assert_eq!(error_of::<Designed>(&with_numbers(&bytes, &[2; 16])), numbers(16));
    let none = DecodeError(DecodeFault::Numbers { offset: 24, expected: 1, found: 0 });
    assert_eq!(error_of::<Designed>(&with_numbers(&bytes, &[])), none);
    let error = error_of::<Designed>(&with_numbers(&bytes, &[1 << 40]));
    let (name, allowed) = ("words", "at most 2^20");
    assert_eq!(
        error,
        DecodeError(DecodeFault::Field { name, offset: 96, found: 1 << 40, allowed })
    );
}

/// The padding between sections, after them and after a tag is checked byte by byte.
#[test]
fn case_17_what_means_nothing_is_zero() {
    let bytes = bytes_of(&Designed(plain(2), Some(9), None));
    for offset in [26, 27, 36, 39, 66, 90, 91, 106, 111, 112, 119] {
        let error = error_of::<Designed>(&forged(&bytes, offset, &[0x5a]));
        assert_eq!(error, DecodeError(DecodeFault::Padding { offset: offset as u64, found: 0x5a }));
    }
    // A section whose length is not a multiple of 8 is padded with zeros.
    let odd = with_sections(&bytes, &[(HASHER, vec![0; 32]), (9, vec![1; 5])]);
    let error = error_of::<Designed>(&forged(&odd, 64 + 8 + 6, &[1]));
    assert_eq!(error, DecodeError(DecodeFault::Padding { offset: 78, found: 1 }));
}

#[test]
fn case_17_a_head_is_as_long_as_it_needs_to_be() {
    let bytes = bytes_of(&plain(2));
    let head = |allowed, found| {
        DecodeError(DecodeFault::Field {
            name: "the length of the head",
            offset: 12,
            found,
            allowed,
        })
    };
    for length in [0u32, 1, 63, 65, 120, 4097, 4160, 1 << 16, 128 | 1 << 31, u32::MAX] {
        let error = error_of::<Plain>(&forged(&bytes, 12, &length.to_le_bytes()));
        let allowed = "a multiple of 64 from 64 to 4096";
        assert_eq!(error, head(allowed, length.into()));
    }
    // A longer header, with zeros in it and everything after it moved.
    let lengthened = |by: usize| {
        let mut long = [&bytes[..120], &vec![0; by][..], &bytes[120..]].concat();
        long[12..16].copy_from_slice(&(128 + u32::try_from(by).unwrap()).to_le_bytes());
        let total = long.len() as u64;
        forged(&long, 16, &total.to_le_bytes())
    };
    assert_eq!(head_bytes(&lengthened(64)), Some(192));
    for by in [64, 128, 4096 - 128] {
        let allowed = "the least multiple of 64 that holds the sections and a checksum";
        assert_eq!(error_of::<Plain>(&lengthened(by)), head(allowed, 128 + by as u64));
    }
    // Longer than the input: truncated in the header.
    let cut = forged(&bytes, 12, &192u32.to_le_bytes());
    assert_eq!(
        error_of::<Plain>(&cut),
        DecodeError(DecodeFault::Truncated { offset: 152, expected: 192 })
    );
    // Longer than the envelope.
    for length in [0u64, 64, 128, 135] {
        let error = error_of::<Plain>(&forged(&bytes, 16, &length.to_le_bytes()));
        let (name, allowed) =
            ("the length of the envelope", "at least that of its head and a checksum");
        assert_eq!(
            error,
            DecodeError(DecodeFault::Field { name, offset: 16, found: length, allowed })
        );
    }
}

#[test]
fn case_17_the_payload_is_as_long_as_the_shape_says_and_no_longer() {
    let bytes = bytes_of(&plain(2));
    for found in [0, 8, 15, 17, 24] {
        let error = error_of::<Plain>(&with_payload(&bytes, &vec![0; found]));
        let found = found as u64;
        assert_eq!(
            error,
            DecodeError(DecodeFault::PayloadLength { offset: 16, min: 16, max: 16, found })
        );
    }
    let of = |length: usize| envelope(u16::MAX, &[], &vec![1; length]);
    for found in [0, 1, 6] {
        let error = error_of::<Bare<3>>(&of(found));
        let found = found as u64;
        assert_eq!(
            error,
            DecodeError(DecodeFault::PayloadLength { offset: 16, min: 2, max: 5, found })
        );
    }
    // Within the range, but more or fewer bytes than the structure reads.
    assert_eq!(
        error_of::<Bare<3>>(&of(5)),
        DecodeError(DecodeFault::Unread { offset: 67, found: 2 })
    );
    let end = DecodeError(DecodeFault::PayloadEnd { offset: 64, needed: 3, left: 2 });
    assert_eq!(error_of::<Bare<3>>(&of(2)), end);
}

/// Flips every bit of small envelopes with all sections, some, or none.
#[test]
fn case_17_every_flipped_bit_is_an_error() {
    fn check<P: Portable>(bytes: &[u8]) {
        assert!(ByteOptions::new().from_bytes::<P>(bytes).is_ok());
        let head = head_bytes(bytes).unwrap();
        for bit in 0..8 * bytes.len() {
            let mut damaged = bytes.to_vec();
            damaged[bit / 8] ^= 1 << (bit % 8);
            let error = ByteOptions::new().from_bytes::<P>(&damaged).err();
            let error = error.unwrap_or_else(|| panic!("bit {bit} flipped"));
            let expected = match bit / 8 {
                0..8 => matches!(error, DecodeError(DecodeFault::Magic { offset: 0, .. })),
                8..10 => matches!(error, DecodeError(DecodeFault::Version { offset: 8, .. })),
                12..16 => matches!(
                    error,
                    DecodeError(DecodeFault::Field { offset: 12, .. })
                        | DecodeError(DecodeFault::Truncated { .. })
                        | DecodeError(DecodeFault::Checksum { part: "header", .. })
                ),
                at if at < head => {
                    let sum_at = head as u64 - 8;
                    matches!(error, DecodeError(DecodeFault::Checksum { part: "header", offset, .. }) if offset == sum_at)
                }
                _ => {
                    let sum_at = bytes.len() as u64 - 8;
                    matches!(error, DecodeError(DecodeFault::Checksum { part: "payload", offset, .. }) if offset == sum_at)
                }
            };
            assert!(expected, "bit {bit}: {error}");
            let streamed = ByteOptions::new().max_bytes(1 << 16).read_from::<P>(damaged.as_slice());
            assert!(streamed.is_err(), "bit {bit} flipped in a stream");
        }
    }
    check::<Plain>(&bytes_of(&plain(2)));
    check::<Plain<SipHashBuilder>>(
        &ByteOptions::new()
            .with_key()
            .to_bytes(&Plain { words: vec![1], hasher: SipHashBuilder::from_key([5; 16]) }),
    );
    check::<Designed>(&bytes_of(&Designed(plain(1), Some(4), Some(0.1))));
    check::<Bare<4>>(&bytes_of(&Bare::<4>(vec![0; 4])));
}

/// The error for a truncated input states its length and the length needed.
#[test]
fn case_17_every_cut_says_where() {
    let bytes = bytes_of(&plain(3));
    for length in 0..bytes.len() {
        let expected = match length {
            0..24 => 72,
            24..128 => 128,
            _ => bytes.len() as u64,
        };
        let error = error_of::<Plain>(&bytes[..length]);
        assert_eq!(error, DecodeError(DecodeFault::Truncated { offset: length as u64, expected }));
    }
}

#[test]
fn kinds_of_ones_own_are_known_by_their_number() {
    let bytes = bytes_of(&plain(1));
    let header = Header::peek(&bytes).unwrap();
    assert_eq!((header.kind, header.kind.id()), (PLAIN, 0x8001));
    assert_eq!(
        (header.kind.to_string(), PLAIN.to_string()),
        ("kind 32769".into(), "list of words".into())
    );
    let error = error_of::<Designed>(&bytes);
    assert_eq!(
        error,
        DecodeError(DecodeFault::Kind { offset: 10, expected: Designed::KIND, found: header.kind })
    );
    let text = "the kind at offset 10 is 32769, expected 32770 (list of words that was designed)";
    assert_eq!(error.to_string(), text);
    let ours = forged(&bytes, 10, &Kind::CUCKOO.id().to_le_bytes());
    assert_eq!(Header::peek(&ours).unwrap().kind.to_string(), "cuckoo filter");
    let reserved = forged(&bytes, 10, &3u16.to_le_bytes());
    assert_eq!(Header::peek(&reserved).unwrap().kind.to_string(), "kind 3");
}

#[test]
#[should_panic(expected = "reserved")]
fn a_kind_of_ones_own_has_no_number_of_the_family() {
    let _ = Kind::new(0x7fff, "intruder");
}

#[test]
fn a_header_tells_offsets_and_lengths() {
    let bytes = bytes_of(&Designed(plain(2), Some(9), Some(0.25)));
    let header = Header::peek(&bytes).unwrap();
    assert_eq!((header.offset(), header.payload_offset(), header.payload_end()), (0, 128, 144));
    assert_eq!((header.envelope_bytes(), header.payload_bytes), (152, 16));
    assert_eq!(
        (header.shape.expected_items(), header.shape.promised_rate()),
        (Some(9), Some(0.25))
    );
    assert_eq!((header.shape.as_slice(), number_offset(&bytes, 0)), (&[2][..], 96));
}

/// An envelope answers the same, whether it owns its bytes or borrows them.
#[test]
fn an_envelope_is_opened_in_any_bytes() {
    fn check<B: AsRef<[u8]>>(bytes: B) {
        let envelope = Envelope::open(bytes).unwrap();
        assert_eq!(envelope.expect::<Plain>(), Ok(()));
        assert_eq!(envelope.payload(), [[0; 8], 0x0123_4567_89ab_cdefu64.to_le_bytes()].concat());
        assert_eq!(envelope.verify(), Ok(()));
        assert_eq!(envelope.decode::<Plain>(None), Ok(plain(2)));
        assert_eq!(envelope.header().envelope_bytes(), envelope.get_ref().as_ref().len() as u64);
    }
    let bytes = bytes_of(&plain(2));
    check(bytes.as_slice());
    check(Arc::<[u8]>::from(bytes.as_slice()));
    check(bytes.clone().into_boxed_slice());
    check(bytes);
}

/// Bytes that change between two accesses, like a mapped file that is truncated or overwritten.
struct Changing(Cell<usize>, [Vec<u8>; 2]);

impl AsRef<[u8]> for Changing {
    fn as_ref(&self) -> &[u8] {
        &self.1[self.0.get()]
    }
}

#[test]
fn case_21_bytes_that_change_under_an_envelope_are_no_panic() {
    let (first, longer) = (bytes_of(&plain(2)), bytes_of(&plain(40)));
    let others: Vec<Vec<u8>> = (0..=first.len()).map(|length| first[..length].to_vec()).collect();
    for other in others.into_iter().chain([longer, vec![0xff; 152], vec![0; 4_000]]) {
        let same = other == first;
        let envelope = Envelope::open(Changing(Cell::new(0), [first.clone(), other])).unwrap();
        envelope.get_ref().0.set(1);
        assert!(same == envelope.verify().is_ok());
        assert!(same == envelope.decode::<Plain>(None).is_ok());
        assert!(envelope.payload().len() <= 16);
        let borrowed = envelope.borrowed();
        assert!(borrowed.nested_at(0).is_err() && borrowed.nested_at(u64::MAX).is_err());
    }
}

#[test]
fn a_stream_is_looked_at_before_it_is_decoded() {
    let stream = [bytes_of(&plain(2)), bytes_of(&Bare::<3>(vec![1, 2, 3]))].concat();
    let mut reader = stream.as_slice();
    let first = ByteOptions::new().max_bytes(152).open_stream(&mut reader).unwrap();
    assert_eq!((first.header().kind, first.header().payload_bytes), (PLAIN, 16));
    assert_eq!(first.decode::<Plain>(None).unwrap(), plain(2));
    let second = ByteOptions::new().max_bytes(74).open_stream(&mut reader).unwrap();
    let Err(ReadError::Decode(error)) = second.decode::<Bare<3>>(None) else { panic!("read") };
    assert_eq!(error, DecodeError(DecodeFault::Limit { offset: 16, limit: 74, found: 75 }));
    assert_eq!(reader.len(), 75 - 64, "its head was read and no more");
}
