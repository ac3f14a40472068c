//! Hashes that must never change: of every portable key type, against published vectors, and against
//! `docs/scripts/hashing.py`, which recomputes them with another implementation.

use core::hash::{BuildHasher, Hash};

use pds_core::hash::{
    DefaultHashBuilder, PortableHasher, Raw, SipHashBuilder, finalize, probe, reduce,
};
use quickcheck::quickcheck;

const SEEDS: [u64; 3] = [0, 1, 0x0123_4567_89ab_cdef];

fn default_hashes<K: Hash + ?Sized>(key: &K) -> [u64; 3] {
    SEEDS.map(|seed| DefaultHashBuilder::with_seed(seed).hash_one(key))
}

fn sip_hash<K: Hash + ?Sized>(key: &K) -> u64 {
    SipHashBuilder::from_key(*b"0123456789abcdef").hash_one(key)
}

#[derive(Hash)]
struct Point {
    x: i32,
    y: i32,
}

#[derive(Hash)]
enum Shape {
    Empty,
    Label(&'static str),
}

/// The key types of `docs/hashing.md`, each with its hashes under the three seeds.
#[test]
fn case_19_default_hashes_of_portable_keys_are_pinned() {
    macro_rules! pinned {
        ($($key:expr => $a:literal $b:literal $c:literal)*) => {
            $(assert_eq!(default_hashes(&$key), [$a, $b, $c], "{}", stringify!($key));)*
        };
    }
    pinned! {
        0u64 => 0xc77b3abb6f87acd9 0x9e51ad6d2f3e695c 0x84c4077b5ba88a78
        1u64 => 0x2fbc593564db792e 0x85671091eda75eb5 0x62da9b4ecf9e94bc
        1u32 => 0xdb02334e96d65708 0x77f1460841dfd2b5 0xc8fbd069d854df17
        1u16 => 0xab94ac0ace7276c0 0x643673e55d6bcbd9 0x33d175406b5d3558
        1u8 => 0xe12ef9d2eb86ceeb 0x0e08a51c8536156c 0xd2736045b9a2490d
        255u8 => 0xd6bcec3c6b29d72e 0x2cbac4dbd7e8e903 0xac4db62849cfbc9f
        1u128 => 0x26f2a1148cf52011 0x90eaca64a6019570 0x5024abf6e4abe074
        -1i8 => 0xd6bcec3c6b29d72e 0x2cbac4dbd7e8e903 0xac4db62849cfbc9f
        -1i64 => 0x5111c7e47d784413 0x7b016d4ccc01c9bf 0x1c90f36d547002f0
        -1isize => 0x5111c7e47d784413 0x7b016d4ccc01c9bf 0x1c90f36d547002f0
        7usize => 0x81671e58d6b596af 0xa409ca3d6061b510 0xf4934ce823cef4f4
        true => 0xe12ef9d2eb86ceeb 0x0e08a51c8536156c 0xd2736045b9a2490d
        'é' => 0x5874c6e996bdf0a5 0xabaf523b55c88d8a 0xd345ea54b7524b85
        "" => 0x2d06800538d394c2 0x4dc5b0cc826f6703 0xcc1ca35a1b089c5c
        "abc" => 0x78af5f94892f3950 0x6b4467b443c76228 0x4a2ec311f0e180a4
        String::from("abc") => 0x78af5f94892f3950 0x6b4467b443c76228 0x4a2ec311f0e180a4
        Raw(b"abc") => 0x78af5f94892f3950 0x6b4467b443c76228 0x4a2ec311f0e180a4
        (1u64, 2u64) => 0xc5526e5481d03c88 0xb63ad0e809110873 0xca3b70e402a72282
        ("ab", "c") => 0x164c43d7c80270a0 0x6b369cbea358b48e 0xdef5a7a7b8e62dae
        ("a", "bc") => 0xfde72eee4d401f1e 0x672d7ce5c4e3dab0 0x02631b6174791d22
        core::array::from_fn::<u8, 16, _>(|i| b"0123456789:;<=>?"[i] - b'0')
            => 0x325f998200643e77 0x3aea56b729085af2 0xfbbe89204a56da46
        (0u8..16).collect::<Vec<u8>>() => 0x325f998200643e77 0x3aea56b729085af2 0xfbbe89204a56da46
        Some(1u32) => 0x876e851505c3b204 0x084812d9d91c23a0 0xe1418dce7a69b7bc
        None::<u32> => 0xc77b3abb6f87acd9 0x9e51ad6d2f3e695c 0x84c4077b5ba88a78
        Shape::Empty => 0xc77b3abb6f87acd9 0x9e51ad6d2f3e695c 0x84c4077b5ba88a78
        Point { x: 1, y: -1 } => 0x28ba02277d186912 0x2c995fbbed9a6fd7 0xa3432324db201fac
        Shape::Label("abc") => 0xf7ce20b526fd3122 0x562e895bab314de4 0x3f073ca750cbcf8a
    }
}

/// SipHash sees the same bytes on every machine: equal to the hash of those bytes spelled out.
#[test]
fn case_19_sip_hashes_are_of_little_endian_bytes() {
    macro_rules! same {
        ($($key:expr => $bytes:expr;)*) => {
            $(assert_eq!(sip_hash(&$key), sip_hash(&Raw($bytes)), "{}", stringify!($key));)*
        };
    }
    same! {
        0x0102u16 => &[2, 1];
        0x0102_0304u32 => &[4, 3, 2, 1];
        0x0102_0304_0506_0708u64 => &[8, 7, 6, 5, 4, 3, 2, 1];
        1u128 => &[1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        -2i64 => &[0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff];
        -2isize => &[0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff];
        3usize => &[3, 0, 0, 0, 0, 0, 0, 0];
        'é' => &[0xe9, 0, 0, 0];
        true => &[1];
        "abc" => b"abc\xff";
        [5u8, 6] => &[2, 0, 0, 0, 0, 0, 0, 0, 5, 6];
        (1u8, "x") => b"\x01x\xff";
        None::<u32> => &[0, 0, 0, 0, 0, 0, 0, 0];
        Some(1u32) => &[1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0];
        Shape::Label("x") => b"\x01\0\0\0\0\0\0\0x\xff";
    }
    assert_eq!(sip_hash("abc"), 0xcb88_7710_0561_1087, "pinned");
}

/// Published values for inputs of many lengths, computed by three other implementations.
#[test]
fn byte_strings_hash_as_the_published_functions_do() {
    let vectors: serde_json::Value =
        serde_json::from_str(include_str!("../data/hashes.json")).unwrap();
    let lengths: Vec<usize> = serde_json::from_value(vectors["lengths"].clone()).unwrap();
    let input: Vec<u8> = (0..1000u32).map(|i| (i * 7 + 3).to_le_bytes()[0]).collect();
    let check = |table: &serde_json::Value, hash: &dyn Fn(&[u8]) -> u64| {
        for (length, value) in lengths.iter().zip(table["values"].as_array().unwrap()) {
            let expected = u64::from_str_radix(value.as_str().unwrap(), 16).unwrap();
            assert_eq!(hash(&input[..*length]), expected, "length {length}");
        }
    };
    for table in vectors["xxh3_64"].as_array().unwrap() {
        let seed = table["seed"].as_str().unwrap().strip_prefix("0x").unwrap();
        let seed = u64::from_str_radix(seed, 16).unwrap();
        check(table, &|bytes| DefaultHashBuilder::with_seed(seed).hash_bytes(bytes));
    }
    for table in vectors["siphash13_64"].as_array().unwrap() {
        let key = u128::from_str_radix(table["key"].as_str().unwrap(), 16).unwrap().to_be_bytes();
        check(table, &|bytes| SipHashBuilder::from_key(key).hash_bytes(bytes));
    }
}

#[test]
fn terminators_do_not_merge_fields() {
    let hash = |key: (&str, &str)| DefaultHashBuilder::default().hash_one(key);
    assert_ne!(hash(("ab", "c")), hash(("a", "bc")));
    assert_ne!(hash(("", "a")), hash(("a", "")));
    // The documented exception: a byte of 255 right after bytes is taken for their terminator.
    let raw = |last: u8| DefaultHashBuilder::default().hash_one((Raw(b"a"), last));
    assert_eq!(raw(255), DefaultHashBuilder::default().hash_one(Raw(b"a")));
    assert_ne!(raw(254), raw(253));
}

#[test]
fn the_finaliser_is_pinned() {
    assert_eq!(finalize(0), 0xb70f_b2cc_55af_013f);
    assert_eq!(finalize(1), 0x90fa_784d_ff59_df1d);
    assert_eq!(finalize(0x2fbc_5935_64db_792e), 0x1fb8_380a_5bdf_4089);
}

/// Every input bit flips every output bit in half of the cases, within six standard deviations.
#[test]
fn the_finaliser_avalanches() {
    const INPUTS: u64 = 4_096;
    for bit in 0..64 {
        let mut flips = [0u32; 64];
        for i in 0..INPUTS {
            // Consecutive integers: what a weak hasher hands in.
            let changed = finalize(i) ^ finalize(i ^ (1 << bit));
            for (out, count) in flips.iter_mut().enumerate() {
                *count += u32::from(changed & (1 << out) != 0);
            }
        }
        for (out, count) in flips.iter().enumerate() {
            let deviation = (f64::from(*count) - 2_048.0).abs();
            assert!(deviation < 6.0 * 32.0, "bit {bit} flips bit {out} in {count} of {INPUTS}");
        }
    }
}

#[test]
fn the_probe_tells_hashers_apart() {
    let default = probe(&DefaultHashBuilder::default());
    assert_eq!(default, probe(&DefaultHashBuilder::with_seed(0)));
    assert_ne!(default, probe(&DefaultHashBuilder::with_seed(1)));
    assert_ne!(default, probe(&SipHashBuilder::from_key([0; 16])));
}

#[test]
fn seeds_survive_the_way_through_bytes() {
    let default = DefaultHashBuilder::with_seed(u64::MAX);
    assert_eq!(DefaultHashBuilder::from_seed(default.to_seed()), Some(default));
    assert_eq!(DefaultHashBuilder::from_seed([1; 16]), None, "more than 64 bits");
    let sip = SipHashBuilder::from_key([7; 16]);
    assert_eq!(SipHashBuilder::from_seed(sip.to_seed()), Some(sip));
}

#[cfg(feature = "std")]
#[test]
fn a_secret_key_is_random_and_not_printed() {
    let hasher = SipHashBuilder::random();
    assert_ne!(hasher, SipHashBuilder::random());
    assert_eq!(format!("{hasher:?}"), "SipHashBuilder { .. }");
}

quickcheck! {
    fn reduce_is_the_floor_of_the_scaled_fraction(x: u64, n: u64) -> bool {
        u128::from(reduce(x, n)) == (u128::from(x) * u128::from(n)) >> 64
    }

    /// Multiply-high folds neighbours: dividing the range divides the result.
    fn reduce_commutes_with_folding(x: u64, n: u32, factor: u8) -> bool {
        let (n, factor) = (u64::from(n), u64::from(factor) + 1);
        reduce(x, n * factor) / factor == reduce(x, n)
    }

    fn the_finaliser_keeps_distinct_hashes_distinct(a: u64, b: u64) -> bool {
        (a == b) == (finalize(a) == finalize(b))
    }
}
