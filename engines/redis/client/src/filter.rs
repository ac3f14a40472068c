//! One logical filter over many keys.

mod batch;
mod generations;

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};

use pds_core::hash::{DefaultHashBuilder, PortableHasher, reduce};
use pds_params::Estimate;

use batch::{hashed, shard_of};
use generations::{rounded, sorted_fields};

use crate::bitmap::check_equal;
use crate::cache::Recent;
use crate::plan::{Generation, Plan, Storage};
use crate::servers::{Routed, Servers, Wait};
use crate::slots::{slot_of_shard, tag_in};
use crate::{BitmapFilter, Error, SLOTS, bitmap, module};

/// The prefix of keys that measure the false-positive rate. Such keys are not inserted.
pub const PROBE_PREFIX: &[u8] = b"\0pds-probe\0";

/// The result of an insert.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The key was not contained, and now is. This is certain.
    New,
    /// The key was contained already, or is a false positive.
    Present,
    /// The key is contained. A server failed meanwhile and the insert was sent again, so it may be the first try that inserted the key.
    Unsure,
}

impl Answer {
    /// Returns the answer of a server, which `repeated` tells to be that of another try.
    pub(crate) const fn of(was_contained: bool, repeated: bool) -> Self {
        match (was_contained, repeated) {
            (false, _) => Self::New,
            (true, false) => Self::Present,
            (true, true) => Self::Unsure,
        }
    }
}

/// A generation has reached a part of the items that it was planned for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Alert {
    /// The generation, from 0 on.
    pub generation: usize,
    /// 70 or 90.
    pub percent: u64,
    /// The items that it holds.
    pub items: u64,
    /// The items that it is planned for.
    pub capacity: u64,
}

/// The contents of a filter.
#[derive(Clone, Debug, PartialEq)]
pub struct Status {
    /// The design and the items of each generation, the oldest first.
    pub generations: Vec<(Generation, u64)>,
    /// The bytes of all shards.
    pub bytes: u64,
}

impl Status {
    /// Returns the items of all generations.
    #[must_use]
    pub fn items(&self) -> u64 {
        self.generations.iter().map(|(_, items)| items).sum()
    }
}

/// Choices of one client of a filter. Others can make other ones.
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct Options {
    wait: Option<Wait>,
    cache: usize,
    placement: Option<String>,
}

impl Options {
    /// Returns the usual choices: no `WAIT`, no cache.
    pub fn new() -> Self {
        Self::default()
    }

    /// Lets each insert wait for replicas.
    pub fn wait(self, wait: Wait) -> Self {
        Self { wait: Some(wait), ..self }
    }

    /// Keeps the hashes of this number of recent keys that are contained, 8 bytes each. Such keys are answered without a server.
    ///
    /// The cache adds no false positives. It is cleared when a server fails, since a failover can lose inserts. It does not
    /// notice that somebody else deletes the filter.
    pub fn cache(self, entries: usize) -> Self {
        Self { cache: entries, ..self }
    }

    /// Chooses where the shards lie: filters of one placement and one plan have their shards in the same slots, so that they can be
    /// united. Otherwise the name of the filter is its placement. All clients of a filter need the same.
    pub fn placement(self, placement: &str) -> Self {
        Self { placement: Some(placement.into()), ..self }
    }
}

/// A set of keys in the shards of one server or of a cluster, with false positives at a promised rate.
///
/// `false` is certain: the key is absent, unless a server lost an insert that it had acknowledged (see [`Servers`]).
///
/// The shards are keys `{tag}name:generation:shard`. Their hash tags fix the slots, and spread the shards evenly over the slots and
/// thereby over masters with contiguous ranges of slots. A hash `{tag}name` lists the generations. Keys are hashed by XXH3-64, as the
/// module does.
///
/// # Guarantees
/// - False positives: at most the rate of the plan, over all shards and generations, up to the planned items, or without
///   a limit if the plan grows.
/// - False negatives: none, if no key of the filter is lost. A missing shard is an error, not an answer.
/// - Clients ask how full the newest generation is before each hundredth of its items that they insert. Each can therefore exceed the
///   planned items by a hundredth.
/// - An acknowledged insert is found by every other client afterwards, in whichever generation it is.
/// - A call sends one pipeline to each node, with one command for up to 1,000 keys of a shard (100 for bitmaps). Inserts into a filter of
///   several generations ask all of them first.
///
/// # Examples
/// ```no_run
/// use pds_redis_client::{Answer, Options, Plan, Servers, ShardedFilter};
///
/// let servers = Servers::cluster(["redis://127.0.0.1:7000/"])?;
/// let plan = Plan::new(100_000_000, 0.001).masters(3).growth(2);
/// let mut seen = ShardedFilter::create(servers, "urls", plan, Options::new().cache(1 << 20))?;
///
/// let answers = seen.insert_batch(&["https://example.org/", "https://example.com/"])?;
/// assert_eq!(answers, [Answer::New, Answer::New]);
/// for alert in seen.take_alerts() {
///     eprintln!("generation {} is {} % full", alert.generation, alert.percent);
/// }
/// # Ok::<(), pds_redis_client::Error>(())
/// ```
#[derive(Debug)]
pub struct ShardedFilter {
    servers: Servers,
    name: String,
    /// The slot that the placement of the filter begins at.
    first_slot: u16,
    plan: Plan,
    generations: Vec<Generation>,
    cache: Recent,
    wait: Option<Wait>,
    progress: Progress,
    alerts: Vec<Alert>,
}

/// How far the newest generation is, as this client knows.
#[derive(Clone, Copy, Debug, Default)]
struct Progress {
    items: u64,
    /// Three standard errors of the items, where they are estimated.
    doubt: u64,
    /// Items that this client added since it asked the servers.
    since: u64,
    /// The number of alerts raised.
    alerts: usize,
}

impl ShardedFilter {
    /// Creates a filter, or opens the one of this name, which must have the same plan.
    ///
    /// # Errors
    /// [`Error::Differs`] if the name belongs to a filter of another plan. Those of [`Plan::generation`].
    pub fn create(
        servers: Servers,
        name: &str,
        plan: Plan,
        options: Options,
    ) -> Result<Self, Error> {
        let mut filter = Self::unopened(servers, name, plan, options);
        let design = plan.generation(0)?;
        filter.add_generation(0, design)?;
        filter.reload()?;
        Ok(filter)
    }

    fn unopened(servers: Servers, name: &str, plan: Plan, options: Options) -> Self {
        let Options { wait, cache, placement } = options;
        let placement = placement.as_deref().unwrap_or(name);
        let hash = DefaultHashBuilder::default().hash_bytes(placement.as_bytes());
        Self {
            servers,
            name: name.into(),
            first_slot: u16::try_from(reduce(hash, SLOTS.into())).unwrap_or(0),
            plan,
            generations: Vec::new(),
            cache: Recent::new(cache),
            wait,
            progress: Progress::default(),
            alerts: Vec::new(),
        }
    }

    /// Inserts keys. Returns for each whether it was new.
    ///
    /// A call is one exchange with all nodes. A few thousand keys are a good batch.
    ///
    /// # Errors
    /// [`Error::Full`] if the filter holds all planned items and does not grow. [`Error::NotReplicated`] if too few replicas acknowledged in
    /// time. [`Error::ReservedKey`] for a key with the [prefix of probes](PROBE_PREFIX). After another error than this last one, some of the keys may be in.
    pub fn insert_batch<K: AsRef<[u8]>>(&mut self, keys: &[K]) -> Result<Vec<Answer>, Error> {
        let keys = hashed(keys);
        if keys.iter().any(|key| key.bytes.starts_with(PROBE_PREFIX)) {
            return Err(Error::ReservedKey);
        }
        let mut answers = vec![Some(Answer::Present); keys.len()];
        let mut left = self.uncached(&keys);
        left.iter().for_each(|&place| answers[place] = None);
        if self.generations.len() > 1 {
            left = self.absent(&keys, left, 0, &mut answers)?;
        }
        self.insert_absent(&keys, left, &mut answers)?;
        keys.iter().for_each(|key| self.cache.insert(key.hash));
        Ok(answers.into_iter().flatten().collect())
    }

    /// Inserts one key. For many keys, [`insert_batch`](Self::insert_batch) takes a hundredth of the time per key.
    ///
    /// # Errors
    /// As [`insert_batch`](Self::insert_batch).
    pub fn insert(&mut self, key: impl AsRef<[u8]>) -> Result<Answer, Error> {
        Ok(self.insert_batch(&[key])?[0])
    }

    /// Tests keys. `false` is certain.
    ///
    /// # Errors
    /// [`Error::Missing`] if a key of the filter is gone.
    pub fn contains_batch<K: AsRef<[u8]>>(&mut self, keys: &[K]) -> Result<Vec<bool>, Error> {
        let keys = hashed(keys);
        let left = self.uncached(&keys);
        let found = self.found(&keys, &left, 0)?;
        let mut answers = vec![true; keys.len()];
        left.iter().zip(found).for_each(|(&place, found)| answers[place] = found);
        let contained = keys.iter().zip(&answers).filter(|(_, found)| **found);
        contained.for_each(|(key, _)| self.cache.insert(key.hash));
        Ok(answers)
    }

    /// Tests one key. `false` is certain.
    ///
    /// # Errors
    /// As [`contains_batch`](Self::contains_batch).
    pub fn contains(&mut self, key: impl AsRef<[u8]>) -> Result<bool, Error> {
        Ok(self.contains_batch(&[key])?[0])
    }

    /// Measures the false-positive rate: asks for `probes` random keys that cannot have been inserted.
    ///
    /// # Errors
    /// As [`contains_batch`](Self::contains_batch). [`Error::OutOfRange`] if `probes` is not from 1 to 10^9.
    pub fn sample_rate(&mut self, probes: u64) -> Result<Estimate, Error> {
        const BATCH: u64 = 10_000;
        Error::check("probes", probes, (1, 1_000_000_000))?;
        let mut positives = 0;
        for begin in (0..probes).step_by(10_000) {
            let keys: Vec<_> = (begin..probes.min(begin + BATCH)).map(|_| probe()).collect();
            let keys = hashed(&keys);
            let places: Vec<_> = (0..keys.len()).collect();
            let found = self.found(&keys, &places, 0)?;
            positives += found.iter().filter(|&&found| found).count();
        }
        #[expect(clippy::cast_precision_loss, reason = "at most 10^9")]
        let (positives, probes) = (positives as f64, probes as f64);
        let value = positives / probes;
        Ok(Estimate { value, standard_error: (value * (1.0 - value) / probes).sqrt() })
    }

    /// Asks the servers what the filter holds. Bitmaps are counted bit by bit, and their items estimated.
    ///
    /// # Errors
    /// [`Error::Missing`] if a key of the filter is gone.
    pub fn status(&mut self) -> Result<Status, Error> {
        self.check_generations(None)?;
        let (mut generations, mut bytes) = (Vec::new(), 0);
        for index in 0..self.generations.len() {
            let design = self.generations[index];
            generations.push((design, rounded(self.count(index)?.value)));
            bytes += design.shard_bytes()? * u64::from(design.shards());
        }
        Ok(Status { generations, bytes })
    }

    /// Returns the alerts that were raised since the last call. Each is raised once by this client.
    ///
    /// The items are asked of the servers each time that this client has added a hundredth of the planned items. Between, those
    /// that other clients add are not seen.
    pub fn take_alerts(&mut self) -> Vec<Alert> {
        std::mem::take(&mut self.alerts)
    }

    /// Returns how many keys the cache answered.
    #[must_use]
    pub const fn cache_hits(&self) -> u64 {
        self.cache.hits()
    }

    /// Forgets what is known to be contained. Call it after a filter was deleted or restored from a backup.
    pub fn clear_cache(&mut self) {
        self.cache.clear();
    }

    /// Returns the plan.
    pub const fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Returns the designs of the generations, the oldest first.
    #[must_use]
    pub fn generations(&self) -> &[Generation] {
        &self.generations
    }

    /// Returns the connections, for commands of another kind.
    pub const fn servers(&mut self) -> &mut Servers {
        &mut self.servers
    }

    /// Returns the key of the list of generations. To delete a filter, delete this key and those of all shards.
    #[must_use]
    pub fn manifest_key(&self) -> String {
        self.manifest_of(&self.name)
    }

    /// Returns the key of a shard.
    ///
    /// # Panics
    /// If there is no such generation.
    #[must_use]
    pub fn shard_key(&self, generation: usize, shard: u32) -> String {
        self.key_of_shard(generation, &self.generations[generation], shard)
    }

    /// Returns the shard of a generation that a key belongs to.
    ///
    /// # Panics
    /// If there is no such generation.
    #[must_use]
    pub fn shard_of(&self, generation: usize, key: impl AsRef<[u8]>) -> u32 {
        let hash = DefaultHashBuilder::default().hash_bytes(key.as_ref());
        shard_of(&self.generations[generation], hash)
    }

    /// Opens a shard of a filter of bitmaps, to fetch it or to store it.
    ///
    /// # Errors
    /// As [`BitmapFilter::open`].
    pub fn open_bitmap(&mut self, generation: usize, shard: u32) -> Result<BitmapFilter, Error> {
        let key = self.shard_key(generation, shard);
        BitmapFilter::open(&mut self.servers, &key)
    }

    /// Adds all items of the filter `name`, which must have the same plan and the same [placement](Options::placement). The servers do
    /// it shard by shard: `BITOP OR` for bitmaps, `BF.MERGE` for the module.
    ///
    /// # Errors
    /// [`Error::Differs`] if the plan, the placement or the number of generations differs.
    pub fn union_with(&mut self, name: &str) -> Result<(), Error> {
        let own = self.manifest_key();
        let other = self.manifest_of(name);
        let fields = [Routed::on("HGETALL", &own), Routed::on("HGETALL", &other)];
        let replies = self.servers.run(&fields, None)?;
        let [own, theirs] = [&replies[0], &replies[1]].map(|reply| sorted_fields(&reply.value));
        check_equal(&other, &format!("{:?}", own?), &format!("{:?}", theirs?))?;
        for index in 0..self.generations.len() {
            let design = self.generations[index];
            let pairs = (0..design.shards()).map(|shard| {
                let target = self.key_of_shard(index, &design, shard);
                let source = self.shard_name(name, index, &design, shard);
                (target, source)
            });
            let pairs: Vec<_> = pairs.collect();
            match design.storage {
                Storage::Module => module::unite(&mut self.servers, &pairs, self.wait)?,
                Storage::Bitmap => {
                    let head =
                        bitmap::head_of(design.bitmap_params()?, DefaultHashBuilder::default())?;
                    let pairs: Vec<_> =
                        pairs.into_iter().map(|(to, from)| (to, from, head.clone())).collect();
                    bitmap::unite(&mut self.servers, &pairs, self.wait)?;
                }
            }
        }
        self.refresh()
    }

    fn manifest_of(&self, name: &str) -> String {
        format!("{{{}}}{name}", tag_in(self.first_slot))
    }

    fn key_of_shard(&self, index: usize, design: &Generation, shard: u32) -> String {
        self.shard_name(&self.name, index, design, shard)
    }

    fn shard_name(&self, name: &str, index: usize, design: &Generation, shard: u32) -> String {
        let slot = slot_of_shard(shard, design.shards(), self.first_slot);
        format!("{{{}}}{name}:{index}:{shard}", tag_in(slot))
    }
}

/// Returns a key that nobody inserts.
fn probe() -> Vec<u8> {
    [PROBE_PREFIX, &random().to_le_bytes(), &random().to_le_bytes()].concat()
}

/// Returns a random number.
pub(crate) fn random() -> u64 {
    RandomState::new().build_hasher().finish()
}
