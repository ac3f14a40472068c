//! The value of a Redis key: 16 bytes of header, then registers of six bits, or runs of registers.

use alloc::vec::Vec;

use super::{MAX_RANK, NUM_REGISTERS, RedisError};
use crate::dense;

const MAGIC: [u8; 4] = *b"HYLL";
const DENSE: u8 = 0;
const SPARSE: u8 = 1;
const HEADER_BYTES: usize = 16;
const DENSE_BYTES: usize = HEADER_BYTES + NUM_REGISTERS / 4 * 3;

/// The top bit of the cached count, in the header's last byte: the count has to be computed anew.
const STALE: u8 = 0x80;

pub(super) fn encode(registers: &[u8]) -> Vec<u8> {
    let mut value = Vec::with_capacity(DENSE_BYTES);
    value.extend(MAGIC);
    value.extend([DENSE, 0, 0, 0]);
    value.extend([0, 0, 0, 0, 0, 0, 0, STALE]);
    value.extend(registers.as_chunks().0.iter().flat_map(|&ranks| dense::pack(ranks)));
    value
}

pub(super) fn decode(value: &[u8]) -> Result<Vec<u8>, RedisError> {
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
        DENSE => decode_dense(body),
        SPARSE => decode_sparse(body),
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
        // A run that lacks its second byte is left over.
        _ if !body.is_empty() => Err(RedisError::Run { offset }),
        NUM_REGISTERS => Ok(registers),
        registers => Err(RedisError::Incomplete { registers }),
    }
}

/// Rank and length of the first run, and what follows it.
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
