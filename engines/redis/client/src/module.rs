//! Shards that are filters of the module, by the commands that RedisBloom has, too.

use redis::Value;

use crate::Error;
use crate::bitmap::{check_equal, expect_done, refusal};
use crate::plan::Generation;
use crate::servers::{Routed, Servers, Wait};

/// Keys per command. A command of this many takes the server less than a millisecond.
pub(crate) const KEYS_PER_COMMAND: usize = 1_000;

/// The part of the reply to an insert that is about one key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Inserted {
    Was {
        contained: bool,
    },
    /// The shard is full, and the key not in.
    Refused,
}

/// Creates a filter under each key that has no value. The others must have the same capacity.
pub(crate) fn create_all(
    servers: &mut Servers,
    keys: &[String],
    design: &Generation,
    wait: Option<Wait>,
) -> Result<(), Error> {
    let capacity = design.shard_items();
    let commands = keys.iter().flat_map(|key| {
        let reserve = Routed::on("BF.RESERVE", key).arg(design.rate().to_string()).arg(capacity);
        [reserve.arg("NONSCALING"), Routed::on("BF.INFO", key).arg("CAPACITY")]
    });
    let replies = servers.run(&commands.collect::<Vec<_>>(), wait)?;
    for (key, replies) in keys.iter().zip(replies.chunks(2)) {
        if let Value::ServerError(error) = &replies[0].value
            && !error.details().is_some_and(|text| text.contains("item exists"))
        {
            return Err(Error::Redis(error.clone().into()));
        }
        let stored =
            number_in(&replies[1].value).ok_or_else(|| refusal("BF.INFO", &replies[1].value))?;
        check_equal(
            key,
            &format!("a shard for {capacity} items"),
            &format!("a shard for {stored} items"),
        )?;
    }
    Ok(())
}

/// Returns the only number in a reply.
fn number_in(reply: &Value) -> Option<i64> {
    match reply {
        Value::Int(number) => Some(*number),
        Value::Array(values) => values.iter().find_map(number_in),
        Value::Map(fields) => fields.iter().find_map(|(_, value)| number_in(value)),
        _ => None,
    }
}

/// Returns the command that inserts keys into a filter that exists.
// `BF.MADD` would create a small filter under a missing key.
pub(crate) fn insert<'a>(key: &str, keys: impl Iterator<Item = &'a [u8]>) -> Routed {
    with_keys(Routed::on("BF.INSERT", key).arg("NOCREATE").arg("ITEMS"), keys)
}

/// Returns the commands that ask for keys, and for the filter: a missing one contains nothing.
pub(crate) fn contains<'a>(key: &str, keys: impl Iterator<Item = &'a [u8]>) -> [Routed; 2] {
    [with_keys(Routed::on("BF.MEXISTS", key), keys), Routed::on("EXISTS", key)]
}

fn with_keys<'a>(mut routed: Routed, keys: impl Iterator<Item = &'a [u8]>) -> Routed {
    keys.for_each(|key| {
        routed.command.arg(key);
    });
    routed
}

/// Reads the reply of an insert of `count` keys.
pub(crate) fn inserted(key: &str, count: usize, reply: &Value) -> Result<Vec<Inserted>, Error> {
    let values = match reply {
        Value::Array(values) => values,
        Value::ServerError(error) if is_missing(error) => {
            return Err(Error::Missing { key: key.into() });
        }
        other => return Err(refusal("BF.INSERT", other)),
    };
    let mut inserted: Vec<_> = values.iter().map(of_item).collect::<Result<_, _>>()?;
    // The list ends with the first item that was refused.
    if inserted.last() == Some(&Inserted::Refused) {
        inserted.resize(count, Inserted::Refused);
    }
    check_count("BF.INSERT", inserted.len(), count, reply)?;
    Ok(inserted)
}

fn of_item(value: &Value) -> Result<Inserted, Error> {
    match value {
        Value::ServerError(error)
            if error.details().is_some_and(|text| text.contains("filter is full")) =>
        {
            Ok(Inserted::Refused)
        }
        _ => Ok(Inserted::Was { contained: !flag("BF.INSERT", value)? }),
    }
}

fn is_missing(error: &redis::ServerError) -> bool {
    error.details() == Some("not found")
}

/// Reads the replies to both commands of [`contains`].
pub(crate) fn contained(key: &str, count: usize, replies: [&Value; 2]) -> Result<Vec<bool>, Error> {
    if !flag("EXISTS", replies[1])? {
        return Err(Error::Missing { key: key.into() });
    }
    let Value::Array(values) = replies[0] else { return Err(refusal("BF.MEXISTS", replies[0])) };
    check_count("BF.MEXISTS", values.len(), count, replies[0])?;
    values.iter().map(|value| flag("BF.MEXISTS", value)).collect()
}

/// Reads 1 or 0, or a Boolean of the newer protocol.
fn flag(command: &'static str, value: &Value) -> Result<bool, Error> {
    match value {
        Value::Int(number @ 0..=1) => Ok(*number == 1),
        Value::Boolean(flag) => Ok(*flag),
        other => Err(refusal(command, other)),
    }
}

fn check_count(
    command: &'static str,
    found: usize,
    count: usize,
    reply: &Value,
) -> Result<(), Error> {
    if found == count { Ok(()) } else { Err(Error::unexpected(command, reply)) }
}

/// Unites filters by `BF.MERGE`, which RedisBloom does not have: target and source.
pub(crate) fn unite(
    servers: &mut Servers,
    pairs: &[(String, String)],
    wait: Option<Wait>,
) -> Result<(), Error> {
    let merges = pairs.iter().map(|(target, source)| Routed::on("BF.MERGE", target).arg(source));
    expect_done(servers.run(&merges.collect::<Vec<_>>(), wait)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_that_ends_early_refuses_the_rest() {
        let full = redis::parse_redis_value(b"*2\r\n:1\r\n-ERR non scaling filter is full\r\n");
        let expected = [Inserted::Was { contained: false }, Inserted::Refused, Inserted::Refused];
        assert_eq!(inserted("k", 3, &full.unwrap()).unwrap(), expected);
        let short = Value::Array(vec![Value::Int(1)]);
        assert!(matches!(inserted("k", 2, &short), Err(Error::Unexpected { .. })));
        let missing = redis::parse_redis_value(b"-ERR not found\r\n").unwrap();
        assert!(matches!(inserted("k", 1, &missing), Err(Error::Missing { .. })));
    }

    #[test]
    fn a_missing_filter_is_no_answer() {
        let answers = Value::Array(vec![Value::Int(0), Value::Boolean(true)]);
        let read = |exists| contained("k", 2, [&answers, &Value::Int(exists)]);
        assert_eq!(read(1).unwrap(), [false, true]);
        assert!(matches!(read(0), Err(Error::Missing { .. })));
    }
}
