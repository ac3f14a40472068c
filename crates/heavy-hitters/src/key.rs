//! Keys that have portable bytes.

use alloc::string::String;
use alloc::vec::Vec;
use core::hash::Hash;
#[cfg(target_endian = "little")]
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use pds_core::bytes::{Sink, Source};
use pds_core::error::DecodeError;

use fixed::Fixed;

/// Bytes of a key that are read at once, so that a false length costs no memory.
const CHUNK: usize = 4096;

/// A key that has portable bytes: integers, `String`, `Vec<u8>`, and IP addresses.
///
/// The promise covers its hash too: it must be the same on every machine (`docs/hashing.md` of the workspace
/// lists the types for which it is). The standard library hashes IP addresses in the byte order of the machine, so they
/// implement this trait on little-endian machines only. Use their `to_bits` as keys if big-endian machines take part.
///
/// # Examples
/// ```
/// use heavy_hitters::bytes::{Sink, Source};
/// use heavy_hitters::{PortableKey, TopK};
///
/// /// A network port.
/// #[derive(Clone, Debug, PartialEq, Eq, Hash)]
/// struct Port(u16);
///
/// impl PortableKey for Port {
///     const ID: u16 = 0x8001;
///
///     fn write_key<W: Sink>(&self, sink: &mut W) -> Result<(), W::Error> {
///         self.0.write_key(sink)
///     }
///
///     fn read_key<R: Source>(source: &mut R) -> Result<Self, R::Error> {
///         u16::read_key(source).map(Port)
///     }
/// }
///
/// let mut ports = TopK::new(10)?;
/// ports.insert(&Port(443));
/// assert!(TopK::<Port>::from_bytes(&ports.to_bytes()).is_ok());
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
pub trait PortableKey: Hash + Eq + Sized {
    /// Number of the type in stored bytes. Numbers below 2^15 belong to this family. Use one from 2^15 up for your own
    /// type.
    const ID: u16;

    /// Writes the key.
    ///
    /// # Errors
    /// Those of the sink.
    fn write_key<W: Sink>(&self, sink: &mut W) -> Result<(), W::Error>;

    /// Reads a key.
    ///
    /// # Errors
    /// Those of the source, and [`DecodeError`] where the bytes are no key.
    fn read_key<R: Source>(source: &mut R) -> Result<Self, R::Error>;
}

/// Returns the name of the key type with this number.
pub(crate) fn name_of(id: u64) -> Option<&'static str> {
    const INTEGERS: [&str; 10] =
        ["u8", "u16", "u32", "u64", "u128", "i8", "i16", "i32", "i64", "i128"];
    match id {
        11 => Some("Ipv4Addr"),
        12 => Some("Ipv6Addr"),
        13 => Some("IpAddr"),
        1..=10 => INTEGERS.into_iter().zip(1..).find(|&(_, one)| one == id).map(|(name, _)| name),
        16 => Some("Vec<u8>"),
        17 => Some("String"),
        32_768.. => Some("a type of a user's"),
        _ => None,
    }
}

/// Integers in little-endian order (`u8` to `u128`, `i8` to `i128`), and the octets of `Ipv4Addr` and `Ipv6Addr`.
impl<K: Fixed> PortableKey for K {
    const ID: u16 = K::NUMBER;

    fn write_key<W: Sink>(&self, sink: &mut W) -> Result<(), W::Error> {
        sink.put(self.to_array().as_ref())
    }

    fn read_key<R: Source>(source: &mut R) -> Result<Self, R::Error> {
        let mut bytes = K::Bytes::default();
        source.take(bytes.as_mut())?;
        Ok(K::from_array(bytes))
    }
}

mod fixed {
    use core::hash::Hash;

    /// Keys of the standard library that always have the same number of bytes.
    pub trait Fixed: Hash + Eq + Sized {
        const NUMBER: u16;
        type Bytes: AsRef<[u8]> + AsMut<[u8]> + Default;

        fn to_array(&self) -> Self::Bytes;
        fn from_array(bytes: Self::Bytes) -> Self;
    }
}

macro_rules! fixed {
    ($($key:ty, $length:literal = $id:literal, $to:ident, $from:ident;)*) => {$(
        impl Fixed for $key {
            const NUMBER: u16 = $id;
            type Bytes = [u8; $length];

            fn to_array(&self) -> Self::Bytes {
                self.$to()
            }

            fn from_array(bytes: Self::Bytes) -> Self {
                Self::$from(bytes)
            }
        }
    )*};
}
fixed! {
    u8, 1 = 1, to_le_bytes, from_le_bytes;
    u16, 2 = 2, to_le_bytes, from_le_bytes;
    u32, 4 = 3, to_le_bytes, from_le_bytes;
    u64, 8 = 4, to_le_bytes, from_le_bytes;
    u128, 16 = 5, to_le_bytes, from_le_bytes;
    i8, 1 = 6, to_le_bytes, from_le_bytes;
    i16, 2 = 7, to_le_bytes, from_le_bytes;
    i32, 4 = 8, to_le_bytes, from_le_bytes;
    i64, 8 = 9, to_le_bytes, from_le_bytes;
    i128, 16 = 10, to_le_bytes, from_le_bytes;
}
#[cfg(target_endian = "little")]
fixed! {
    Ipv4Addr, 4 = 11, octets, from;
    Ipv6Addr, 16 = 12, octets, from;
}

/// Its version as one byte, 4 or 6, then its octets.
#[cfg(target_endian = "little")]
impl PortableKey for IpAddr {
    const ID: u16 = 13;

    fn write_key<W: Sink>(&self, sink: &mut W) -> Result<(), W::Error> {
        match self {
            Self::V4(address) => {
                sink.put(&[4])?;
                address.write_key(sink)
            }
            Self::V6(address) => {
                sink.put(&[6])?;
                address.write_key(sink)
            }
        }
    }

    fn read_key<R: Source>(source: &mut R) -> Result<Self, R::Error> {
        let offset = source.offset();
        match u8::read_key(source)? {
            4 => Ipv4Addr::read_key(source).map(Self::V4),
            6 => Ipv6Addr::read_key(source).map(Self::V6),
            found => {
                let (name, allowed) = ("the version of an IP address", "4 or 6");
                Err(DecodeError::invalid(name, offset, found.into(), allowed).into())
            }
        }
    }
}

/// Its length as 8 bytes, then its bytes.
impl PortableKey for Vec<u8> {
    const ID: u16 = 16;

    fn write_key<W: Sink>(&self, sink: &mut W) -> Result<(), W::Error> {
        write_bytes(self, sink)
    }

    fn read_key<R: Source>(source: &mut R) -> Result<Self, R::Error> {
        let offset = source.offset();
        let mut left = source.take_u64()?;
        if left > source.remaining() {
            let (name, allowed) = ("the length of a key", "within the payload");
            return Err(DecodeError::invalid(name, offset, left, allowed).into());
        }
        let mut key = Self::new();
        while left > 0 {
            let more = left.min(CHUNK as u64);
            let read = key.len();
            key.resize(read + cms::internal::index(more), 0);
            source.take(&mut key[read..])?;
            left -= more;
        }
        Ok(key)
    }
}

/// Its length in bytes as 8 bytes, then its UTF-8.
impl PortableKey for String {
    const ID: u16 = 17;

    fn write_key<W: Sink>(&self, sink: &mut W) -> Result<(), W::Error> {
        write_bytes(self.as_bytes(), sink)
    }

    fn read_key<R: Source>(source: &mut R) -> Result<Self, R::Error> {
        let start = source.offset() + 8;
        Ok(Self::from_utf8(Vec::read_key(source)?).map_err(|error| {
            let valid = error.utf8_error().valid_up_to();
            let found = error.as_bytes()[valid].into();
            DecodeError::invalid("a byte of a string", start + valid as u64, found, "part of UTF-8")
        })?)
    }
}

fn write_bytes<W: Sink>(bytes: &[u8], sink: &mut W) -> Result<(), W::Error> {
    sink.put(&(bytes.len() as u64).to_le_bytes())?;
    sink.put(bytes)
}
