//! Hash slots of a cluster, and hash tags that lie in a given slot.

use std::sync::OnceLock;

use crc::{CRC_16_XMODEM, Crc};

/// Number of hash slots of every cluster.
pub const SLOTS: u16 = 16_384;

const CRC: Crc<u16> = Crc::<u16>::new(&CRC_16_XMODEM);

/// Returns the hash slot of a key.
///
/// If the key contains `{`, a later `}` and something between the first of both, only that hash tag counts.
///
/// # Examples
/// ```
/// use pds_redis_client::slot_of;
///
/// assert_eq!(slot_of(b"123456789"), 12_739);
/// assert_eq!(slot_of(b"{user1000}.following"), slot_of(b"user1000"));
/// ```
#[must_use]
pub fn slot_of(key: &[u8]) -> u16 {
    CRC.checksum(hash_tag(key).unwrap_or(key)) % SLOTS
}

fn hash_tag(key: &[u8]) -> Option<&[u8]> {
    let rest = &key[key.iter().position(|&byte| byte == b'{')? + 1..];
    let end = rest.iter().position(|&byte| byte == b'}')?;
    (end > 0).then(|| &rest[..end])
}

/// Returns the least whole number whose decimal digits lie in a slot.
pub(crate) fn tag_in(slot: u16) -> u32 {
    static TAGS: OnceLock<Vec<u32>> = OnceLock::new();
    TAGS.get_or_init(find_tags)[usize::from(slot % SLOTS)]
}

fn find_tags() -> Vec<u32> {
    let mut tags = vec![u32::MAX; SLOTS.into()];
    let mut missing = tags.len();
    for number in 0.. {
        let tag = &mut tags[usize::from(slot_of(number.to_string().as_bytes()))];
        if *tag == u32::MAX {
            *tag = number;
            missing -= 1;
        }
        if missing == 0 {
            break;
        }
    }
    tags
}

/// Returns the slot of a shard, if `shards` of them are spread evenly over all slots, beginning at `first`.
// Masters usually have contiguous ranges of slots, so that each gets its share of the shards, give or take one.
#[expect(clippy::cast_possible_truncation, reason = "a remainder of the number of slots")]
pub(crate) fn slot_of_shard(shard: u32, shards: u32, first: u16) -> u16 {
    let spread = (2 * u64::from(shard) + 1) * u64::from(SLOTS) / (2 * u64::from(shards));
    ((spread + u64::from(first)) % u64::from(SLOTS)) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_those_of_the_cluster_specification() {
        assert_eq!(slot_of(b"123456789"), 0x31C3);
        for (key, tag) in [
            ("foo{bar}{zap}", "bar"),
            ("foo{{bar}}zap", "{bar"),
            ("foo{}{bar}", "foo{}{bar}"),
            ("foo}bar{zap}", "zap"),
            ("foo{bar", "foo{bar"),
        ] {
            assert_eq!(slot_of(key.as_bytes()), CRC.checksum(tag.as_bytes()) % SLOTS, "{key}");
        }
    }

    #[test]
    fn a_tag_lies_in_its_slot() {
        for slot in 0..SLOTS {
            assert_eq!(slot_of(format!("{{{}}}x", tag_in(slot)).as_bytes()), slot);
        }
    }

    #[test]
    fn shards_spread_evenly_over_masters_with_contiguous_slots() {
        for (shards, masters) in [(24, 3), (25, 3), (7, 3), (1_000, 6), (40_000, 3)] {
            let mut of_master = vec![0; masters];
            for shard in 0..shards {
                let slot = usize::from(slot_of_shard(shard, shards, 5_000));
                of_master[slot * masters / usize::from(SLOTS)] += 1;
            }
            let (least, most) = (of_master.iter().min(), of_master.iter().max());
            let spread = most.unwrap() - least.unwrap();
            assert!(spread <= 2 + shards / u32::from(SLOTS), "{shards} shards: {of_master:?}");
        }
    }
}
