//! Bytes that are cut, changed or made up.

use theta::error::{DecodeError, DecodeErrorKind as Kind};
use theta::{CompactThetaSketch, ThetaHasher, ThetaSet, ThetaSketch, ThetaSketchView};

fn sketch(size: u32, count: u64) -> CompactThetaSketch {
    let mut sketch = ThetaSketch::new(size).unwrap();
    sketch.extend(0..count);
    sketch.to_compact()
}

/// Reads bytes by copy and by view. Both agree.
fn read(bytes: &[u8]) -> Result<CompactThetaSketch, DecodeError> {
    let read = CompactThetaSketch::from_bytes(bytes);
    match ThetaSketchView::open(bytes) {
        Ok(view) => {
            // The view answers whatever its hashes are.
            let copy = view.to_compact();
            assert!(copy.hashes().is_sorted() && copy.hashes().iter().all(|&h| h < copy.theta64()));
            assert!(view.intersection(&copy).unwrap().num_retained() == copy.num_retained());
            assert_eq!(view.verify().err(), read.as_ref().err().copied());
            assert!(read.as_ref().is_ok_and(|read| *read == copy) || read.is_err());
        }
        Err(error) if bytes.len() > 5 && bytes[5] & 16 == 0 && read.is_ok() => {
            assert!(error.to_string().contains("ordered"), "{error}");
        }
        Err(error) => assert_eq!(Some(error), read.as_ref().err().copied()),
    }
    read
}

fn refused(bytes: &[u8], kind: Kind, offset: u64, words: &[&str]) {
    let error = read(bytes).unwrap_err();
    let message = error.to_string();
    assert_eq!((error.kind(), error.offset()), (kind, Some(offset)), "{message}");
    assert!(words.iter().all(|word| message.contains(word)), "{message}");
}

/// Bytes with a number in place of some of them.
fn with(bytes: &[u8], at: usize, new: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    bytes[at..at + new.len()].copy_from_slice(new);
    bytes
}

#[test]
fn every_cut_and_every_addition_is_refused() {
    for (size, count) in [(16, 0), (16, 1), (16, 5), (16, 200), (64, 1_000)] {
        let sketch = sketch(size, count);
        for bytes in [sketch.to_bytes(), sketch.to_compressed_bytes()] {
            for length in 0..bytes.len() {
                let error = read(&bytes[..length]).unwrap_err();
                assert_eq!((error.kind(), error.offset()), (Kind::Truncated, Some(length as u64)));
            }
            let end = bytes.len() as u64;
            refused(&[&bytes[..], &[0]].concat(), Kind::Trailing, end, &[]);
            assert!(read(&bytes).unwrap() == sketch);
        }
    }
}

#[test]
fn every_bit_flip_is_refused_or_gives_a_sketch_that_is_written_as_it_was_read() {
    let (mut read_again, mut refused) = (0, 0);
    for (size, count) in [(16, 0), (16, 1), (16, 5), (16, 200)] {
        let sketch = sketch(size, count);
        for bytes in [sketch.to_bytes(), sketch.to_compressed_bytes()] {
            for bit in 0..8 * bytes.len() {
                let mut flipped = bytes.clone();
                flipped[bit / 8] ^= 1 << (bit % 8);
                match read(&flipped) {
                    Ok(changed) => {
                        read_again += 1;
                        assert!(
                            CompactThetaSketch::from_bytes(&changed.to_bytes()).unwrap() == changed
                        );
                        let packed = changed.to_compressed_bytes();
                        assert!(CompactThetaSketch::from_bytes(&packed).unwrap() == changed);
                        // The flip changed a hash, theta, or a field without meaning.
                        let says_nothing = [3, 4, 5, 12, 13, 14, 15].contains(&(bit / 8));
                        assert!(changed != sketch || says_nothing, "bit {bit}");
                    }
                    Err(_) => refused += 1,
                }
            }
        }
    }
    assert!(read_again > 1_000 && refused > 500, "{read_again} read, {refused} refused");
}

#[test]
fn other_families_versions_flags_and_seeds_are_named() {
    for bytes in [sketch(16, 9).to_bytes(), sketch(16, 9).to_compressed_bytes()] {
        refused(&with(&bytes, 2, &[7]), Kind::Invalid, 2, &["family", "HLL"]);
        refused(&with(&bytes, 2, &[2]), Kind::Invalid, 2, &["updatable"]);
        refused(&with(&bytes, 2, &[200]), Kind::Invalid, 2, &["unknown", "200"]);
        refused(&with(&bytes, 1, &[2]), Kind::Version, 1, &["2", "4"]);
        refused(&with(&bytes, 1, &[5]), Kind::Version, 1, &["5", "4"]);
        refused(&with(&bytes, 5, &[bytes[5] | 1]), Kind::Invalid, 5, &["big-endian"]);
        refused(&with(&bytes, 5, &[bytes[5] | 128]), Kind::Invalid, 5, &["flags"]);
        refused(&with(&bytes, 0, &[9]), Kind::Invalid, 0, &["preamble", "9"]);
        let other = ThetaHasher::with_seed(123).unwrap().seed_hash();
        let words = [format!("{other:04x}"), String::from("93cc"), String::from("seed")];
        let words = words.each_ref().map(String::as_str);
        refused(&with(&bytes, 6, &other.to_le_bytes()), Kind::KeyMismatch, 6, &words);
    }
    // An empty sketch has its seed, too, except that some writers leave it out.
    let empty = sketch(16, 0).to_bytes();
    refused(&with(&empty, 6, &[1, 2]), Kind::KeyMismatch, 6, &["0201"]);
    assert!(read(&with(&empty, 6, &[0, 0])).unwrap().is_empty());
    refused(&with(&empty, 0, &[2]), Kind::Invalid, 0, &["empty"]);
    // The mark of a single hash, as other writers set it.
    let one = sketch(16, 1).to_bytes();
    assert!(read(&with(&one, 5, &[one[5] | 32])).unwrap() == sketch(16, 1));
}

#[test]
fn thetas_and_hashes_that_no_sketch_has_are_named() {
    let bytes = sketch(16, 500).to_bytes();
    assert_eq!(bytes[0], 3);
    let number = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
    refused(&with(&bytes, 16, &[0; 8]), Kind::Invalid, 16, &["theta", "2^63"]);
    let above = (1_u64 << 63).to_le_bytes();
    refused(&with(&bytes, 16, &above), Kind::Invalid, 16, &["theta", "9223372036854775808"]);
    refused(&with(&bytes, 24, &[0; 8]), Kind::Invalid, 24, &["a hash", "above 0"]);
    let first = number(24).to_le_bytes();
    refused(&with(&bytes, 32, &first), Kind::Invalid, 32, &["above the hash before it"]);
    refused(&with(&bytes, 24, &number(40).to_le_bytes()), Kind::Invalid, 32, &["a hash"]);
    let last = bytes.len() - 8;
    let theta = number(16).to_le_bytes();
    refused(&with(&bytes, last, &theta), Kind::Invalid, last as u64, &["below theta"]);

    // Not ordered: swapped hashes are read, duplicates and hashes outside the range are not.
    let loose = with(&bytes, 5, &[bytes[5] & !16]);
    let swapped = with(&with(&loose, 24, &number(32).to_le_bytes()), 32, &first);
    assert!(read(&swapped).unwrap() == sketch(16, 500));
    refused_loose(&with(&loose, last, &first), &["twice"]);
    refused_loose(&with(&loose, last, &theta), &["below theta"]);
    refused_loose(&with(&loose, last, &[0; 8]), &["above 0"]);
}

fn refused_loose(bytes: &[u8], words: &[&str]) {
    let error = CompactThetaSketch::from_bytes(bytes).unwrap_err();
    assert_eq!(error.kind(), Kind::Invalid);
    assert!(words.iter().all(|word| error.to_string().contains(word)), "{error}");
}

#[test]
fn counts_that_lie_are_refused() {
    let plain = sketch(16, 500).to_bytes();
    let packed = sketch(16, 500).to_compressed_bytes();
    let count = plain[8];
    let end = plain.len() as u64;
    refused(&with(&plain, 8, &[count + 1]), Kind::Truncated, end, &[]);
    refused(&with(&plain, 8, &[255; 4]), Kind::Truncated, end, &[]);
    refused(&with(&plain, 8, &[count - 1]), Kind::Trailing, end - 8, &[]);
    let end = packed.len() as u64;
    assert_eq!((packed[4], packed[16]), (1, count));
    refused(&with(&packed, 16, &[count + 2]), Kind::Truncated, end, &[]);
    assert_eq!(read(&with(&packed, 16, &[count - 2])).unwrap_err().kind(), Kind::Trailing);
    for bits in [0, 64, 255] {
        refused(&with(&packed, 3, &[bits]), Kind::Invalid, 3, &["bits"]);
    }
    for length in [0, 5, 255] {
        refused(&with(&packed, 4, &[length]), Kind::Invalid, 4, &["count"]);
    }
    refused(&with(&packed, 5, &[packed[5] & !16]), Kind::Invalid, 5, &["ordered"]);
    refused(&with(&packed, 5, &[packed[5] | 4]), Kind::Invalid, 5, &["empty"]);
}

#[test]
fn unused_bits_of_compressed_bytes_are_zero() {
    let sketch = (2..).map(|count| sketch(16, count)).find(|sketch| {
        let packed = sketch.to_compressed_bytes();
        !(usize::from(packed[3]) * sketch.num_retained()).is_multiple_of(8)
    });
    let packed = sketch.unwrap().to_compressed_bytes();
    let last = packed.len() - 1;
    let changed = with(&packed, last, &[packed[last] | 1]);
    refused(&changed, Kind::Invalid, last as u64, &[]);
}

#[test]
fn compressed_bytes_of_every_width() {
    // Hashes that are close to each other, and far from each other: made bytes, since keys do not give them.
    for bits in 1..=62 {
        let step = 1_u64 << (bits - 1);
        let count = (((1_u64 << 63) - 2) / step).min(21);
        let mut bytes = vec![2, 3, 3, 0, 0, 26, 0xcc, 0x93];
        bytes.extend(count.to_le_bytes());
        bytes.extend((1..=count).flat_map(|i| (i * step).to_le_bytes()));
        let sketch = read(&bytes).unwrap();
        let packed = sketch.to_compressed_bytes();
        assert_eq!(u32::from(packed[3]), bits, "{count} hashes");
        assert_eq!(packed.len() as u64, 9 + (count * u64::from(bits)).div_ceil(8));
        assert!(read(&packed).unwrap() == sketch);
    }
}
