//! Connections to one server or to a cluster: batches of commands, one pipeline per node.
//!
//! `redis` finds the nodes and their slots, and follows `ASK`. Batches take connections of their own to each primary: all pipelines are
//! sent before the first reply is read, so the nodes work at the same time.
// The cluster pipeline of `redis` 1.8 is not used. If a node dies between two sends, it leaves the replies of the others unread, and
// later commands on these connections get them.

use std::collections::HashMap;
use std::fmt;
use std::thread;
use std::time::{Duration, Instant};

use redis::cluster::ClusterClient;
use redis::{
    Client, Cmd, Connection, ConnectionAddr, ConnectionInfo, ConnectionLike, ErrorKind,
    IntoConnectionInfo, RedisError, RedisResult, ServerErrorKind, Value, cmd,
};

use crate::Error;
use crate::slots::{SLOTS, slot_of};

/// How many replicas have to have a write before it counts as done, and how long to wait for them.
///
/// It is the server's `WAIT`. Without it, a primary acknowledges a write before any replica has it: if that primary dies then, the
/// replica that takes its place lacks the write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait {
    /// The number of replicas of each primary.
    pub replicas: u32,
    /// How long to wait before the write is sent again: less than the [response timeout](Servers::set_response_timeout).
    pub timeout: Duration,
}

/// Where one server or a cluster is, and the connections to it.
///
/// # Failures
/// A command that a node cannot answer (connection lost, no response in time, slot moved, loading, cluster down, too few replicas for
/// [`Wait`]) is sent again, to the node that has the slot by then, until [`patience`](Self::patience) ends. All commands of this client
/// can be repeated.
///
/// A primary acknowledges a write when it is in its own memory. If it dies before its replicas got the write, the write is lost, and no client can
/// tell. Use [`Wait`], or `appendfsync always` and a restart of the same server, where this counts.
pub struct Servers {
    topology: Topology,
    nodes: HashMap<Address, Connection>,
    /// Ranges of slots by their last slot, ascending.
    ranges: Vec<(u16, Address)>,
    patience: Duration,
    response_timeout: Duration,
}

type Address = (String, u16);

enum Topology {
    One(Box<Client>),
    Many { cluster: Box<ClusterClient>, seed: Box<ConnectionInfo> },
}

impl fmt::Debug for Servers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Servers").field("ranges", &self.ranges).finish_non_exhaustive()
    }
}

/// A command and the slot of its keys.
#[derive(Clone, Debug)]
pub(crate) struct Routed {
    pub(crate) slot: u16,
    pub(crate) command: Cmd,
}

impl Routed {
    /// Returns a command on one key. Further arguments follow.
    pub(crate) fn on(name: &str, key: &str) -> Self {
        let mut command = cmd(name);
        command.arg(key);
        Self { slot: slot_of(key.as_bytes()), command }
    }

    /// Adds an argument.
    pub(crate) fn arg(mut self, argument: impl redis::ToRedisArgs) -> Self {
        self.command.arg(argument);
        self
    }
}

/// The reply to a command.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) value: Value,
    /// Whether the command was sent before, and may have been executed then.
    pub(crate) repeated: bool,
}

/// The outcome of a command at its node.
enum Outcome {
    Done(Value),
    /// It did not execute the command: the slot is elsewhere, or it is not ready.
    Refused(RedisError),
    /// The slot moves, and another node has this key.
    Ask(RedisError),
    /// It may have executed the command.
    Doubtful(Error),
}

/// A pipeline for one node.
struct Share {
    address: Address,
    indexes: Vec<usize>,
    packed: Vec<u8>,
}

/// The shortest and the longest pause before commands are sent again.
const PAUSES: (Duration, Duration) = (Duration::from_millis(20), Duration::from_millis(500));

impl Servers {
    /// Connects to one server, such as `redis://127.0.0.1/`.
    ///
    /// # Errors
    /// [`Error::Redis`] if the address is wrong or nobody answers there.
    pub fn single(server: impl IntoConnectionInfo) -> Result<Self, Error> {
        let client = Client::open(server)?;
        let address = address_of(client.get_connection_info())?;
        let ranges = vec![(SLOTS - 1, address)];
        Self::connect(Topology::One(client.into()), ranges)
    }

    /// Connects to a cluster through any of its nodes.
    ///
    /// # Errors
    /// [`Error::Redis`] if an address is wrong, or no node answers.
    pub fn cluster<T: IntoConnectionInfo>(
        nodes: impl IntoIterator<Item = T>,
    ) -> Result<Self, Error> {
        let nodes: Vec<_> =
            nodes.into_iter().map(T::into_connection_info).collect::<RedisResult<_>>()?;
        let seed = nodes.first().cloned().ok_or_else(|| invalid("there are no nodes"))?;
        address_of(&seed)?;
        let (cluster, seed) = (Box::new(ClusterClient::new(nodes)?), Box::new(seed));
        Self::connect(Topology::Many { cluster, seed }, Vec::new())
    }

    fn connect(topology: Topology, ranges: Vec<(u16, Address)>) -> Result<Self, Error> {
        let mut servers = Self {
            topology,
            nodes: HashMap::new(),
            ranges,
            patience: Duration::from_secs(30),
            response_timeout: Duration::from_secs(10),
        };
        servers.refresh()?;
        for (_, address) in servers.ranges.clone() {
            servers.node(&address)?;
        }
        Ok(servers)
    }

    /// Sets how long a command is sent again while servers fail: 30 seconds if not set.
    pub const fn set_patience(&mut self, patience: Duration) {
        self.patience = patience;
    }

    /// Sets how long a node may take for a reply before its connection counts as lost: 10 seconds if not set.
    pub fn set_response_timeout(&mut self, timeout: Duration) {
        self.response_timeout = timeout;
        self.nodes.clear();
    }

    /// Sends one command on one key, and returns its reply.
    ///
    /// It may be sent again after a failure. So use it for commands that can be repeated.
    ///
    /// # Errors
    /// [`Error::Redis`] if the server refuses it, or cannot be reached.
    pub fn query(&mut self, command: &str, key: &str, arguments: &[&[u8]]) -> Result<Value, Error> {
        let mut routed = Routed::on(command, key);
        arguments.iter().for_each(|&argument| {
            routed.command.arg(argument);
        });
        let mut replies = self.run(&[routed], None)?;
        let value = replies.pop().map_or(Value::Nil, |reply| reply.value);
        Ok(value.extract_error()?)
    }

    /// Sends commands, those to one node in this order, and returns their replies. Errors of the commands are replies.
    pub(crate) fn run(
        &mut self,
        commands: &[Routed],
        wait: Option<Wait>,
    ) -> Result<Vec<Reply>, Error> {
        let begin = Instant::now();
        let mut replies: Vec<Option<Reply>> = commands.iter().map(|_| None).collect();
        let mut doubtful = vec![false; commands.len()];
        let mut pending: Vec<usize> = (0..commands.len()).collect();
        let mut pause = PAUSES.0;
        loop {
            let mut failed = Vec::new();
            let mut first = None;
            for (index, outcome) in self.exchange(commands, &pending, wait) {
                let error = match self.settle(&commands[index], outcome, wait) {
                    Outcome::Done(value) => {
                        replies[index] = Some(Reply { value, repeated: doubtful[index] });
                        continue;
                    }
                    Outcome::Refused(error) | Outcome::Ask(error) => Error::Redis(error),
                    Outcome::Doubtful(error) => {
                        doubtful[index] = true;
                        error
                    }
                };
                failed.push(index);
                // The first error of a pipeline says why it failed, the others that it did.
                first.get_or_insert(error);
            }
            let Some(error) = first else {
                return Ok(replies.into_iter().flatten().collect());
            };
            if begin.elapsed() >= self.patience {
                return Err(error);
            }
            pending = failed;
            thread::sleep(pause);
            pause = (pause * 2).min(PAUSES.1);
            // While a cluster elects a new primary, this fails or changes nothing. The next round tries again.
            _ = self.refresh();
        }
    }

    /// Follows a node that sends a command to another one: the cluster client of `redis` knows how.
    fn settle(&self, command: &Routed, outcome: Outcome, wait: Option<Wait>) -> Outcome {
        match (&self.topology, outcome) {
            (Topology::Many { cluster, .. }, Outcome::Ask(_)) => ask(cluster, command, wait),
            (_, outcome) => outcome,
        }
    }

    /// Sends each pending command once, and returns what became of it.
    fn exchange(
        &mut self,
        commands: &[Routed],
        pending: &[usize],
        wait: Option<Wait>,
    ) -> Vec<(usize, Outcome)> {
        let shares = self.shares(commands, pending, wait);
        let sent: Vec<_> = shares.iter().map(|share| self.send(share)).collect();
        let mut outcomes = Vec::with_capacity(pending.len());
        for (share, sent) in shares.into_iter().zip(sent) {
            let replies = sent
                .and_then(|()| self.receive(&share, wait))
                .and_then(|replies| check_wait(&share, replies, wait));
            match replies {
                Ok(replies) => {
                    let of_commands = replies.into_iter().map(classify);
                    outcomes.extend(share.indexes.into_iter().zip(of_commands));
                }
                Err(error) => {
                    let mut error = Some(error);
                    for index in share.indexes {
                        let error = error.take().unwrap_or_else(|| lost(&share.address));
                        outcomes.push((index, Outcome::Doubtful(error)));
                    }
                }
            }
        }
        outcomes
    }

    /// Divides commands into pipelines.
    fn shares(&self, commands: &[Routed], pending: &[usize], wait: Option<Wait>) -> Vec<Share> {
        let mut shares: Vec<Share> = Vec::new();
        for &index in pending {
            let address = self.address_of_slot(commands[index].slot);
            let place = shares.iter().position(|share| share.address == *address);
            let place = place.unwrap_or_else(|| {
                let (address, indexes, packed) = (address.clone(), Vec::new(), Vec::new());
                shares.push(Share { address, indexes, packed });
                shares.len() - 1
            });
            commands[index].command.write_packed_command(&mut shares[place].packed);
            shares[place].indexes.push(index);
        }
        if let Some(wait) = wait {
            for share in &mut shares {
                wait_command(wait).write_packed_command(&mut share.packed);
            }
        }
        shares
    }

    fn address_of_slot(&self, slot: u16) -> &Address {
        let place = self.ranges.partition_point(|&(last, _)| last < slot);
        // A slot that nobody has: any node says so.
        let (_, address) = &self.ranges[place.min(self.ranges.len() - 1)];
        address
    }

    fn send(&mut self, share: &Share) -> Result<(), Error> {
        let sent = self.node(&share.address)?.send_packed_command(&share.packed);
        sent.map_err(|error| self.forget(&share.address, error))
    }

    /// Reads all replies of a pipeline. A connection that fails meanwhile is given up, with what is still to come on it.
    fn receive(&mut self, share: &Share, wait: Option<Wait>) -> Result<Vec<Value>, Error> {
        let count = share.indexes.len() + usize::from(wait.is_some());
        let node = self.node(&share.address)?;
        let replies: RedisResult<_> = (0..count).map(|_| node.recv_response()).collect();
        replies.map_err(|error| self.forget(&share.address, error))
    }

    fn forget(&mut self, address: &Address, error: RedisError) -> Error {
        self.nodes.remove(address);
        error.into()
    }

    /// Returns the connection to a node.
    fn node(&mut self, address: &Address) -> Result<&mut Connection, Error> {
        if !self.nodes.contains_key(address) {
            let client = match &self.topology {
                Topology::One(client) => (**client).clone(),
                Topology::Many { seed, .. } => Client::open(at(seed, address))?,
            };
            let connection = client.get_connection_with_timeout(self.response_timeout)?;
            connection.set_read_timeout(Some(self.response_timeout))?;
            connection.set_write_timeout(Some(self.response_timeout))?;
            self.nodes.insert(address.clone(), connection);
        }
        self.nodes.get_mut(address).ok_or_else(|| lost(address))
    }

    /// Asks the cluster which node has which slots.
    fn refresh(&mut self) -> Result<(), Error> {
        let Topology::Many { cluster, seed } = &self.topology else { return Ok(()) };
        let slots = cluster.get_connection()?.req_command(cmd("CLUSTER").arg("SLOTS"))?;
        let host = address_of(seed)?.0;
        let ranges = parse_slots(&slots, &host)
            .filter(|ranges| !ranges.is_empty())
            .ok_or_else(|| Error::unexpected("CLUSTER SLOTS", &slots))?;
        self.ranges = ranges;
        Ok(())
    }
}

/// Sends a command through the cluster client, followed by `WAIT` on the same connection.
fn ask(cluster: &ClusterClient, command: &Routed, wait: Option<Wait>) -> Outcome {
    let mut packed = command.command.get_packed_command();
    let count = 1 + usize::from(wait.is_some());
    if let Some(wait) = wait {
        wait_command(wait).write_packed_command(&mut packed);
    }
    let replies = cluster
        .get_connection()
        .and_then(|mut connection| connection.req_packed_commands(&packed, 0, count))
        .map_err(Error::from);
    let share = Share { address: ("the cluster".into(), 0), indexes: vec![0], packed: Vec::new() };
    match replies.and_then(|replies| check_wait(&share, replies, wait)) {
        Ok(mut replies) => Outcome::Done(replies.pop().unwrap_or_default()),
        Err(error) => Outcome::Doubtful(error),
    }
}

fn wait_command(wait: Wait) -> Cmd {
    let mut command = cmd("WAIT");
    let milliseconds = u64::try_from(wait.timeout.as_millis()).unwrap_or(u64::MAX).max(1);
    command.arg(wait.replicas).arg(milliseconds);
    command
}

/// Takes the reply of `WAIT` off, and checks it.
fn check_wait(
    share: &Share,
    mut replies: Vec<Value>,
    wait: Option<Wait>,
) -> Result<Vec<Value>, Error> {
    let Some(wait) = wait else { return Ok(replies) };
    let acknowledged = match replies.pop() {
        Some(Value::Int(replicas)) => u32::try_from(replicas).unwrap_or(0),
        Some(Value::ServerError(error)) => return Err(RedisError::from(error).into()),
        other => return Err(Error::unexpected("WAIT", &other.unwrap_or_default())),
    };
    if acknowledged < wait.replicas {
        let (host, port) = &share.address;
        let (address, asked) = (format!("{host}:{port}"), wait.replicas);
        return Err(Error::NotReplicated { address, asked, acknowledged });
    }
    Ok(replies)
}

/// Tells a command that was not executed from one that was.
fn classify(value: Value) -> Outcome {
    use ServerErrorKind::{Ask, BusyLoading, ClusterDown, MasterDown, Moved, ReadOnly, TryAgain};
    let Value::ServerError(error) = &value else { return Outcome::Done(value) };
    match error.kind() {
        Some(Moved | TryAgain | ClusterDown | ReadOnly | BusyLoading | MasterDown) => {
            Outcome::Refused(error.clone().into())
        }
        Some(Ask) => Outcome::Ask(error.clone().into()),
        _ => Outcome::Done(value),
    }
}

fn lost((host, port): &Address) -> Error {
    RedisError::from((ErrorKind::Io, "connection lost", format!("{host}:{port}"))).into()
}

fn invalid(text: &'static str) -> Error {
    RedisError::from((ErrorKind::InvalidClientConfig, text)).into()
}

/// Returns the host and the port of a server. A local socket has a path and no port.
fn address_of(info: &ConnectionInfo) -> Result<Address, Error> {
    match info.addr() {
        ConnectionAddr::Tcp(host, port) | ConnectionAddr::TcpTls { host, port, .. } => {
            Ok((host.clone(), *port))
        }
        ConnectionAddr::Unix(path) => Ok((path.display().to_string(), 0)),
        _ => Err(invalid("an address of an unknown kind")),
    }
}

/// Returns how to reach another node as the seed is reached.
fn at(seed: &ConnectionInfo, (host, port): &Address) -> ConnectionInfo {
    let (host, port) = (host.clone(), *port);
    let address = match seed.addr() {
        ConnectionAddr::TcpTls { insecure, tls_params, .. } => ConnectionAddr::TcpTls {
            host,
            port,
            insecure: *insecure,
            tls_params: tls_params.clone(),
        },
        _ => ConnectionAddr::Tcp(host, port),
    };
    seed.clone().set_addr(address)
}

/// Reads the reply of `CLUSTER SLOTS`: last slot and primary of each range, ascending. A node without a host is where the seed is.
fn parse_slots(reply: &Value, seed: &str) -> Option<Vec<(u16, Address)>> {
    let range = |range: &Value| {
        let Value::Array(fields) = range else { return None };
        let [_, Value::Int(last), Value::Array(primary), ..] = fields.as_slice() else {
            return None;
        };
        let [host, Value::Int(port), ..] = primary.as_slice() else { return None };
        let host = match host {
            Value::BulkString(host) if !host.is_empty() => String::from_utf8_lossy(host).into(),
            _ => seed.to_owned(),
        };
        Some((u16::try_from(*last).ok()?, (host, u16::try_from(*port).ok()?)))
    };
    let Value::Array(ranges) = reply else { return None };
    let mut ranges: Vec<_> = ranges.iter().map(range).collect::<Option<_>>()?;
    ranges.sort();
    Some(ranges)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Value {
        Value::BulkString(text.into())
    }

    #[test]
    fn slots_of_a_cluster_are_read() {
        let range = |first, last, host: &str, port| {
            let primary = Value::Array(vec![text(host), Value::Int(port), text("id")]);
            Value::Array(vec![Value::Int(first), Value::Int(last), primary])
        };
        let reply = Value::Array(vec![range(8_000, 16_383, "", 2), range(0, 7_999, "a", 1)]);
        let ranges = parse_slots(&reply, "seed").unwrap();
        assert_eq!(ranges, [(7_999, ("a".into(), 1)), (16_383, ("seed".into(), 2))]);
        for reply in [Value::Nil, Value::Array(vec![Value::Nil]), range(0, 1, "a", 70_000)] {
            assert_eq!(parse_slots(&reply, "seed"), None);
        }
    }

    #[test]
    fn too_few_replicas_are_an_error() {
        let share = Share { address: ("a".into(), 1), indexes: vec![0], packed: Vec::new() };
        let wait = Some(Wait { replicas: 1, timeout: Duration::from_millis(5) });
        let checked = |replicas| check_wait(&share, vec![Value::Okay, Value::Int(replicas)], wait);
        assert_eq!(checked(1).unwrap(), [Value::Okay]);
        assert_eq!(
            checked(0).unwrap_err().to_string(),
            "0 replicas of a:1 acknowledged the insert in time, and 1 were asked for"
        );
        assert_eq!(check_wait(&share, vec![Value::Okay], None).unwrap(), [Value::Okay]);
    }
}
