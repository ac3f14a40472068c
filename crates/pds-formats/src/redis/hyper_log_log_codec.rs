//! The value of a Redis key: 16 bytes of header, then registers of six bits, or runs of registers.

use alloc::vec::Vec;

use hll::internal::{packed, unpacked};

use super::hyper_log_log::{MAX_RANK, NUM_REGISTERS};
use crate::FormatError;
use crate::reader::Reader;

const MAGIC: &str = "HYLL";
const DENSE: u8 = 0;
const SPARSE: u8 = 1;
const HEADER_BYTES: usize = 16;
/// Bytes of the registers in the dense encoding.
const DENSE_BYTES: usize = NUM_REGISTERS / 4 * 3;

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
        None => [&header(DENSE)[..], &packed(registers)].concat(),
    }
}

fn header(encoding: u8) -> [u8; HEADER_BYTES] {
    let mut header = [0; HEADER_BYTES];
    header[..MAGIC.len()].copy_from_slice(MAGIC.as_bytes());
    header[4] = encoding;
    header[15] = STALE;
    header
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
pub(super) fn decode(value: &[u8]) -> Result<(Vec<u8>, bool), FormatError> {
    let mut reader = Reader::new("Redis HyperLogLog", value);
    reader.magic(MAGIC)?;
    let encoding = reader.u8("encoding")?;
    for _ in 5..8 {
        reader.u8("reserved byte")?.equals(0)?;
    }
    // The count is a cache.
    reader.bytes("cached count", 8)?;
    let is_dense = encoding.one_of(&[DENSE, SPARSE], "0 or 1")? == DENSE;
    let registers = if is_dense { dense(&mut reader)? } else { sparse(&mut reader)? };
    reader.end()?;
    Ok((registers, is_dense))
}

fn dense(reader: &mut Reader<'_>) -> Result<Vec<u8>, FormatError> {
    let start = reader.offset();
    let body = reader.bytes("registers", DENSE_BYTES as u64)?;
    let registers = unpacked(body);
    match registers.iter().position(|&rank| rank > MAX_RANK) {
        Some(at) => {
            let offset = start + at as u64 * 6 / 8;
            Err(reader.invalid("register", offset, registers[at], "at most 51"))
        }
        None => Ok(registers),
    }
}

fn sparse(reader: &mut Reader<'_>) -> Result<Vec<u8>, FormatError> {
    let mut registers = Vec::with_capacity(NUM_REGISTERS);
    while reader.remaining() > 0 {
        let first = reader.u8("run")?;
        let (rank, length) = match (first.value >> 6, first.value) {
            (0, byte) => (0, usize::from(byte) + 1),
            (1, byte) => {
                let low = reader.u8("second byte of a run")?.value;
                (0, usize::from(byte & 63) * 256 + usize::from(low) + 1)
            }
            (_, byte) => ((byte >> 2 & 31) + 1, usize::from(byte & 3) + 1),
        };
        let end = registers.len() + length;
        if end > NUM_REGISTERS {
            let allowed = "within the 16384 registers";
            return Err(reader.invalid("end of a run", first.offset, end as u64, allowed));
        }
        registers.resize(end, rank);
    }
    match registers.len() {
        NUM_REGISTERS => Ok(registers),
        covered => {
            let field = "number of registers in the runs";
            Err(reader.invalid(field, reader.offset(), covered as u64, "16384"))
        }
    }
}
