//! Filters in plain string keys: the portable bytes of a [`BloomFilter`], of which `BITFIELD` sets and reads single bits.
//!
//! A key holds head, bits and checksum, as [`BloomFilter::to_bytes`] writes them. Inserts leave the checksum as it is, so it is stale until
//! [`BitmapFilter::seal`]. [`BloomFilterView::open`] reads the value of `GET` all the same, since it verifies the head only.

use std::io::{self, Write};

use bloom_core::{BloomFilter, BloomFilterView, BloomParams, DoubleHash};
use pds_core::bytes::{Header, Kind, MaybeHasher, Portable};
use pds_core::error::DecodeError;
use pds_core::hash::{DefaultHashBuilder, PortableHasher};
use redis::Value;

use crate::servers::{Reply, Routed, Servers, Wait};
use crate::{Answer, Error};

/// Length of the head of an envelope, in bytes.
const HEAD_BYTES: u64 = 128;

/// Bytes that an envelope has beside the bits: the head, and the checksum of the bits.
pub(crate) const ENVELOPE_BYTES: u64 = HEAD_BYTES + 8;

/// Keys per command. A command of 100 keys and 10 hashes has about 30 KB.
pub(crate) const KEYS_PER_COMMAND: usize = 100;

/// Bytes that are sent or fetched by one command.
const PIECE: usize = 1 << 20;

/// The first eight bytes of every envelope, as `BITFIELD` reads them.
const MAGIC: i64 = i64::from_be_bytes(*b"\x89PDS\r\n\x1a\n");

/// Takes bytes until it has a head.
struct Head(Vec<u8>);

impl Write for Head {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let left = usize::try_from(HEAD_BYTES).unwrap_or(0) - self.0.len();
        if left == 0 {
            return Err(io::ErrorKind::WriteZero.into());
        }
        let taken = left.min(bytes.len());
        self.0.extend_from_slice(&bytes[..taken]);
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Returns the head of a filter.
pub(crate) fn head_of(params: BloomParams, hasher: DefaultHashBuilder) -> Result<Vec<u8>, Error> {
    let empty = BloomFilter::from_params(params, hasher)?;
    let mut head = Head(Vec::new());
    // It ends with an error once the head is there, so that no more of the empty filter is read.
    _ = empty.write_to(&mut head);
    Ok(head.0)
}

/// Creates an empty filter under each key that has no value. The others must have equal heads.
pub(crate) fn create_all(
    servers: &mut Servers,
    keys: &[String],
    params: BloomParams,
    wait: Option<Wait>,
) -> Result<(), Error> {
    Error::check("bytes", params.size_in_bytes() + ENVELOPE_BYTES, (1, 1 << 29))?;
    let head = head_of(params, DefaultHashBuilder::default())?;
    let commands = keys.iter().flat_map(|key| {
        let [set, get] = [Routed::on("SETNX", key).arg(&head), get_head(key)];
        [set, get, Routed::on("STRLEN", key)]
    });
    let replies = servers.run(&commands.collect::<Vec<_>>(), wait)?;
    let end = HEAD_BYTES + params.size_in_bytes();
    let mut ends = Vec::new();
    for (key, replies) in keys.iter().zip(replies.chunks(3)) {
        check_head(key, &head, &replies[1].value)?;
        // Whoever set the head may have ended before this.
        if matches!(replies[2].value, Value::Int(length) if length <= end.cast_signed()) {
            ends.push(Routed::on("SETRANGE", key).arg(end).arg(&[0u8; 8][..]));
        }
    }
    expect_done(servers.run(&ends, wait)?)
}

fn get_head(key: &str) -> Routed {
    Routed::on("GETRANGE", key).arg(0).arg(HEAD_BYTES - 1)
}

/// Returns the offsets of the bits of a hash, as Redis counts them.
// Redis counts the bits of a byte from the most significant, and the portable bytes from the least significant.
fn offsets(params: BloomParams, hash: u64) -> impl Iterator<Item = u64> {
    let mut probes = DoubleHash::new(hash);
    (0..params.num_hashes()).map(move |_| {
        let position = probes.next_position(params.num_bits());
        HEAD_BYTES * 8 + (position ^ 7)
    })
}

/// Returns the command that inserts hashes.
pub(crate) fn insert(key: &str, params: BloomParams, hashes: impl Iterator<Item = u64>) -> Routed {
    let mut routed = Routed::on("BITFIELD", key).arg("GET").arg("i64").arg(0);
    for offset in hashes.flat_map(|hash| offsets(params, hash)) {
        routed.command.arg("SET").arg("u1").arg(offset).arg(1);
    }
    routed
}

/// Returns the command that asks for hashes.
pub(crate) fn contains(
    key: &str,
    params: BloomParams,
    hashes: impl Iterator<Item = u64>,
) -> Routed {
    let mut routed = Routed::on("BITFIELD_RO", key).arg("GET").arg("i64").arg(0);
    for offset in hashes.flat_map(|hash| offsets(params, hash)) {
        routed.command.arg("GET").arg("u1").arg(offset);
    }
    routed
}

/// Reads the reply to either: for each hash, whether all of its bits were set.
pub(crate) fn were_set(key: &str, params: BloomParams, reply: &Value) -> Result<Vec<bool>, Error> {
    let Value::Array(values) = reply else { return Err(refusal("BITFIELD", reply)) };
    let Some((&Value::Int(magic), bits)) = values.split_first() else {
        return Err(Error::unexpected("BITFIELD", reply));
    };
    if magic != MAGIC {
        return Err(Error::Missing { key: key.into() });
    }
    let all_set = |bits: &[Value]| bits.iter().all(|bit| *bit == Value::Int(1));
    Ok(bits.chunks(params.num_hashes() as usize).map(all_set).collect())
}

/// Returns the error of a reply in another form, or of the server.
pub(crate) fn refusal(command: &'static str, reply: &Value) -> Error {
    match reply {
        Value::ServerError(error) => Error::Redis(error.clone().into()),
        other => Error::unexpected(command, other),
    }
}

/// Returns the command that counts the set bits.
pub(crate) fn count(key: &str) -> Routed {
    // The checksum stands behind the bits.
    Routed::on("BITCOUNT", key).arg(HEAD_BYTES).arg(-9)
}

/// A [`BloomFilter`] in one plain key, of any server without a module.
///
/// The key holds the portable bytes of the filter. So a filter that was filled here can be fetched and used anywhere, and one that was
/// built anywhere can be stored and asked here.
///
/// # Examples
/// ```no_run
/// use bloom_core::BloomFilter;
/// use pds_redis_client::{Answer, BitmapFilter, Servers};
///
/// let mut servers = Servers::single("redis://127.0.0.1/")?;
/// let mut local = BloomFilter::new(1_000_000, 0.001)?;
/// local.insert("https://example.org/");
/// let seen = BitmapFilter::store(&mut servers, "seen", &local)?;
/// assert_eq!(seen.contains_batch(&mut servers, &["https://example.org/"])?, [true]);
/// assert_eq!(seen.insert_batch(&mut servers, &["https://example.com/"])?, [Answer::New]);
/// let fetched = seen.fetch(&mut servers)?;
/// assert!(fetched.contains("https://example.com/"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct BitmapFilter {
    key: String,
    params: BloomParams,
    hasher: DefaultHashBuilder,
}

impl BitmapFilter {
    /// Creates an empty filter under a key, or opens the one that is there if it is equal.
    ///
    /// # Errors
    /// [`Error::Differs`] if another filter is there. [`Error::OutOfRange`] if the filter exceeds 512 MiB, the longest string of Redis.
    pub fn create(servers: &mut Servers, key: &str, params: BloomParams) -> Result<Self, Error> {
        create_all(servers, &[key.into()], params, None)?;
        Ok(Self { key: key.into(), params, hasher: DefaultHashBuilder::default() })
    }

    /// Opens the filter under a key.
    ///
    /// # Errors
    /// [`Error::Missing`] without a value. [`Error::Decode`] if it is no filter.
    pub fn open(servers: &mut Servers, key: &str) -> Result<Self, Error> {
        let replies = servers.run(&[get_head(key), Routed::on("STRLEN", key)], None)?;
        let [Value::BulkString(head), Value::Int(length)] = [&replies[0].value, &replies[1].value]
        else {
            return Err(refusal("GETRANGE", &replies[0].value));
        };
        if head.is_empty() {
            return Err(Error::Missing { key: key.into() });
        }
        let header = Header::peek(head).map_err(|error| decode_error(key, error))?;
        let bytes = header.envelope_bytes();
        check_equal(key, &format!("{bytes} bytes"), &format!("{length} bytes"))?;
        let (params, hasher) = parameters(key, &header)?;
        Ok(Self { key: key.into(), params, hasher })
    }

    /// Stores a filter under a key, in pieces of 1 MiB. Replaces what was there.
    ///
    /// # Errors
    /// As [`create`](Self::create).
    pub fn store(servers: &mut Servers, key: &str, filter: &BloomFilter) -> Result<Self, Error> {
        let (params, hasher) = (filter.params(), *filter.hasher());
        let bytes = filter.to_bytes();
        Error::check("bytes", bytes.len() as u64, (1, 1 << 29))?;
        expect_done(servers.run(&[Routed::on("UNLINK", key)], None)?)?;
        for (number, piece) in bytes.chunks(PIECE).enumerate() {
            let piece = Routed::on("SETRANGE", key).arg(number * PIECE).arg(piece);
            expect_done(servers.run(&[piece], None)?)?;
        }
        Ok(Self { key: key.into(), params, hasher })
    }

    /// Fetches the filter, in pieces of 1 MiB.
    ///
    /// If others insert meanwhile, each piece is as it was at its own moment.
    ///
    /// # Errors
    /// [`Error::Missing`] if the key is gone. [`Error::Decode`] if its head is damaged.
    pub fn fetch(&self, servers: &mut Servers) -> Result<BloomFilter, Error> {
        let length = usize::try_from(HEAD_BYTES + self.params.size_in_bytes() + 8).unwrap_or(0);
        let mut bytes = Vec::with_capacity(length);
        while bytes.len() < length {
            let (begin, end) = (bytes.len(), (bytes.len() + PIECE).min(length) - 1);
            let range = Routed::on("GETRANGE", &self.key).arg(begin).arg(end);
            match servers.run(&[range], None)?.pop().map(|reply| reply.value) {
                Some(Value::BulkString(piece)) if !piece.is_empty() => bytes.extend(piece),
                Some(Value::BulkString(_)) | None => {
                    return Err(Error::Missing { key: self.key.clone() });
                }
                Some(other) => return Err(refusal("GETRANGE", &other)),
            }
        }
        let view = BloomFilterView::open(bytes).map_err(|error| decode_error(&self.key, error))?;
        // Not `to_filter`, which verifies the checksum: inserts leave it stale.
        let mut filter = BloomFilter::from_params(view.params(), *view.hasher())?;
        filter.union_with(&view)?;
        Ok(filter)
    }

    /// Writes the checksum of the present bits, so that the value of `GET` verifies as a whole.
    ///
    /// An insert at the same time makes it stale again.
    ///
    /// # Errors
    /// As [`fetch`](Self::fetch).
    pub fn seal(&self, servers: &mut Servers) -> Result<(), Error> {
        let bytes = self.fetch(servers)?.to_bytes();
        let at = bytes.len() - 8;
        let sum = Routed::on("SETRANGE", &self.key).arg(at).arg(&bytes[at..]);
        expect_done(servers.run(&[sum], None)?)
    }

    /// Adds the items of another filter by `BITOP OR`, on the server.
    ///
    /// # Errors
    /// [`Error::Differs`] if the filters are of other shapes, or their keys in other slots of a cluster.
    pub fn union_with(&self, servers: &mut Servers, other: &Self) -> Result<(), Error> {
        let head = head_of(self.params, self.hasher)?;
        unite(servers, &[(self.key.clone(), other.key.clone(), head)], None)
    }

    /// Inserts keys. Answers which of them were new.
    ///
    /// # Errors
    /// [`Error::Missing`] if the key of the filter is gone.
    pub fn insert_batch<K: AsRef<[u8]>>(
        &self,
        servers: &mut Servers,
        keys: &[K],
    ) -> Result<Vec<Answer>, Error> {
        let replies = self.exchange(servers, keys, insert)?;
        let mut answers = Vec::with_capacity(keys.len());
        for Reply { value, repeated } in replies {
            let were_set = were_set(&self.key, self.params, &value)?;
            answers.extend(were_set.into_iter().map(|was_set| Answer::of(was_set, repeated)));
        }
        Ok(answers)
    }

    /// Tests keys. `false` is certain.
    ///
    /// # Errors
    /// [`Error::Missing`] if the key of the filter is gone.
    pub fn contains_batch<K: AsRef<[u8]>>(
        &self,
        servers: &mut Servers,
        keys: &[K],
    ) -> Result<Vec<bool>, Error> {
        let replies = self.exchange(servers, keys, contains)?;
        let answers = replies.iter().map(|reply| were_set(&self.key, self.params, &reply.value));
        Ok(answers.collect::<Result<Vec<_>, _>>()?.concat())
    }

    fn exchange<K: AsRef<[u8]>>(
        &self,
        servers: &mut Servers,
        keys: &[K],
        command: fn(&str, BloomParams, std::vec::IntoIter<u64>) -> Routed,
    ) -> Result<Vec<Reply>, Error> {
        let commands = keys.chunks(KEYS_PER_COMMAND).map(|keys| {
            let hashes: Vec<_> =
                keys.iter().map(|key| self.hasher.hash_bytes(key.as_ref())).collect();
            command(&self.key, self.params, hashes.into_iter())
        });
        servers.run(&commands.collect::<Vec<_>>(), None)
    }
}

/// Reads parameters and hasher from a head.
fn parameters(key: &str, header: &Header) -> Result<(BloomParams, DefaultHashBuilder), Error> {
    let decode = |error| decode_error(key, error);
    check_equal(key, &Kind::BLOOM.to_string(), &header.kind.to_string())?;
    let payload =
        *BloomFilter::<DefaultHashBuilder>::payload_range(&header.shape).map_err(decode)?.end();
    check_equal(
        key,
        &format!("{payload} bytes of bits"),
        &format!("{} bytes of bits", header.payload_bytes),
    )?;
    let [bits, hashes] = header.shape.numbers(["bits", "hashes"]).map_err(decode)?.values();
    let params =
        BloomParams::from_bits_and_hashes(bits, u32::try_from(hashes).unwrap_or(u32::MAX))?
            .with_design(header.shape.expected_items(), header.shape.promised_rate())?;
    Ok((params, DefaultHashBuilder::of_header(header, None).map_err(decode)?))
}

fn decode_error(key: &str, error: DecodeError) -> Error {
    Error::Decode { key: key.into(), error: error.into() }
}

/// Checks that what is stored under a key is what was asked for.
pub(crate) fn check_equal(key: &str, asked: &str, stored: &str) -> Result<(), Error> {
    if asked == stored {
        return Ok(());
    }
    Err(Error::Differs { key: key.into(), asked: asked.into(), stored: stored.into() })
}

/// Checks that the head under a key is the one of a filter.
fn check_head(key: &str, head: &[u8], reply: &Value) -> Result<(), Error> {
    match reply {
        Value::BulkString(stored) if stored == head => Ok(()),
        Value::BulkString(stored) if stored.is_empty() => Err(Error::Missing { key: key.into() }),
        Value::BulkString(stored) => {
            let asked = "an equal filter".into();
            let stored = match Header::peek(stored) {
                Ok(header) => format!("a filter of the shape {:?}", header.shape.as_slice()),
                Err(error) => error.to_string(),
            };
            Err(Error::Differs { key: key.into(), asked, stored })
        }
        other => Err(refusal("GETRANGE", other)),
    }
}

/// Unites filters by `BITOP OR`: target, source, and the head that both must have.
pub(crate) fn unite(
    servers: &mut Servers,
    pairs: &[(String, String, Vec<u8>)],
    wait: Option<Wait>,
) -> Result<(), Error> {
    let keys = pairs.iter().flat_map(|(target, source, head)| [(target, head), (source, head)]);
    let keys: Vec<_> = keys.collect();
    let heads = keys.iter().map(|(key, _)| get_head(key));
    let replies = servers.run(&heads.collect::<Vec<_>>(), None)?;
    for ((key, head), reply) in keys.iter().zip(&replies) {
        check_head(key, head, &reply.value)?;
    }
    let commands: Vec<_> = pairs
        .iter()
        .map(|(target, source, _)| {
            let mut command = redis::cmd("BITOP");
            command.arg("OR").arg(target).arg(target).arg(source);
            Routed { slot: crate::slot_of(target.as_bytes()), command }
        })
        .collect();
    expect_done(servers.run(&commands, wait)?)
}

/// Checks that no reply is an error.
pub(crate) fn expect_done(replies: Vec<Reply>) -> Result<(), Error> {
    for reply in replies {
        reply.value.extract_error()?;
    }
    Ok(())
}
