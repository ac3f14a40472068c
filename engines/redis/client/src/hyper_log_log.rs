//! Redis's own HyperLogLog strings: fetched, merged and counted here, over all slots of a cluster.
//!
//! `PFCOUNT` and `PFMERGE` of several keys need them in one slot. Here the keys can be anywhere.

use pds_formats::redis::RedisHyperLogLog;
use redis::Value;

use crate::bitmap::{expect_done, refusal};
use crate::servers::{Routed, Servers};
use crate::{Error, slot_of};

/// How long a value that is merged on the server may lie beside its target, in milliseconds.
const LEFT_OVER_MS: u32 = 60_000;

impl Servers {
    /// Adds elements to the HyperLogLog under a key, by `PFADD`.
    ///
    /// # Errors
    /// [`Error::Redis`] if the key is of another type.
    pub fn add_distinct<K: AsRef<[u8]>>(&mut self, key: &str, elements: &[K]) -> Result<(), Error> {
        let mut add = Routed::on("PFADD", key);
        elements.iter().for_each(|element| {
            add.command.arg(element.as_ref());
        });
        expect_done(self.run(&[add], None)?)
    }

    /// Fetches the HyperLogLogs under keys in any slots, and merges them. A missing key is an empty one.
    ///
    /// [`estimate_with_error`](RedisHyperLogLog::estimate_with_error) and the other methods of the result count the union.
    ///
    /// # Errors
    /// [`Error::Format`] if a value is no HyperLogLog.
    ///
    /// # Examples
    /// ```no_run
    /// use pds_redis_client::Servers;
    ///
    /// let mut servers = Servers::cluster(["redis://127.0.0.1:7000/", "redis://127.0.0.1:7001/"])?;
    /// servers.add_distinct("visitors:monday", &["10.0.0.1", "10.0.0.2"])?;
    /// servers.add_distinct("visitors:tuesday", &["10.0.0.2", "10.0.0.3"])?;
    /// let both = servers.fetch_distinct(&["visitors:monday", "visitors:tuesday"])?;
    /// assert_eq!(both.count(), 3);
    /// # Ok::<(), pds_redis_client::Error>(())
    /// ```
    pub fn fetch_distinct<K: AsRef<str>>(&mut self, keys: &[K]) -> Result<RedisHyperLogLog, Error> {
        let gets: Vec<_> = keys.iter().map(|key| Routed::on("GET", key.as_ref())).collect();
        let mut union = RedisHyperLogLog::new();
        for (key, reply) in keys.iter().zip(self.run(&gets, None)?) {
            match reply.value {
                Value::Nil => {}
                Value::BulkString(bytes) => {
                    let sketch = RedisHyperLogLog::from_bytes(&bytes).map_err(|error| {
                        Error::Format { key: key.as_ref().into(), error: error.into() }
                    })?;
                    union.merge(&sketch);
                }
                other => return Err(refusal("GET", &other)),
            }
        }
        Ok(union)
    }

    /// Merges a HyperLogLog into the one under a key, which need not exist.
    ///
    /// The server merges, by `PFMERGE`, so that elements that others add at the same time are kept.
    ///
    /// # Errors
    /// [`Error::Redis`] if the key is of another type.
    pub fn merge_distinct(&mut self, key: &str, sketch: &RedisHyperLogLog) -> Result<(), Error> {
        // The value gets a key of its own in the same slot. It disappears by itself if this process ends.
        let tag = crate::slots::tag_in(slot_of(key.as_bytes()));
        let beside = format!("{{{tag}}}pds-merge:{:016x}", crate::filter::random());
        let set = Routed::on("SET", &beside).arg(sketch.to_bytes()).arg("PX").arg(LEFT_OVER_MS);
        let merge = Routed::on("PFMERGE", key).arg(&beside);
        // One after the other: in one pipeline, a `SET` that is sent again could follow its `PFMERGE`.
        for command in [set, merge, Routed::on("UNLINK", &beside)] {
            expect_done(self.run(&[command], None)?)?;
        }
        Ok(())
    }
}
