//! Describes the files of other systems.

use crate::output::{Cell, Facts};
use pds::Estimate;
use pds::formats::xorf::{XorFilter, XorKind};
use pds::formats::{Recognised, recognise};
use pds::theta::ThetaSet;

/// Returns the name of the format of another system's bytes, and facts about them. `None` if no format here has such bytes.
pub(super) fn read(bytes: &[u8]) -> Option<(&'static str, Facts)> {
    let found = recognise(bytes)?;
    Some((found.format(), facts(&found)))
}

/// The facts of a Bloom filter. The types have their methods in common, but no trait.
macro_rules! bits {
    ($filter:ident) => {{
        let mut facts = Facts::new();
        facts.put("bits", $filter.num_bits());
        facts.put("hashes", u64::from($filter.num_hashes()));
        facts.put("keys", Cell::whole($filter.approx_len().value));
        facts.put("keys_error", $filter.approx_len().standard_error);
        facts.put("false_positive_rate", $filter.false_positive_rate());
        facts
    }};
}

fn facts(found: &Recognised) -> Facts {
    match found {
        Recognised::RedisHyperLogLog(one) => distinct(one.estimate_with_error()),
        Recognised::DataSketchesHll(one) => distinct(one.estimate()),
        Recognised::DataSketchesTheta(one) => distinct(one.estimate_with_error()),
        Recognised::DataSketchesCpc(one) => distinct(one.estimate()),
        Recognised::PostgresHll(one) => distinct(one.estimate()),
        Recognised::PrestoHll(one) => distinct(one.estimate()),
        Recognised::RedisBloomFilter(one) => {
            layers(one.len(), one.capacity(), one.num_layers(), one.false_positive_rate())
        }
        Recognised::RedisCuckooFilter(one) => {
            layers(one.len(), one.num_slots(), one.num_tables(), one.false_positive_rate())
        }
        Recognised::ValkeyBloomFilter(one) => {
            layers(one.len(), one.capacity(), one.num_layers(), one.false_positive_rate())
        }
        Recognised::RedisCountMinSketch(one) => {
            counters(one.width().into(), one.depth().into(), Cell::Count(one.total()))
        }
        Recognised::DataSketchesCountMin(one) => {
            let total = Cell::Number(one.total_weight());
            counters(one.num_buckets().into(), one.num_rows() as u64, total)
        }
        Recognised::SparkCountMin(one) => {
            counters(one.width().into(), one.depth() as u64, Cell::Count(one.total()))
        }
        Recognised::RedisTopK(one) => {
            let mut facts = Facts::new();
            let list = one.list();
            facts.put("listed", list.len() as u64);
            facts.put("first", list.first().map(|&(item, _)| item));
            facts.put("first_count", list.first().map(|&(_, count)| u64::from(count)));
            facts
        }
        Recognised::DataSketchesBloomFilter(one) => bits!(one),
        Recognised::SparkBloomFilter(one) => bits!(one),
        Recognised::GuavaBloomFilter(one) => bits!(one),
        Recognised::DcsoBloomFilter(one) => bits!(one),
        Recognised::MilvusBloomFilter(one) => {
            let mut facts = Facts::new();
            facts.put("expected_keys", one.declared_values());
            facts.put("promised_rate", one.declared_rate());
            facts
        }
        Recognised::ParquetBloomFilter(one) => {
            let mut facts = Facts::new();
            facts.put("bits", 8 * one.size_in_bytes());
            facts.put("false_positive_rate", one.false_positive_rate());
            facts
        }
        Recognised::Xor8(one)
        | Recognised::Xor16(one)
        | Recognised::BinaryFuse8(one)
        | Recognised::BinaryFuse16(one) => fingerprints(one),
        // Its name says all that is known of it here.
        _ => Facts::new(),
    }
}

fn distinct(estimate: Estimate) -> Facts {
    let mut facts = Facts::new();
    facts.put("distinct", Cell::whole(estimate.value));
    facts.put("standard_error", estimate.standard_error);
    facts
}

/// A filter of several tables.
fn layers(keys: u64, capacity: u64, layers: usize, rate: f64) -> Facts {
    let mut facts = Facts::new();
    facts.put("keys", keys);
    facts.put("expected_keys", capacity);
    facts.put("layers", layers as u64);
    facts.put("false_positive_rate", rate);
    facts
}

fn counters(width: u64, depth: u64, total: Cell) -> Facts {
    let mut facts = Facts::new();
    facts.put("width", width);
    facts.put("depth", depth);
    facts.put("total", total);
    facts
}

fn fingerprints(filter: &XorFilter) -> Facts {
    let is_wide = matches!(filter.kind(), XorKind::Xor16 | XorKind::BinaryFuse16);
    let mut facts = Facts::new();
    facts.put("fingerprints", filter.num_fingerprints() as u64);
    facts.put("false_positive_rate", f64::exp2(if is_wide { -16.0 } else { -8.0 }));
    facts
}
