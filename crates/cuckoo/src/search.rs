//! The search for a way to make room: from a key's two full buckets to the nearest free slot.
//!
//! Breadth first, and before anything is moved. A random walk of moves has to wait for the memory of each bucket
//! before it knows the next; here the buckets that may come next are asked for as soon as they are known, and are
//! on their way while others are looked at. A search that finds no way has changed nothing, and it depends on
//! nothing but the table and the key: equal histories give equal tables.

use crate::address::Address;
use crate::lanes::{SLOTS, Slot};
use crate::table::{Place, Table};

/// Most buckets of the search close by, which nearly always finds a way. It does not note those seen, as to come to some
/// again costs less. No way passes a bucket twice all the same: what is found first is a shortest way, and without
/// its loop it would be shorter.
const NEAR: usize = 90;

/// Most buckets of the search that is made when the first has found none.
const FAR: usize = 2048;

/// Words of bits in which the second notes the buckets seen. In tables of more buckets than bits some are taken for
/// others and left out: one in eight at the end of a search, at most.
const FAR_SEEN: usize = 256;

/// Buckets that are on their way from memory before the first of them is looked at.
const AHEAD: usize = 8;

/// A bucket in the order of the search, and the slot that gets free when its fingerprint moves here, as four times the
/// index of its own bucket and the lane.
#[derive(Clone, Copy)]
struct Node {
    bucket: u32,
    from: u32,
}

/// The buckets that a search has found so far.
struct Search<const NODES: usize, const SEEN: usize> {
    nodes: [Node; NODES],
    len: usize,
    /// How many the search started at.
    roots: usize,
    seen: [u64; SEEN],
}

impl<const NODES: usize, const SEEN: usize> Search<NODES, SEEN> {
    /// Has found nothing.
    #[inline(always)]
    const fn new() -> Self {
        let none = Node { bucket: 0, from: 0 };
        Self { nodes: [none; NODES], len: 0, roots: 0, seen: [0; SEEN] }
    }

    /// Appends a bucket unless it was seen. Returns whether it did.
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

    /// Finds the first bucket with a free slot, from a key's buckets on, both of them full: its index, and the slot.
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
    /// gets free in one of the first two buckets.
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

/// Makes a slot of the key's buckets free by moving others to their partners. Returns it; when there is none, nothing
/// has changed.
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
