//! The generations of a filter: their list on the server, how far the newest one is, and growth.

use pds_params::Estimate;
use redis::Value;

use super::{Alert, Progress, ShardedFilter};
use crate::bitmap::{self, check_equal, expect_done, refusal};
use crate::plan::{Generation, Storage};
use crate::servers::Routed;
use crate::{Error, module};

/// The fill of a generation, in percent, at which an [`Alert`] is raised.
const ALERTS: [u64; 2] = [70, 90];

impl ShardedFilter {
    /// Creates the shards of a generation, and then its entry in the list.
    pub(super) fn add_generation(&mut self, index: usize, design: Generation) -> Result<(), Error> {
        let entry = Routed::on("HEXISTS", &self.manifest_key()).arg(index);
        let replies = self.servers.run(&[entry], None)?;
        // Shards of an entry that exists are not created anew: a missing one is an error, not an empty filter.
        match &replies[0].value {
            Value::Int(0) | Value::Boolean(false) => {}
            Value::Int(_) | Value::Boolean(true) => return Ok(()),
            other => return Err(refusal("HEXISTS", other)),
        }
        let keys: Vec<_> =
            (0..design.shards()).map(|shard| self.key_of_shard(index, &design, shard)).collect();
        match design.storage {
            Storage::Module => module::create_all(&mut self.servers, &keys, &design, self.wait)?,
            Storage::Bitmap => {
                let params = design.bitmap_params()?;
                bitmap::create_all(&mut self.servers, &keys, params, self.wait)?;
            }
        }
        self.write_manifest(index, &design)
    }

    pub(super) fn write_manifest(
        &mut self,
        index: usize,
        design: &Generation,
    ) -> Result<(), Error> {
        let set = |field: String, value: String| {
            Routed::on("HSETNX", &self.manifest_key()).arg(field).arg(value)
        };
        let fields =
            [set("plan".into(), self.plan.to_string()), set(index.to_string(), design.to_string())];
        expect_done(self.servers.run(&fields, self.wait)?)
    }

    /// Reads the list of generations.
    pub(super) fn reload(&mut self) -> Result<(), Error> {
        let manifest = self.manifest_key();
        let replies = self.servers.run(&[Routed::on("HGETALL", &manifest)], None)?;
        let fields = sorted_fields(&replies[0].value)?;
        let field =
            |name: &str| fields.iter().find(|(field, _)| field == name).map(|(_, text)| text);
        let plan = field("plan").ok_or_else(|| Error::Missing { key: manifest.clone() })?;
        check_equal(&manifest, &self.plan.to_string(), plan)?;
        let mut generations = Vec::new();
        while let Some(text) = field(&generations.len().to_string()) {
            let design = text.parse().map_err(|()| Error::Differs {
                key: manifest.clone(),
                asked: format!("the design of generation {}", generations.len()),
                stored: text.clone(),
            })?;
            generations.push(design);
        }
        if generations.len() <= self.generations.len() {
            return Ok(());
        }
        self.generations = generations;
        self.progress = Progress::default();
        self.refresh()
    }

    /// Returns the command that tells the number of generations.
    pub(super) fn ask_generations(&self) -> Routed {
        Routed::on("HLEN", &self.manifest_key())
    }

    /// Reads the list of generations again if it is longer than this client knows, and restores what a failover lost of it.
    pub(super) fn check_generations(&mut self, reply: Option<&Value>) -> Result<(), Error> {
        let asked;
        let reply = match reply {
            Some(reply) => reply,
            None => {
                asked = self.servers.run(&[self.ask_generations()], None)?;
                &asked[0].value
            }
        };
        let &Value::Int(fields) = reply else { return Err(refusal("HLEN", reply)) };
        // One field is the plan.
        let known = self.generations.len();
        match usize::try_from(fields - 1) {
            Err(_) => Err(Error::Missing { key: self.manifest_key() }),
            Ok(stored) if stored > known => self.reload(),
            Ok(stored) => (stored..known).try_for_each(|index| {
                let design = self.generations[index];
                self.write_manifest(index, &design)
            }),
        }
    }

    /// Adds the next generation, unless another client was faster.
    pub(super) fn grow(&mut self) -> Result<(), Error> {
        let next = self.generations.len();
        let design = self.plan.generation(u32::try_from(next).unwrap_or(u32::MAX))?;
        self.add_generation(next, design)?;
        self.reload()
    }

    /// Counts the items of a generation.
    pub(super) fn count(&mut self, index: usize) -> Result<Estimate, Error> {
        let design = self.generations[index];
        let keys: Vec<_> =
            (0..design.shards()).map(|shard| self.key_of_shard(index, &design, shard)).collect();
        let commands = keys.iter().map(|key| match design.storage {
            Storage::Module => Routed::on("BF.CARD", key),
            Storage::Bitmap => bitmap::count(key),
        });
        let replies = self.servers.run(&commands.collect::<Vec<_>>(), None)?;
        let (mut items, mut variance) = (0.0, 0.0);
        for reply in replies {
            let Value::Int(count) = reply.value else {
                return Err(refusal("the number of items", &reply.value));
            };
            let count = u64::try_from(count).unwrap_or(0);
            #[expect(clippy::cast_precision_loss, reason = "far below 2^53")]
            let counted = match design.storage {
                Storage::Module => Estimate { value: count as f64, standard_error: 0.0 },
                Storage::Bitmap => design.bitmap_params()?.cardinality(count),
            };
            items += counted.value;
            variance += counted.standard_error * counted.standard_error;
        }
        Ok(Estimate { value: items, standard_error: variance.sqrt() })
    }

    /// Asks how far the newest generation is.
    pub(super) fn refresh(&mut self) -> Result<(), Error> {
        let newest = self.generations.len() - 1;
        let items = self.count(newest)?;
        self.progress.items = rounded(items.value);
        self.progress.doubt = rounded(3.0 * items.standard_error);
        self.progress.since = 0;
        self.raise_alerts();
        Ok(())
    }

    /// Takes new items into account.
    pub(super) fn note(&mut self, new: u64) -> Result<(), Error> {
        let capacity = self.generations[self.generations.len() - 1].items();
        self.progress.items += new;
        self.progress.since += new;
        if self.progress.since > capacity / 100 {
            self.refresh()?;
        }
        self.raise_alerts();
        Ok(())
    }

    /// Returns the items that the newest generation has room for. An estimate alone makes no filter full before its time.
    pub(super) fn room(&self) -> u64 {
        let capacity = self.generations[self.generations.len() - 1].items();
        capacity.saturating_add(self.progress.doubt).saturating_sub(self.progress.items)
    }

    pub(super) fn raise_alerts(&mut self) {
        let generation = self.generations.len() - 1;
        let (items, capacity) = (self.progress.items, self.generations[generation].items());
        for &percent in &ALERTS[self.progress.alerts..] {
            if u128::from(items) * 100 >= u128::from(capacity) * u128::from(percent) {
                self.alerts.push(Alert { generation, percent, items, capacity });
                self.progress.alerts += 1;
            }
        }
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it saturates")]
pub(super) fn rounded(value: f64) -> u64 {
    value.round() as u64
}

/// Reads the reply of `HGETALL`, in the order of the names.
pub(super) fn sorted_fields(reply: &Value) -> Result<Vec<(String, String)>, Error> {
    let mut fields: Vec<(String, String)> =
        redis::from_redis_value_ref(reply).map_err(|_| refusal("HGETALL", reply))?;
    fields.sort();
    Ok(fields)
}
