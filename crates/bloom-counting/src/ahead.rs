//! Places in memory that are on their way before their turn.

use crate::methods::BATCH;

/// Visits the place of every key in order, sent for up to [`BATCH`] keys earlier.
///
/// Places are made a chunk at a time in a loop of their own, of which the compiler makes vectors where it can. Between
/// every two visits one place is sent for, which keeps the memory evenly busy. Beyond the last key that is the default
/// one, which has to be harmless.
#[inline(always)]
pub(crate) fn visit_ahead<K, P: Copy + Default, M>(
    keys: &[K],
    place: impl Fn(&K) -> P,
    mut memory: M,
    fetch: impl Fn(&M, P),
    mut visit: impl FnMut(&mut M, P),
) {
    let mut chunks = keys.chunks(BATCH).map(|keys| Chunk::new(keys, &place));
    let mut now = chunks.next().unwrap_or_default();
    now.places.iter().for_each(|&place| fetch(&memory, place));
    // One call of `visit` in the code, so that it is inlined where it is compiled for other processors.
    while now.len > 0 {
        let next = chunks.next().unwrap_or_default();
        for (&place, &later) in now.places.iter().zip(&next.places).take(now.len) {
            fetch(&memory, later);
            visit(&mut memory, place);
        }
        now = next;
    }
}

/// The places of up to [`BATCH`] keys.
#[derive(Default)]
struct Chunk<P> {
    places: [P; BATCH],
    len: usize,
}

impl<P: Copy + Default> Chunk<P> {
    #[inline(always)]
    fn new<K>(keys: &[K], place: impl Fn(&K) -> P) -> Self {
        let mut places = [P::default(); BATCH];
        for (slot, key) in places.iter_mut().zip(keys) {
            *slot = place(key);
        }
        Self { places, len: keys.len() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::cell::RefCell;

    #[test]
    fn every_key_is_visited_once_in_order_after_it_was_sent_for() {
        for len in [0, 1, 31, 32, 33, 64, 100] {
            let keys: [u64; 100] = core::array::from_fn(|index| index as u64 + 1);
            let sent = RefCell::new([false; 201]);
            let fetch =
                |_: &(), place: u64| sent.borrow_mut()[usize::try_from(place).unwrap()] = true;
            let mut visited = 0;
            visit_ahead(
                &keys[..len],
                |&key| 2 * key,
                (),
                fetch,
                |(), place| {
                    visited += 1;
                    assert_eq!(place, 2 * visited);
                    assert!(sent.borrow()[usize::try_from(place).unwrap()]);
                },
            );
            assert_eq!(visited, len as u64);
        }
    }
}
