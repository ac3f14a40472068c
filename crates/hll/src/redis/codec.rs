//! The value of a Redis key: 16 bytes of header, then registers of six bits, or runs of registers.

use alloc::vec::Vec;

use super::{MAX_RANK, NUM_REGISTERS, RedisError};
use crate::dense;

const MAGIC: [u8; 4] = *b"HYLL";
const DENSE: u8 = 0;
const SPARSE: u8 = 1;
const HEADER_BYTES: usize = 16;
const DENSE_BYTES: usize = HEADER_BYTES + NUM_REGISTERS / 4 * 3;

/// The length up to which the server keeps a value sparse, with the header: its default of `hll-sparse-max-bytes`.
const MAX_SPARSE_BYTES: usize = 3_000;

/// The greatest rank and the greatest length of a sparse run of registers that are not zero.
const MAX_RUN_RANK: u8 = 32;
const MAX_RUN: usize = 4;

/// The top bit of the cached count, in the last byte of the header: the count must be recomputed.
const STALE: u8 = 0x80;

/// Returns the value with these registers. It is sparse if the server would keep it sparse.
pub(super) fn encode(registers: &[u8], is_dense: bool) -> Vec<u8> {
    let runs = if is_dense { None } else { sparse_runs(registers) };
    match runs {
        Some(runs) => [&header(SPARSE)[..], &runs].concat(),
        None => {
            let mut value = Vec::with_capacity(DENSE_BYTES);
            value.extend(header(DENSE));
            value.extend(dense::packed(registers));
            value
        }
    }
}

fn header(encoding: u8) -> [u8; HEADER_BYTES] {
    let [m0, m1, m2, m3] = MAGIC;
    [m0, m1, m2, m3, encoding, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, STALE]
}

/// Returns the runs that the server's `PFMERGE` leaves in a new key. It sets the registers in order. `None` if it
/// switches to the dense encoding meanwhile.
fn sparse_runs(registers: &[u8]) -> Option<Vec<u8>> {
    let mut runs = Vec::new();
    // Number of registers that the runs cover, and the rank and the length of the last run.
    let (mut covered, mut last) = (0, (0, 0));
    for (register, &rank) in registers.iter().enumerate().filter(|&(_, &rank)| rank != 0) {
        if rank > MAX_RUN_RANK {
            return None;
        }
        let before = runs.len() + zeros(NUM_REGISTERS - covered).count();
        let gap = register - covered;
        runs.extend(zeros(gap));
        covered = register + 1;
        // The server checks the length before it joins the register with the preceding run, and only if the value
        // grows.
        let after = runs.len() + 1 + zeros(NUM_REGISTERS - covered).count();
        if after > before && HEADER_BYTES + after > MAX_SPARSE_BYTES {
            return None;
        }
        let joins = gap == 0 && last.0 == rank && last.1 < MAX_RUN;
        if joins {
            runs.pop();
        }
        last = (rank, if joins { last.1 + 1 } else { 1 });
        runs.push(run(last));
    }
    runs.extend(zeros(NUM_REGISTERS - covered));
    Some(runs)
}

/// Returns a run of up to four registers of a rank from 1 to 32.
#[expect(clippy::cast_possible_truncation, reason = "the length is at most 4")]
const fn run((rank, length): (u8, usize)) -> u8 {
    0x80 | (rank - 1) << 2 | (length - 1) as u8
}

/// Returns a run of `length` zero registers: nothing for 0, one byte up to 64, two bytes beyond.
#[expect(clippy::cast_possible_truncation, reason = "the length has 14 bits")]
fn zeros(length: usize) -> impl Iterator<Item = u8> {
    let rest = length.saturating_sub(1);
    let bytes = [(rest >> 8) as u8 | 0x40, rest as u8];
    let first = match length {
        0 => 2,
        1..=64 => 1,
        _ => 0,
    };
    bytes.into_iter().skip(first)
}

/// Returns the registers of a value, and whether it is dense.
pub(super) fn decode(value: &[u8]) -> Result<(Vec<u8>, bool), RedisError> {
    let Some((header, body)) = value.split_first_chunk::<HEADER_BYTES>() else {
        return Err(RedisError::Length { found: value.len(), expected: HEADER_BYTES });
    };
    let [m0, m1, m2, m3, encoding, r0, r1, r2, ..] = *header;
    if [m0, m1, m2, m3] != MAGIC {
        return Err(RedisError::Magic { found: [m0, m1, m2, m3] });
    }
    if [r0, r1, r2] != [0; 3] {
        return Err(RedisError::Reserved { found: [r0, r1, r2] });
    }
    match encoding {
        DENSE => decode_dense(body).map(|registers| (registers, true)),
        SPARSE => decode_sparse(body).map(|registers| (registers, false)),
        found => Err(RedisError::Encoding { found }),
    }
}

fn decode_dense(body: &[u8]) -> Result<Vec<u8>, RedisError> {
    if body.len() != DENSE_BYTES - HEADER_BYTES {
        let found = HEADER_BYTES + body.len();
        return Err(RedisError::Length { found, expected: DENSE_BYTES });
    }
    let registers: Vec<u8> =
        body.as_chunks().0.iter().flat_map(|&packed| dense::unpack(packed)).collect();
    match registers.iter().position(|&rank| rank > MAX_RANK) {
        Some(register) => Err(RedisError::Rank { register, found: registers[register] }),
        None => Ok(registers),
    }
}

fn decode_sparse(mut body: &[u8]) -> Result<Vec<u8>, RedisError> {
    let mut registers = Vec::with_capacity(NUM_REGISTERS);
    let mut offset = HEADER_BYTES;
    while let Some((rank, length, rest)) = next_run(body) {
        let end = registers.len() + length;
        if end > NUM_REGISTERS {
            return Err(RedisError::Run { offset });
        }
        registers.resize(end, rank);
        offset += body.len() - rest.len();
        body = rest;
    }
    match registers.len() {
        // A run that lacks its second byte remains.
        _ if !body.is_empty() => Err(RedisError::Run { offset }),
        NUM_REGISTERS => Ok(registers),
        registers => Err(RedisError::Incomplete { registers }),
    }
}

/// Returns rank and length of the first run, and the bytes after it.
fn next_run(body: &[u8]) -> Option<(u8, usize, &[u8])> {
    let (&first, rest) = body.split_first()?;
    match first >> 6 {
        0 => Some((0, usize::from(first) + 1, rest)),
        1 => {
            let (&second, rest) = rest.split_first()?;
            Some((0, usize::from(first & 63) * 256 + usize::from(second) + 1, rest))
        }
        _ => Some(((first >> 2 & 31) + 1, usize::from(first & 3) + 1, rest)),
    }
}
