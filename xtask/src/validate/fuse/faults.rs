//! Faults of static filters and maps, put into their bytes.

use super::{BUILT, FALSE_POSITIVES, LOST_KEYS, WRONG_VALUES};
use super::{filter_case, filter_job, map_job, of_columns};
use crate::validate::prelude::*;
use pds::bytes::Header;
use pds::fuse::{RetrievalMap, RetrievalMapView, RibbonFilterView, UpdatableMap, UpdatableMapView};
use pds::params::fuse::FuseShape;
use pds::params::ribbon::{Columns, LastShape, LayerShape, Preset};
use pds::traits::Membership;

pub(super) const FAULTS: [Fault; 6] = [
    fault("column-left-out", "a ribbon filter has no third column", &[LOST_KEYS], |run| {
        ribbon(run, |layout, words| layout.group_words(2).for_each(|at| words[at] = 0))
    }),
    fault(
        "threshold-off-by-one",
        "buckets of a ribbon filter bump the keys of the next threshold",
        &[LOST_KEYS],
        |run| ribbon(run, |layout, words| words[layout.thresholds()].iter_mut().for_each(raise)),
    ),
    fault(
        "bumped-key-forgotten",
        "the last layer of a ribbon filter is empty",
        &[LOST_KEYS],
        |run| ribbon(run, |layout, words| words[layout.last()].fill(0)),
    ),
    fault(
        "column-too-few",
        "a ribbon filter has a quarter of a column less than it says",
        &[FALSE_POSITIVES],
        |run| faulty_ribbon(run, |hashes| (of_columns(7.75, hashes).0, 1.0 / 256.0)),
    ),
    fault(
        "value-bits-swapped",
        "two bits of the values of a retrieval map change places",
        &[WRONG_VALUES],
        swapped,
    ),
    fault(
        "next-slot",
        "an updatable map reads each value in the slot behind the one of the key",
        &[WRONG_VALUES],
        shifted,
    ),
];

/// Keys of one layer and a last one.
const ITEMS: u64 = 40_009;
const COLUMNS: u32 = 8;

/// Where the parts of a system of one layer are.
struct Layout {
    layer: LayerShape,
    columns: Columns,
    bumped: u64,
}

impl Layout {
    /// Returns the layout of a system of whole columns, from its words.
    fn of(words: &[u64]) -> Self {
        let columns = Columns::whole(COLUMNS).expect("few");
        let bumped = *words.last().expect("a system has words");
        let layer = LayerShape::new(ITEMS, Preset::Compact);
        let layout = Self { layer, columns, bumped };
        assert_eq!(layout.thresholds().end, words.len() - 1, "one layer, and no exact list");
        layout
    }

    /// Returns the places of a column in the groups of the first layer.
    fn group_words(&self, column: usize) -> impl Iterator<Item = usize> + use<> {
        (column..index(self.layer.solution_words(self.columns))).step_by(COLUMNS as usize)
    }

    fn last(&self) -> core::ops::Range<usize> {
        let start = self.layer.solution_words(self.columns);
        index(start)..index(start + LastShape::new(self.bumped).solution_words(self.columns))
    }

    fn thresholds(&self) -> core::ops::Range<usize> {
        let start = self.last().end;
        start..start + index(self.layer.threshold_words())
    }
}

/// Raises each of 32 thresholds below the highest by one.
fn raise(word: &mut u64) {
    const LOW: u64 = 0x5555_5555_5555_5555;
    let not_highest = !(*word & *word >> 1) & LOW;
    *word += not_highest;
}

fn payload(bytes: &mut [u8]) -> &mut [u8] {
    let header = Header::peek(bytes).expect("our own bytes");
    &mut bytes[index(header.payload_offset())..index(header.payload_end())]
}

/// Changes the words of the payload.
fn edited(mut bytes: Vec<u8>, edit: impl Fn(&Layout, &mut [u64])) -> Vec<u8> {
    let payload = payload(&mut bytes);
    let (chunks, _) = payload.as_chunks();
    let mut words: Vec<u64> = chunks.iter().map(|&chunk| u64::from_le_bytes(chunk)).collect();
    let layout = Layout::of(&words);
    edit(&layout, &mut words);
    let (chunks, _) = payload.as_chunks_mut();
    chunks.iter_mut().zip(words).for_each(|(chunk, word)| *chunk = word.to_le_bytes());
    bytes
}

fn faulty_ribbon<F: Membership>(
    run: &Run,
    build: impl Fn(Vec<u64>) -> (F, f64) + Send + 'static,
) -> Vec<Job<'_>> {
    let (case, queries) = filter_case(run, "faulty ribbon", ITEMS, 8.0, "8 columns".to_owned());
    vec![filter_job(case, run.seed, queries, build)]
}

fn ribbon(run: &Run, edit: fn(&Layout, &mut [u64])) -> Vec<Job<'_>> {
    faulty_ribbon(run, move |hashes| {
        let (filter, rate) = of_columns(8.0, hashes);
        let view = RibbonFilterView::open(edited(filter.to_bytes(), edit)).expect("a sound head");
        (view, rate)
    })
}

fn swapped(run: &Run) -> Vec<Job<'_>> {
    let (case, queries) =
        filter_case(run, "faulty retrieval", ITEMS, 4.0, "4 bits, 4 to check".into());
    vec![map_job(case, run.seed, queries, 4, |entries| {
        let builder = RetrievalMap::builder().value_bits(4).check_bits(4);
        let map = builder.build_hashes(entries).expect(BUILT);
        let bytes = edited(map.to_bytes(), |layout, words| {
            layout.group_words(0).for_each(|at| words.swap(at, at + 1));
        });
        let view = RetrievalMapView::open(bytes).expect("a sound head");
        move |hash| view.get_hash(hash)
    })]
}

/// Cells and values of eight bits each, so that slots are bytes.
fn shifted(run: &Run) -> Vec<Job<'_>> {
    let bits = 6.0 + (4.0_f64 / 3.0).log2();
    let (case, queries) =
        filter_case(run, "faulty updatable", ITEMS, bits, "8 bits, 6 to check".into());
    vec![map_job(case, run.seed, queries, 8, |entries| {
        let builder = UpdatableMap::builder().value_bits(8).check_bits(6);
        let mut bytes = builder.build_hashes(entries).expect(BUILT).to_bytes();
        let payload = payload(&mut bytes);
        let slots = index(FuseShape::new(ITEMS, 0).expect("few").num_slots());
        let values = slots.next_multiple_of(8) + 8;
        assert_eq!(payload.len(), 2 * values - 8, "cells, a salt, and values");
        payload[values..][..slots].rotate_left(1);
        let view = UpdatableMapView::open(bytes).expect("a sound head");
        move |hash| view.get_hash(hash)
    })]
}
