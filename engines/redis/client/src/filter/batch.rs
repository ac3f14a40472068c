//! Batches: keys are divided among shards, and answers put in the order of the keys.

use pds_core::hash::{DefaultHashBuilder, PortableHasher, finalize, reduce};
use redis::Value;

use super::{Answer, ShardedFilter};
use crate::module::Inserted;
use crate::plan::{Generation, Storage};
use crate::servers::{Reply, Routed, Wait};
use crate::{Error, bitmap, module};

/// A key, and its hash.
#[derive(Clone, Copy)]
pub(super) struct Key<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) hash: u64,
}

/// Keys of one shard that one command takes, by their places in the batch.
pub(super) struct Group {
    generation: usize,
    shard_key: String,
    places: Vec<usize>,
}

impl ShardedFilter {
    /// Returns the places of the keys that the cache does not know.
    pub(super) fn uncached(&mut self, keys: &[Key<'_>]) -> Vec<usize> {
        (0..keys.len()).filter(|&place| !self.cache.contains(keys[place].hash)).collect()
    }

    /// Divides the keys at `places` among the shards of a generation.
    pub(super) fn groups(
        &self,
        keys: &[Key<'_>],
        places: &[usize],
        generation: usize,
    ) -> Vec<Group> {
        let design = &self.generations[generation];
        let mut of_shard = vec![Vec::new(); design.shards() as usize];
        for &place in places {
            of_shard[shard_of(design, keys[place].hash) as usize].push(place);
        }
        let most = match design.storage {
            Storage::Module => module::KEYS_PER_COMMAND,
            Storage::Bitmap => bitmap::KEYS_PER_COMMAND,
        };
        let mut groups = Vec::new();
        for (shard, places) in (0..).zip(of_shard) {
            groups.extend(places.chunks(most).map(|places| Group {
                generation,
                shard_key: self.key_of_shard(generation, design, shard),
                places: places.to_vec(),
            }));
        }
        groups
    }

    /// Asks all generations from `from` on, and those that are added meanwhile. Returns the answers for `places`.
    pub(super) fn found(
        &mut self,
        keys: &[Key<'_>],
        places: &[usize],
        mut from: usize,
    ) -> Result<Vec<bool>, Error> {
        let mut found = vec![false; keys.len()];
        while from < self.generations.len() {
            let known = self.generations.len();
            let groups: Vec<_> =
                (from..known).flat_map(|index| self.groups(keys, places, index)).collect();
            self.ask(keys, &groups, &mut found)?;
            from = known;
        }
        Ok(places.iter().map(|&place| found[place]).collect())
    }

    /// Asks shards, and then for the number of generations.
    pub(super) fn ask(
        &mut self,
        keys: &[Key<'_>],
        groups: &[Group],
        found: &mut [bool],
    ) -> Result<(), Error> {
        let mut commands = Vec::new();
        for Group { generation, shard_key, places } in groups {
            let design = &self.generations[*generation];
            match design.storage {
                Storage::Module => commands.extend(module::contains(
                    shard_key,
                    places.iter().map(|&place| keys[place].bytes),
                )),
                Storage::Bitmap => {
                    let hashes = places.iter().map(|&place| keys[place].hash);
                    commands.push(bitmap::contains(shard_key, design.bitmap_params()?, hashes));
                }
            }
        }
        commands.push(self.ask_generations());
        let replies = self.exchange(&commands, None)?;
        let mut replies = replies.iter().map(|reply| &reply.value);
        let mut next = || replies.next().unwrap_or(&Value::Nil);
        for Group { generation, shard_key, places } in groups {
            let design = &self.generations[*generation];
            let answers = match design.storage {
                Storage::Module => module::contained(shard_key, places.len(), [next(), next()])?,
                Storage::Bitmap => bitmap::were_set(shard_key, design.bitmap_params()?, next())?,
            };
            places.iter().zip(answers).for_each(|(&place, answer)| found[place] |= answer);
        }
        let generations = next().clone();
        self.check_generations(Some(&generations))
    }

    /// Inserts the keys at `places`, of which the older generations contain none, and adds generations as they become full.
    pub(super) fn insert_absent(
        &mut self,
        keys: &[Key<'_>],
        mut places: Vec<usize>,
        answers: &mut [Option<Answer>],
    ) -> Result<(), Error> {
        let mut asked = self.generations.len() - 1;
        while !places.is_empty() {
            self.make_room(places.len() as u64)?;
            let newest = self.generations.len() - 1;
            if asked < newest {
                places = self.absent(keys, places, asked, answers)?;
                asked = newest;
                continue;
            }
            let now = places.len().min(usize::try_from(self.room()).unwrap_or(usize::MAX));
            let rest = places.split_off(now);
            let mut refused =
                self.send_inserts(keys, &self.groups(keys, &places, newest), answers)?;
            let is_new = |&&place: &&usize| answers[place] == Some(Answer::New);
            self.note(places.iter().filter(is_new).count() as u64)?;
            // A shard that is full before the others, or that other clients filled.
            if !refused.is_empty() && self.generations.len() == newest + 1 {
                self.progress.items = self.progress.items.saturating_add(self.room());
            }
            refused.extend(rest);
            places = refused;
        }
        Ok(())
    }

    /// Makes the newest generation one with room, before a batch of `wanted` keys.
    pub(super) fn make_room(&mut self, wanted: u64) -> Result<(), Error> {
        let capacity = self.generations[self.generations.len() - 1].items();
        // Others may have filled it, or added one.
        if self.progress.since.saturating_add(wanted) > capacity / 100 {
            self.check_generations(None)?;
            self.refresh()?;
        }
        if self.room() > 0 {
            return Ok(());
        }
        if self.plan.grows() {
            return self.grow();
        }
        let (items, capacity) = (self.progress.items, self.generations[0].items());
        Err(Error::Full { items, capacity })
    }

    /// Returns the places of the keys that the generations from `from` on do not contain. The others are present.
    pub(super) fn absent(
        &mut self,
        keys: &[Key<'_>],
        places: Vec<usize>,
        from: usize,
        answers: &mut [Option<Answer>],
    ) -> Result<Vec<usize>, Error> {
        let found = self.found(keys, &places, from)?;
        let (found, absent): (Vec<_>, Vec<_>) =
            places.into_iter().zip(found).partition(|(_, found)| *found);
        found.iter().for_each(|&(place, _)| answers[place] = Some(Answer::Present));
        Ok(absent.into_iter().map(|(place, _)| place).collect())
    }

    /// Returns the places of keys that a full shard refused.
    pub(super) fn send_inserts(
        &mut self,
        keys: &[Key<'_>],
        groups: &[Group],
        answers: &mut [Option<Answer>],
    ) -> Result<Vec<usize>, Error> {
        let mut commands = Vec::new();
        for Group { generation, shard_key, places } in groups {
            let design = &self.generations[*generation];
            commands.push(match design.storage {
                Storage::Module => {
                    module::insert(shard_key, places.iter().map(|&place| keys[place].bytes))
                }
                Storage::Bitmap => {
                    let hashes = places.iter().map(|&place| keys[place].hash);
                    bitmap::insert(shard_key, design.bitmap_params()?, hashes)
                }
            });
        }
        commands.push(self.ask_generations());
        let replies = self.exchange(&commands, self.wait)?;
        for (Group { generation, shard_key, places }, reply) in groups.iter().zip(&replies) {
            let design = &self.generations[*generation];
            let inserted = match design.storage {
                Storage::Module => module::inserted(shard_key, places.len(), &reply.value)?,
                Storage::Bitmap => {
                    bitmap::were_set(shard_key, design.bitmap_params()?, &reply.value)?
                        .into_iter()
                        .map(|contained| Inserted::Was { contained })
                        .collect()
                }
            };
            for (&place, inserted) in places.iter().zip(inserted) {
                if let Inserted::Was { contained } = inserted {
                    answers[place] = Some(Answer::of(contained, reply.repeated));
                }
            }
        }
        let known = self.generations.len();
        self.check_generations(replies.last().map(|reply| &reply.value))?;
        self.settle(keys, groups, known, answers)
    }

    /// Corrects the answers for keys that another client had inserted into generations from `from` on, which this one did not
    /// know. Returns the places that have no answer yet.
    pub(super) fn settle(
        &mut self,
        keys: &[Key<'_>],
        groups: &[Group],
        from: usize,
        answers: &mut [Option<Answer>],
    ) -> Result<Vec<usize>, Error> {
        let places = groups.iter().flat_map(|group| &group.places).copied();
        let mut open: Vec<_> =
            places.filter(|&place| matches!(answers[place], None | Some(Answer::New))).collect();
        if from < self.generations.len() {
            open = self.absent(keys, open, from, answers)?;
        }
        open.retain(|&place| answers[place].is_none());
        Ok(open)
    }

    /// Sends commands. After a failure the cache is empty: a server that took over may lack acknowledged inserts.
    pub(super) fn exchange(
        &mut self,
        commands: &[Routed],
        wait: Option<Wait>,
    ) -> Result<Vec<Reply>, Error> {
        let replies = self.servers.run(commands, wait);
        if !matches!(&replies, Ok(replies) if !replies.iter().any(|reply| reply.repeated)) {
            self.cache.clear();
        }
        replies
    }
}

/// Returns keys with their hashes.
pub(super) fn hashed<K: AsRef<[u8]>>(keys: &[K]) -> Vec<Key<'_>> {
    let hasher = DefaultHashBuilder::default();
    keys.iter()
        .map(AsRef::as_ref)
        .map(|bytes| Key { bytes, hash: hasher.hash_bytes(bytes) })
        .collect()
}

/// Returns the shard of a hash.
// The mixed hash, not the hash itself: its upper bits choose the bits in a shard, and would be alike in all keys of one.
pub(super) fn shard_of(design: &Generation, hash: u64) -> u32 {
    u32::try_from(reduce(finalize(hash), design.shards().into())).unwrap_or(0)
}
