//! IP addresses as keys, whose hashes are portable among little-endian machines.
//!
//! `BLESS=1 cargo test -p heavy-hitters --test it addresses` writes the golden file anew: a new format version.
#![cfg(all(feature = "std", target_endian = "little"))]

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::Path;
use std::{env, fs};

use heavy_hitters::hash::{DefaultHashBuilder, KeyHasher};
use heavy_hitters::{HeavyHitters, TopK};
use pds_testkit::envelope::forged;
use pds_testkit::portable::fault_of;
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// Requests of 60 addresses of both versions.
fn addresses() -> TopK<IpAddr> {
    let mut list = TopK::new(9).unwrap();
    (0..3_000u64).map(|i| i * i % 997 % 500).for_each(|i| {
        let last = u8::try_from(i % 60).unwrap();
        let address = if i % 3 == 0 {
            IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, last.into()))
        } else {
            IpAddr::V4(Ipv4Addr::new(198, 18, 0, last))
        };
        list.insert(&address);
    });
    list
}

#[test]
fn todays_code_writes_and_reads_the_golden_file() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/top_k_ip.pds");
    let bytes = addresses().to_bytes();
    if env::var_os("BLESS").is_some() {
        fs::write(&file, &bytes).unwrap();
    }
    let golden = fs::read(file).unwrap();
    assert_eq!(golden, bytes);
    let list = TopK::<IpAddr>::from_bytes(&golden).unwrap();
    assert!(list == addresses() && list.top().len() == 9);
}

/// The hash of an address by the specification, computed with another implementation of XXH3.
#[test]
fn case_19_addresses_have_the_hashes_of_the_specification() {
    let (v4, v6) = (Ipv4Addr::new(198, 18, 0, 7), Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 9));
    let hasher = DefaultHashBuilder::with_seed(5);
    let of_octets = |octets: &[u8], seed| xxh3_64_with_seed(octets, seed);
    assert_eq!(hasher.hash_key(&v4), of_octets(&v4.octets(), 5));
    assert_eq!(hasher.hash_key(&v6), of_octets(&v6.octets(), 5));
    let version = |number: u64| xxh3_64_with_seed(&number.to_le_bytes(), 5);
    assert_eq!(hasher.hash_key(&IpAddr::V4(v4)), of_octets(&v4.octets(), version(0)));
    assert_eq!(hasher.hash_key(&IpAddr::V6(v6)), of_octets(&v6.octets(), version(1)));
}

#[test]
fn case_17_forged_addresses_are_refused() {
    let mut list = HeavyHitters::<IpAddr>::new(0.5).unwrap();
    list.insert(&IpAddr::V4(Ipv4Addr::LOCALHOST));
    let bytes = list.to_bytes();
    // Behind the total, the floor, the number of keys, a count and an error.
    let version = 128 + 40;
    assert_eq!(bytes[version..][..5], [4, 127, 0, 0, 1]);
    let of = |version_byte| {
        fault_of(HeavyHitters::<IpAddr>::from_bytes(&forged(&bytes, version, &[version_byte])))
    };
    assert_eq!(of(5), ("the version of an IP address", version as u64));
    assert_eq!(of(6), ("payload end", version as u64 + 1));
    let mut others = HeavyHitters::<Ipv6Addr>::new(0.5).unwrap();
    others.insert(&Ipv6Addr::LOCALHOST);
    assert_eq!(HeavyHitters::<Ipv6Addr>::from_bytes(&others.to_bytes()).unwrap(), others);
    assert_eq!(
        HeavyHitters::<Ipv4Addr>::from_bytes(&others.to_bytes()).unwrap_err().to_string(),
        "the type of the keys at offset 88 is Ipv6Addr (number 12), but must be core::net::ip_addr::Ipv4Addr"
    );
}
