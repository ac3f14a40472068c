//! Short lists of hashes of many groups, in one allocation.

/// Number of sizes of blocks: 1, 2, 4 ... hashes.
const CLASSES: usize = 16;

/// A list of hashes in an [`Arena`].
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct List {
    /// First word of its block.
    at: u32,
    len: u16,
    /// Binary logarithm of the size of its block. An empty list has none.
    class: u8,
}

impl List {
    pub(crate) const fn len(self) -> usize {
        self.len as usize
    }
}

/// Blocks of hashes. A block that is given up is used again for another list.
#[derive(Debug, Default)]
pub(crate) struct Arena {
    words: Vec<u64>,
    free: [Vec<u32>; CLASSES],
}

impl Arena {
    pub(crate) fn hashes(&self, list: List) -> &[u64] {
        &self.words[list.at as usize..][..list.len()]
    }

    /// Appends a hash. Returns `false`, and changes nothing, if the arena cannot address more.
    pub(crate) fn push(&mut self, list: &mut List, hash: u64) -> bool {
        let is_full = list.len == 0 || list.len() == 1 << list.class;
        if is_full && !self.grow(list) {
            return false;
        }
        self.words[list.at as usize + list.len()] = hash;
        list.len += 1;
        true
    }

    /// Moves a list into a block of twice its size.
    fn grow(&mut self, list: &mut List) -> bool {
        let class = if list.len == 0 { 0 } else { list.class + 1 };
        let Some(free) = self.free.get_mut(usize::from(class)) else { return false };
        let at = match free.pop() {
            Some(at) => at,
            None => match u32::try_from(self.words.len()) {
                Ok(at) => {
                    self.words.resize(self.words.len() + (1 << class), 0);
                    at
                }
                Err(_) => return false,
            },
        };
        self.words.copy_within(list.at as usize..list.at as usize + list.len(), at as usize);
        let len = list.len;
        self.release(list);
        *list = List { at, len, class };
        true
    }

    /// Empties a list, and gives up its block.
    pub(crate) fn release(&mut self, list: &mut List) {
        if list.len > 0 {
            self.free[usize::from(list.class)].push(list.at);
        }
        *list = List::default();
    }

    /// Returns the memory in bytes.
    pub(crate) fn size_in_bytes(&self) -> usize {
        let free: usize = self.free.iter().map(Vec::capacity).sum();
        self.words.capacity() * size_of::<u64>() + free * size_of::<u32>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_keep_their_hashes_while_others_come_and_go() {
        let mut arena = Arena::default();
        let mut lists = vec![List::default(); 50];
        let mut model = vec![Vec::new(); 50];
        let mut random = 1u64;
        for step in 0..100_000u64 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let at = (random >> 33) as usize % 50;
            if (random >> 60) == 0 || model[at].len() == 200 {
                arena.release(&mut lists[at]);
                model[at].clear();
            } else {
                assert!(arena.push(&mut lists[at], step));
                model[at].push(step);
            }
            assert_eq!(arena.hashes(lists[at]), model[at]);
        }
        for (list, model) in lists.iter().zip(&model) {
            assert_eq!(arena.hashes(*list), model);
        }
        // 50 lists of at most 200 hashes, in blocks of at most twice that, and the smaller ones that they left.
        assert!(arena.size_in_bytes() < 50 * 2 * 512 * 8, "{}", arena.size_in_bytes());
    }

    #[test]
    fn a_list_ends_where_the_largest_block_does() {
        let (mut arena, mut list) = (Arena::default(), List::default());
        let pushed = (0..1 << 17).take_while(|&hash| arena.push(&mut list, hash)).count();
        assert_eq!(pushed, 1 << (CLASSES - 1));
        assert_eq!(arena.hashes(list).len(), pushed);
    }
}
