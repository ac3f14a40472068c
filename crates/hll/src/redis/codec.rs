//! The value of a Redis key: 16 bytes of header, then registers of six bits, or runs of registers.

use alloc::vec::Vec;
use core::cmp::Ordering;

use pds_core::error::DecodeError;
use pds_core::internal::DecodeFault;

use super::{MAX_RANK, NUM_REGISTERS};
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
pub(super) fn decode(value: &[u8]) -> Result<(Vec<u8>, bool), DecodeError> {
    let Some((header, body)) = value.split_first_chunk::<HEADER_BYTES>() else {
        return Err(truncated(value.len(), HEADER_BYTES));
    };
    let [m0, m1, m2, m3, encoding, r0, r1, r2, ..] = *header;
    if [m0, m1, m2, m3] != MAGIC {
        let (found, allowed) = ([m0, m1, m2, m3], "HYLL");
        return Err(DecodeError(DecodeFault::Signature { offset: 0, found, allowed }));
    }
    if let Some((offset, &found)) = (5..).zip(&[r0, r1, r2]).find(|&(_, &byte)| byte != 0) {
        return Err(DecodeError(DecodeFault::Padding { offset, found: found.into() }));
    }
    match encoding {
        DENSE => decode_dense(body).map(|registers| (registers, true)),
        SPARSE => decode_sparse(body).map(|registers| (registers, false)),
        found => Err(DecodeError::invalid("the encoding", 4, found.into(), "0 or 1")),
    }
}

/// Returns an error if a value has fewer or more bytes than its encoding needs.
fn check_length(found: usize, needed: usize) -> Result<(), DecodeError> {
    match found.cmp(&needed) {
        Ordering::Less => Err(truncated(found, needed)),
        Ordering::Equal => Ok(()),
        Ordering::Greater => {
            let (offset, found) = (needed as u64, (found - needed) as u64);
            Err(DecodeError(DecodeFault::Trailing { offset, found }))
        }
    }
}

fn truncated(found: usize, needed: usize) -> DecodeError {
    DecodeError(DecodeFault::Truncated { offset: found as u64, expected: needed as u64 })
}

fn decode_dense(body: &[u8]) -> Result<Vec<u8>, DecodeError> {
    check_length(HEADER_BYTES + body.len(), DENSE_BYTES)?;
    let registers: Vec<u8> =
        body.as_chunks().0.iter().flat_map(|&packed| dense::unpack(packed)).collect();
    match registers.iter().position(|&rank| rank > MAX_RANK) {
        Some(register) => {
            let offset = (HEADER_BYTES + register * 6 / 8) as u64;
            Err(DecodeError::invalid(
                "a register",
                offset,
                registers[register].into(),
                "at most 51",
            ))
        }
        None => Ok(registers),
    }
}

fn decode_sparse(mut body: &[u8]) -> Result<Vec<u8>, DecodeError> {
    let mut registers = Vec::with_capacity(NUM_REGISTERS);
    let mut offset = HEADER_BYTES;
    while let Some((rank, length, rest)) = next_run(body) {
        let end = registers.len() + length;
        if end > NUM_REGISTERS {
            let left = "within the 16384 registers";
            return Err(DecodeError::invalid("the end of a run", offset as u64, end as u64, left));
        }
        registers.resize(end, rank);
        offset += body.len() - rest.len();
        body = rest;
    }
    match registers.len() {
        // A run that lacks its second byte remains.
        _ if !body.is_empty() => Err(truncated(offset + 1, offset + 2)),
        NUM_REGISTERS => Ok(registers),
        covered => {
            let name = "the number of registers in the runs";
            Err(DecodeError::invalid(name, offset as u64, covered as u64, "16384"))
        }
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
