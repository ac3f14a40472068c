//! Nested envelopes: alignment, depth, streams, views, and faults at their exact offsets.

#[path = "../../pds-core/tests/it/plain/mod.rs"]
mod plain;

use core::ops::RangeInclusive;
use std::io::Read;

use pds_core::bytes::{
    ByteOptions, Delta, Envelope, Header, Kind, MAX_NESTING, NoHasher, Portable, Shape, Sink,
    Source, ToEnvelope,
};
use pds_core::error::{ApplyError, DecodeError, ReadError};
use pds_core::hash::{DefaultHashBuilder, PortableHasher, SipHashBuilder};
use pds_core::internal::DecodeFault;
use pds_testkit::allocation::{CONSTANT, PeakAlloc, peak_of};
use pds_testkit::envelope::{
    envelope, forged, head_bytes, sections, with_number, with_payload, with_sections,
};
use pds_testkit::mutate::{Choices, inputs, mutate};
use pds_testkit::portable;
use plain::{Plain, plain};

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

/// A user-defined structure that contains others of its own type. A byte string in front of them puts them at odd
/// offsets. Nothing in it hashes.
#[derive(Clone, Debug, Default, PartialEq)]
struct Tree {
    label: Vec<u8>,
    children: Vec<Self>,
}

const MOST_CHILDREN: u64 = 1_000;

impl Portable for Tree {
    type Hasher = NoHasher;
    const KIND: Kind = Kind::new(0x9000, "tree");

    fn portable_hasher(&self) -> &NoHasher {
        &NoHasher
    }

    fn shape(&self) -> Shape {
        Shape::new([self.label.len() as u64, self.children.len() as u64])
    }

    fn payload_range(shape: &Shape) -> Result<RangeInclusive<u64>, DecodeError> {
        let numbers = shape.numbers(["label", "children"])?;
        match numbers.values() {
            [label @ 0..=1_000, children @ 0..=MOST_CHILDREN] => {
                Ok(label + 72 * children..=u64::MAX)
            }
            [0..=1_000, _] => Err(numbers.field(1, "at most 1000")),
            _ => Err(numbers.field(0, "at most 1000")),
        }
    }

    fn write_payload<W: Sink>(&self, sink: &mut W) -> Result<(), W::Error> {
        sink.put(&self.label)?;
        self.children.iter().try_for_each(|child| sink.put_envelope(child))
    }

    fn read_payload<R: Source>(
        shape: &Shape,
        _: NoHasher,
        source: &mut R,
    ) -> Result<Self, R::Error> {
        let [label, children] = shape.numbers(["label", "children"])?.values();
        let mut tree = Self { label: vec![0; usize::try_from(label).unwrap()], children: vec![] };
        source.take(&mut tree.label)?;
        for _ in 0..children {
            tree.children.push(source.take_envelope(None)?);
        }
        Ok(tree)
    }
}

/// Two lists of words with one hasher, whose key may be secret.
#[derive(Clone, Debug, PartialEq)]
struct Pair<S> {
    left: Plain<S>,
    right: Plain<S>,
}

impl<S: PortableHasher + Clone> Portable for Pair<S> {
    type Hasher = S;
    const KIND: Kind = Kind::new(0x9001, "pair");

    fn portable_hasher(&self) -> &S {
        &self.left.hasher
    }

    fn shape(&self) -> Shape {
        Shape::new([])
    }

    fn payload_range(shape: &Shape) -> Result<RangeInclusive<u64>, DecodeError> {
        shape.numbers([])?;
        Ok(0..=u64::MAX)
    }

    fn write_payload<W: Sink>(&self, sink: &mut W) -> Result<(), W::Error> {
        sink.put_envelope(&self.left)?;
        sink.put_envelope(&self.right)
    }

    fn read_payload<R: Source>(_: &Shape, hasher: S, source: &mut R) -> Result<Self, R::Error> {
        let left = source.take_envelope(Some(hasher.clone()))?;
        Ok(Self { left, right: source.take_envelope(Some(hasher))? })
    }
}

fn leaf(label: &[u8]) -> Tree {
    Tree { label: label.into(), children: vec![] }
}

fn node(label: &[u8], children: &[Tree]) -> Tree {
    Tree { label: label.into(), children: children.into() }
}

/// Returns a tree with all sorts of children: none, some, deep.
fn tree() -> Tree {
    let deep = node(b"d", &[node(&[7; 64], &[node(b"", &[leaf(b"deepest")])])]);
    node(b"root", &[leaf(b""), node(&[1; 63], &[leaf(&[2; 65]), leaf(b"x")]), deep])
}

/// Returns a chain of `depth` nested trees.
fn chain(depth: usize) -> Tree {
    (0..depth).fold(leaf(b"end"), |inner, _| node(b"link", &[inner]))
}

fn bytes_of<P: Portable>(structure: &P) -> Vec<u8> {
    ByteOptions::new().without_key().to_bytes(structure)
}

/// Returns the result for these bytes, which must be the same from a slice, a stream and a stream of single bytes.
fn read<P: Portable + PartialEq + core::fmt::Debug>(bytes: &[u8]) -> Result<P, DecodeError> {
    let read = ByteOptions::new().from_bytes::<P>(bytes);
    let streams = [
        ByteOptions::new().max_bytes(u64::MAX).read_from(bytes),
        ByteOptions::new().max_bytes(u64::MAX).read_from(Slow(bytes)),
    ];
    for streamed in streams {
        let streamed = streamed.map_err(|error| match error {
            ReadError::Decode(error) => error,
            other => panic!("{other}"),
        });
        assert_eq!(streamed, read);
    }
    read
}

/// A reader of one byte at a time.
struct Slow<'a>(&'a [u8]);

impl Read for Slow<'_> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let length = into.len().min(1);
        self.0.read(&mut into[..length])
    }
}

/// Returns the bytes by the specification alone: children after the label, each at the next multiple of 64.
fn by_specification(tree: &Tree) -> Vec<u8> {
    let mut payload = tree.label.clone();
    for child in &tree.children {
        payload.resize(payload.len().next_multiple_of(64), 0);
        payload.extend(by_specification(child));
    }
    let numbers = [tree.label.len() as u64, tree.children.len() as u64];
    envelope(0x9000, &[(3, numbers.map(u64::to_le_bytes).concat())], &payload)
}

#[test]
fn nested_envelopes_are_what_the_specification_says() {
    for tree in [tree(), leaf(b""), leaf(b"alone"), chain(1), chain(MAX_NESTING)] {
        let bytes = bytes_of(&tree);
        assert_eq!(bytes, by_specification(&tree));
        assert_eq!(bytes.len() as u64, tree.envelope_bytes());
        assert_eq!(read::<Tree>(&bytes), Ok(tree.clone()));
        let mut written = Vec::new();
        ByteOptions::new().write_to(&tree, &mut written).unwrap();
        assert_eq!(written, bytes);
    }
}

#[test]
fn a_key_is_written_where_that_of_the_whole_is() {
    let hasher = SipHashBuilder::from_key([0xa5; 16]);
    let list = |words: &[u64]| Plain { words: words.into(), hasher };
    let pair = Pair { left: list(&[1, 2, 3]), right: list(&[4]) };
    let (without, with) = (bytes_of(&pair), ByteOptions::new().with_key().to_bytes(&pair));
    assert_eq!(without.len(), with.len());
    let keys = |bytes: &[u8]| bytes.windows(16).filter(|window| *window == [0xa5; 16]).count();
    assert_eq!((keys(&without), keys(&with)), (0, 3));
    assert_eq!(ByteOptions::new().from_bytes(&with), Ok(pair.clone()));
    assert_eq!(ByteOptions::new().hasher(hasher).from_bytes(&without), Ok(pair));
    let read = ByteOptions::new().from_bytes::<Pair<SipHashBuilder>>(&without);
    assert_eq!(read, Err(DecodeError(DecodeFault::KeyMissing { offset: 48 })));
}

/// The error for children with another hasher is at the probe of the child.
#[test]
fn another_hasher_inside_is_found_where_it_stands() {
    let pair = bytes_of(&Pair { left: plain(1), right: plain(1) });
    // The left list ends at byte 144 of the payload, the right one begins at 192.
    let payload = [&pair[128..128 + 192], &bytes_of(&plain(2))].concat();
    let error = read::<Pair<DefaultHashBuilder>>(&with_payload(&pair, &payload)).unwrap_err();
    assert!(
        matches!(error, DecodeError(DecodeFault::KeyMismatch { offset, .. }) if offset == 128 + 192 + 40)
    );
}

#[test]
fn envelopes_lie_at_most_so_deep() {
    let deepest = bytes_of(&chain(MAX_NESTING));
    assert_eq!(read::<Tree>(&deepest), Ok(chain(MAX_NESTING)));
    let too_deep = by_specification(&chain(MAX_NESTING + 1));
    // Four headers of 64 bytes, each with a label in front of the nested envelope, and the fifth label.
    let offset = 4 * (64 + 64) + 64 + 4;
    let error = DecodeError(DecodeFault::Nesting { offset, limit: MAX_NESTING });
    assert_eq!(read::<Tree>(&too_deep), Err(error));
    assert_eq!(error.to_string(), "the envelope at offset 580 lies in more than 4 others");
    for depth in 0..20 {
        let bytes = by_specification(&chain(depth));
        assert_eq!(read::<Tree>(&bytes).is_ok(), depth <= MAX_NESTING);
    }
}

/// Applies deltas between states of a pair with this hasher, and of the list in it. `other` is another hasher.
fn apply_deltas<S: PortableHasher + Clone + PartialEq + core::fmt::Debug>(hasher: &S, other: &S) {
    let list = |words: &[u64], hasher: &S| Plain { words: words.into(), hasher: hasher.clone() };
    let pair = |left, right| Pair { left: list(left, hasher), right: list(right, hasher) };
    let (old, new) = (pair(&[1, 2, 3], &[4]), pair(&[1, 7, 3], &[5]));
    let delta = Delta::between(&old, &new).unwrap();
    let mut copy = old.clone();
    assert_eq!(delta.apply(&mut copy), Ok(()));
    assert_eq!(copy, new);
    assert_eq!(delta.apply(&mut copy), Err(ApplyError::Applied));
    let foreign = |words| list(words, other);
    let mut foreign = Pair { left: foreign(&[1, 2, 3]), right: foreign(&[4]) };
    assert!(matches!(delta.apply(&mut foreign), Err(ApplyError::Other { .. })));

    let (mut copy, new) = (old.left, new.left);
    Delta::between(&copy, &new).unwrap().apply(&mut copy).unwrap();
    assert_eq!(copy, new);
}

#[test]
fn deltas_apply_to_nested_structures_whether_their_key_is_secret_or_not() {
    apply_deltas(&SipHashBuilder::from_key([0xa5; 16]), &SipHashBuilder::from_key([0x5a; 16]));
    apply_deltas(&DefaultHashBuilder::with_seed(1), &DefaultHashBuilder::with_seed(2));
    let (mut old, new) = (node(b"ab", &[leaf(b"c")]), node(b"ab", &[leaf(b"d")]));
    Delta::between(&old, &new).unwrap().apply(&mut old).unwrap();
    assert_eq!(old, new);
}

#[test]
#[should_panic(expected = "nested too deep")]
fn what_no_reader_accepts_is_not_written() {
    bytes_of(&chain(MAX_NESTING + 1));
}

/// A tree that states another length than it writes.
struct Liar(i64);

impl Portable for Liar {
    type Hasher = NoHasher;
    const KIND: Kind = Kind::new(0x9002, "liar");

    fn portable_hasher(&self) -> &NoHasher {
        &NoHasher
    }

    fn shape(&self) -> Shape {
        Shape::new([])
    }

    fn payload_bytes(&self) -> u64 {
        10u64.saturating_add_signed(self.0)
    }

    fn payload_range(_: &Shape) -> Result<RangeInclusive<u64>, DecodeError> {
        Ok(0..=u64::MAX)
    }

    fn write_payload<W: Sink>(&self, sink: &mut W) -> Result<(), W::Error> {
        sink.put(&[0; 10])
    }

    fn read_payload<R: Source>(_: &Shape, _: NoHasher, _: &mut R) -> Result<Self, R::Error> {
        Ok(Self(0))
    }
}

#[test]
fn a_structure_writes_as_much_as_it_says() {
    assert_eq!(bytes_of(&Liar(0)).len(), 64 + 10 + 8);
    for by in [-10, -1, 1, 100] {
        assert!(std::panic::catch_unwind(|| bytes_of(&Liar(by))).is_err(), "{by}");
    }
}

/// Returns the offset of a fault, as stated by the error.
fn offset_of(error: DecodeError) -> u64 {
    let text = format!("{error:?}");
    let (_, behind) = text.split_once("offset: ").expect("an error with an offset");
    let digits = behind.split(|c: char| !c.is_ascii_digit()).next().unwrap();
    digits.parse().unwrap()
}

/// Returns the error with its offset increased by `by`.
fn moved(error: DecodeError, by: u64) -> String {
    let (text, offset) = (format!("{error:?}"), offset_of(error));
    text.replacen(&format!("offset: {offset}"), &format!("offset: {}", offset + by), 1)
}

/// Every fault of an envelope gets the same error inside another envelope, with the offset increased. The faults are
/// every flipped bit, and crafted sections. The outer envelope is valid.
#[test]
fn case_17_faults_of_nested_envelopes_are_told_at_their_exact_offset() {
    let inner = bytes_of(&node(b"ab", &[leaf(b"c")]));
    let mut faults: Vec<Vec<u8>> = Vec::new();
    for bit in 0..8 * inner.len() {
        // The rest of the outer payload depends on the lengths, so their tests follow below.
        if !(12..24).contains(&(bit / 8)) {
            let mut damaged = inner.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            faults.push(damaged);
        }
    }
    let parts = sections(&inner);
    faults.push(with_sections(&inner, &[(1, vec![0; 32])]));
    faults.push(with_sections(&inner, &[parts[0].clone(), parts[0].clone()]));
    faults.push(with_sections(&inner, &[parts[0].clone(), (7, vec![])]));
    faults.push(with_sections(&inner, &[(3, vec![0; 24])]));
    faults.push(with_number(&inner, 0, 1_001));
    faults.push(with_number(&inner, 1, 1_001));
    faults.push(with_number(&inner, 1, 2));
    faults.push(with_number(&inner, 1, 0));
    faults.push(forged(&inner, 10, &[9]));
    faults.push(forged(&inner, 88, &[1]));
    faults.push(forged(&inner, 64 + 2, &[1]));
    for fault in &faults {
        let alone = read::<Tree>(fault).unwrap_err();
        for label in [0, 1, 64, 100] {
            let (mut payload, at) = (vec![3; label], label.next_multiple_of(64));
            payload.resize(at, 0);
            payload.extend(fault);
            let outer = bytes_of(&node(&vec![3; label], &[leaf(b"")]));
            let error = read::<Tree>(&with_payload(&outer, &payload)).unwrap_err();
            assert_eq!(format!("{error:?}"), moved(alone, 64 + at as u64), "{alone}");
        }
    }
    assert!(faults.len() > 1_000);
}

#[test]
fn case_17_what_does_not_fit_into_its_payload_is_an_error() {
    let outer = bytes_of(&node(b"ab", &[leaf(b"child")]));
    // The child has a header of 64 bytes from 128 on, a payload of 5, and the checksum.
    assert_eq!((outer.len(), head_bytes(&outer)), (64 + 64 + 77 + 8, Some(64)));
    for found in [78u64, 79, 200, 1 << 40, u64::MAX - 8, u64::MAX] {
        let mut child = outer[128..205].to_vec();
        child[16..24].copy_from_slice(&found.to_le_bytes());
        // Its header is sealed. Its payload is not read.
        let child = [&forged(&child[..64], 0, &[]), &child[64..]].concat();
        let payload = [&outer[64..128], &child].concat();
        let error = read::<Tree>(&with_payload(&outer, &payload)).unwrap_err();
        let (name, allowed) = ("the length of the envelope", "within the payload that holds it");
        assert_eq!(
            error,
            DecodeError(DecodeFault::Field { name, offset: 128 + 16, found, allowed })
        );
    }
    // Bytes in front of an envelope.
    for offset in [66, 67, 100, 127] {
        let error = read::<Tree>(&forged(&outer, offset, &[9])).unwrap_err();
        assert_eq!(error, DecodeError(DecodeFault::Padding { offset: offset as u64, found: 9 }));
    }
    // Payloads that end in front of an envelope, inside its header, and after it.
    let cut =
        |length: usize| read::<Tree>(&with_payload(&outer, &outer[64..64 + length])).unwrap_err();
    let end = |offset, needed, left| DecodeError(DecodeFault::PayloadEnd { offset, needed, left });
    assert_eq!(cut(75), end(128, 24, 11));
    assert_eq!(cut(74), end(128, 24, 10));
    assert_eq!(cut(100), end(128 + 24, 40, 12));
    let longer = [&outer[64..205], &[0; 3]].concat();
    let error = read::<Tree>(&with_payload(&outer, &longer)).unwrap_err();
    assert_eq!(error, DecodeError(DecodeFault::Unread { offset: 205, found: 3 }));
    // Another type of structure inside.
    let payload = [&outer[64..128], &bytes_of(&plain(1))].concat();
    let error = read::<Tree>(&with_payload(&outer, &payload)).unwrap_err();
    let found = Header::peek(&bytes_of(&plain(1))).unwrap().kind;
    assert_eq!(error, DecodeError(DecodeFault::Kind { offset: 138, expected: Tree::KIND, found }));
}

/// The error for a stream that ends inside a nested envelope states the length of the whole.
#[test]
fn case_17_every_cut_is_an_error() {
    let bytes = bytes_of(&tree());
    for length in 0..bytes.len() {
        let expected = match length {
            0..24 => 72,
            24..64 => 64,
            _ => bytes.len() as u64,
        };
        let error = DecodeError(DecodeFault::Truncated { offset: length as u64, expected });
        assert_eq!(read::<Tree>(&bytes[..length]), Err(error));
    }
}

/// A view reaches every envelope in turn, and agrees with the decoder about each.
#[test]
fn views_reach_every_envelope() {
    fn visit(envelope: &Envelope<&[u8]>, tree: &Tree, start: usize) {
        let mut position = tree.label.len() as u64;
        assert_eq!(&envelope.payload()[..tree.label.len()], tree.label);
        assert_eq!(envelope.decode::<Tree>(None).as_ref(), Ok(tree));
        for child in &tree.children {
            let (inner, next) = envelope.nested_at(position).unwrap();
            assert_eq!(inner.verify(), Ok(()));
            let offset = inner.header().offset();
            assert_eq!((offset % 64, inner.payload().as_ptr() as usize % 64), (0, start % 64));
            assert_eq!(next, position.next_multiple_of(64) + child.envelope_bytes());
            visit(&inner, child, start);
            position = next;
        }
        assert_eq!(position, envelope.header().payload_bytes);
        let end = envelope.nested_at(position).map(|_| ()).unwrap_err();
        assert!(matches!(
            end,
            DecodeError(DecodeFault::PayloadEnd { .. }) | DecodeError(DecodeFault::Nesting { .. })
        ));
        assert!(envelope.nested_at(position + 1).is_err());
    }
    for tree in [tree(), chain(MAX_NESTING)] {
        let bytes = bytes_of(&tree);
        visit(&Envelope::open(bytes.as_slice()).unwrap(), &tree, bytes.as_ptr() as usize);
    }
}

#[test]
fn case_17_views_refuse_what_decoders_refuse() {
    let whole = node(b"label", &[leaf(b"child")]);
    let bytes = bytes_of(&whole);
    for bit in 8 * 69..8 * (bytes.len() - 8 - 5 - 8) {
        let mut damaged = bytes.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        let damaged = forged(&damaged, 0, &[]);
        let view = Envelope::open(damaged.as_slice()).unwrap();
        let nested = view.nested_at(5).and_then(|(child, _)| child.decode::<Tree>(None));
        assert_eq!(
            nested.err(),
            ByteOptions::new().from_bytes::<Tree>(&damaged).err(),
            "bit {bit}"
        );
        assert!(view.nested_at(5).is_err() || (138..140).contains(&(bit / 8)), "bit {bit}");
    }
    let deep = by_specification(&chain(MAX_NESTING + 1));
    let mut envelope = Envelope::open(deep.as_slice()).unwrap();
    for _ in 0..MAX_NESTING {
        (envelope, _) = envelope.nested_at(4).unwrap();
    }
    let error = DecodeError(DecodeFault::Nesting { offset: 580, limit: MAX_NESTING });
    assert_eq!(envelope.nested_at(4).map(|_| ()), Err(error));
    assert_eq!(envelope.decode::<Tree>(None), Err(error));
}

/// Forged envelopes (outer, nested or both) are refused or come back unchanged, from slices and streams.
#[test]
fn case_17_forged_nested_bytes_are_refused_or_come_back_unchanged() {
    let (outer, inner) = (node(b"ab", &[leaf(b"")]), node(b"c", &[leaf(b"child")]));
    let (outer, inner) = (bytes_of(&outer), bytes_of(&inner));
    let mut read = 0;
    for input in inputs(11, 20_000) {
        let mut choices = Choices::new(&input);
        let mut child = inner.clone();
        mutate(&mut child, &mut choices);
        let mut bytes = with_payload(&outer, &[&outer[64..128], &child].concat());
        if choices.below(2) == 0 {
            mutate(&mut bytes, &mut choices);
        }
        read += u32::from(portable::decode::<Tree>(&bytes).is_some());
        if let Ok(view) = Envelope::open(bytes.as_slice()) {
            let _ = view.nested_at(2).and_then(|(child, _)| child.nested_at(1));
        }
    }
    assert!(read > 100, "{read} were read");
}

/// Claims of great lengths, in outer and nested envelopes, do not allocate.
#[test]
fn case_17_hostile_lengths_allocate_nothing() {
    let outer = bytes_of(&node(b"ab", &[leaf(b"child")]));
    let list = bytes_of(&plain(1));
    let pair = bytes_of(&Pair { left: plain(1), right: plain(1) });
    let mut claims: Vec<Vec<u8>> = Vec::new();
    for claim in [1u64 << 20, 1 << 32, 1 << 40, u64::MAX / 2, u64::MAX] {
        claims.push(forged(&outer, 16, &claim.to_le_bytes()));
        let mut inner = outer[128..192].to_vec();
        inner[16..24].copy_from_slice(&claim.to_le_bytes());
        claims.push(forged(&outer, 128, &forged(&inner, 0, &[])));
        claims.push(with_number(&list, 0, claim));
        let mut words = list[..128].to_vec();
        words[72..80].copy_from_slice(&(1u64 << 20).to_le_bytes());
        words[16..24].copy_from_slice(&(136u64 + (8 << 20)).to_le_bytes());
        claims.push(forged(&words, 0, &[]));
        claims.push(forged(&pair, 128, &forged(&words, 0, &[])));
    }
    for bytes in &claims {
        let ((), peak) = peak_of(&ALLOCATOR, || {
            assert!(ByteOptions::new().from_bytes::<Tree>(bytes).is_err());
            assert!(ByteOptions::new().from_bytes::<Plain>(bytes).is_err());
            assert!(ByteOptions::new().from_bytes::<Pair<DefaultHashBuilder>>(bytes).is_err());
            let limits = 1 << 12;
            assert!(
                ByteOptions::new().max_bytes(limits).read_from::<Tree>(bytes.as_slice()).is_err()
            );
            assert!(
                ByteOptions::new().max_bytes(limits).read_from::<Plain>(bytes.as_slice()).is_err()
            );
            let view = Envelope::open(bytes.as_slice());
            assert!(view.and_then(|view| view.nested_at(2)).is_err());
        });
        assert!(peak < CONSTANT, "{peak} bytes");
    }
}
