//! The search for an eviction path: from the two full buckets of a key to the nearest free slot.
//!
//! The search is breadth-first, and moves nothing before it has found a path. So an insert that fails changes nothing.
//! The path depends only on the table and the key, so equal histories give equal tables.
// A random walk must wait for the memory of each bucket before it knows the next. This search prefetches buckets as soon
// as it knows them, and tests others in the meantime.

use crate::address::Address;
use crate::lanes::{SLOTS, Slot};
use crate::table::{Place, Table};

/// Most buckets of the first search, which nearly always finds a path.
// It does not record visited buckets, since visiting some twice costs less. A path never passes a bucket twice all the
// same: the first path found is a shortest one, and a path without its loop would be shorter.
const NEAR: usize = 90;

/// Most buckets of the second search, which runs if the first has found no path.
const FAR: usize = 2048;

/// Words of the bit set in which the second search records visited buckets.
// In tables with more buckets than bits, some buckets share a bit with a visited one and are skipped: at the end of a
// search at most one in eight.
const FAR_SEEN: usize = 256;

/// Number of buckets that are prefetched before the first of them is tested.
const AHEAD: usize = 8;

/// A bucket in the order of the search, and the slot that becomes free if its fingerprint moves here: four times the index
/// of that slot's bucket, plus the lane.
#[derive(Clone, Copy)]
struct Node {
    bucket: u32,
    from: u32,
}

/// The buckets that a search has found so far.
struct Search<const NODES: usize, const SEEN: usize> {
    nodes: [Node; NODES],
    len: usize,
    /// Number of buckets at which the search started.
    roots: usize,
    seen: [u64; SEEN],
}

impl<const NODES: usize, const SEEN: usize> Search<NODES, SEEN> {
    /// Returns a search that has found nothing.
    #[inline(always)]
    const fn new() -> Self {
        let none = Node { bucket: 0, from: 0 };
        Self { nodes: [none; NODES], len: 0, roots: 0, seen: [0; SEEN] }
    }

    /// Appends a bucket unless it was visited. Returns whether it was appended.
    #[inline(always)]
    fn push(&mut self, bucket: u32, from: u32) -> bool {
        if SEEN > 0 {
            let (word, bit) = (bucket as usize / 64 % SEEN, 1 << (bucket % 64));
            if self.seen[word] & bit != 0 {
                return false;
            }
            self.seen[word] |= bit;
        }
        if self.len == NODES {
            return false;
        }
        self.nodes[self.len] = Node { bucket, from };
        self.len += 1;
        true
    }

    /// Finds the nearest bucket with a free slot, from the two full buckets of a key. Returns its index and the slot.
    #[inline(always)]
    fn run(&mut self, table: &Table, place: Place, width: u32) -> Option<(usize, Slot)> {
        self.push(place.bucket, 0);
        self.push(place.other, 0);
        self.roots = self.len;
        let (mut looked_at, mut expanded) = (self.roots, 0);
        loop {
            while expanded < looked_at && self.len < NODES && self.len - looked_at < AHEAD {
                self.expand(table, expanded, width);
                expanded += 1;
            }
            if looked_at == self.len {
                return None;
            }
            let bucket = self.nodes[looked_at].bucket;
            if let Some(slot) = table.free_in(bucket.into(), width) {
                return Some((looked_at, slot));
            }
            looked_at += 1;
        }
    }

    /// Appends the buckets that the four fingerprints of a bucket can move to.
    #[inline(always)]
    #[expect(
        clippy::cast_possible_truncation,
        reason = "buckets have 32 bits, and there are few indices"
    )]
    fn expand(&mut self, table: &Table, index: usize, width: u32) {
        let bucket = self.nodes[index].bucket.into();
        let from = SLOTS * index as u32;
        for (from, fingerprint) in (from..).zip(table.fingerprints_in(bucket, width)) {
            let partner = table.partner(Address { bucket, fingerprint }) as u32;
            if self.push(partner, from) {
                table.prefetch_bucket(partner, width);
            }
        }
    }

    /// Moves a fingerprint into the free slot, another into the slot that it leaves, and so on. Returns the slot that
    /// becomes free in one of the first two buckets.
    #[inline(always)]
    fn free_up(&self, table: &mut Table, (mut index, mut free): (usize, Slot), width: u32) -> Slot {
        while index >= self.roots {
            let Node { from, .. } = self.nodes[index];
            let lane = from % SLOTS;
            index = (from / SLOTS) as usize;
            let bucket = self.nodes[index].bucket.into();
            let fingerprint = table.fingerprints_in(bucket, width)[lane as usize];
            let slot = Slot::of(bucket, lane, width);
            table.flip(free, fingerprint, width);
            table.flip(slot, fingerprint, width);
            free = slot;
        }
        free
    }
}

/// Frees a slot in one of the key's buckets by moving other fingerprints to their partner buckets. Returns the slot.
/// Returns `None`, and changes nothing, if no path was found.
#[cold]
#[inline(never)]
pub(crate) fn make_room<const WIDTH: u32>(table: &mut Table, place: Place) -> Option<Slot> {
    let mut search = Search::<NEAR, 0>::new();
    match search.run(table, place, WIDTH) {
        Some(found) => Some(search.free_up(table, found, WIDTH)),
        None => make_room_far(table, place),
    }
}

#[cold]
#[inline(never)]
fn make_room_far(table: &mut Table, place: Place) -> Option<Slot> {
    let width = table.width();
    let mut search = Search::<FAR, FAR_SEEN>::new();
    let found = search.run(table, place, width)?;
    Some(search.free_up(table, found, width))
}
