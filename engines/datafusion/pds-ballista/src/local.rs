//! A cluster of processes on the loopback interface.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Error, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// Time for a process to start, on a machine that others use.
const START: Duration = Duration::from_secs(60);
/// Lines of a log that an error shows.
const LOG_LINES: usize = 30;

/// The size of a [`LocalCluster`].
#[derive(Clone, Copy, Debug)]
pub struct LocalOptions {
    /// Number of executors, each a process.
    pub executors: usize,
    /// Number of tasks that each executor runs at the same time.
    pub tasks: usize,
    /// Bytes of memory that the tasks of each executor may reserve.
    pub memory: u64,
    /// Seconds without a heartbeat after which an executor is lost.
    pub executor_timeout: u64,
}

/// Processor time and memory of a process since it started.
#[derive(Clone, Copy, Debug, Default)]
pub struct Usage {
    /// Time on processors.
    pub cpu: Duration,
    /// Highest number of bytes in memory.
    pub peak_memory: u64,
}

/// A scheduler and executors on the loopback interface, each a process of its own, for tests and trials.
///
/// They listen on ports that the system chose. Dropping this value kills them.
#[derive(Debug)]
pub struct LocalCluster {
    executors: Vec<Process>,
    scheduler: Process,
    address: SocketAddr,
    folder: PathBuf,
}

impl LocalCluster {
    /// Starts the processes and waits until all executors have registered.
    ///
    /// `program` is the program `pds-ballista`. `folder` has to exist: it takes the logs, and what is shuffled.
    ///
    /// # Errors
    /// If a process cannot be started, ends, or is not ready within a minute. The error shows the end of its log.
    pub fn start(program: &Path, folder: &Path, options: LocalOptions) -> io::Result<Self> {
        let LocalOptions { executors: number, tasks, memory, executor_timeout } = options;
        let args = format!(
            "scheduler --bind 127.0.0.1:0 --executors {number} --executor-timeout {executor_timeout}"
        );
        let mut scheduler = Process::start(program, &args, None, &folder.join("scheduler.log"))?;
        let address = scheduler.address()?;
        let heartbeat = executor_timeout.div_ceil(6).min(60);
        let args = format!(
            "executor --scheduler {address} --tasks {tasks} --memory {memory} --heartbeat {heartbeat}"
        );
        let executor = |number| {
            let work = executor_folder(folder, number);
            fs::create_dir_all(&work)?;
            Process::start(program, &args, Some(&work), &work.with_extension("log"))
        };
        let executors = (0..number).map(executor).collect::<io::Result<_>>()?;
        let mut cluster = Self { executors, scheduler, address, folder: folder.to_owned() };
        cluster.wait_until_ready()?;
        Ok(cluster)
    }

    fn wait_until_ready(&mut self) -> io::Result<()> {
        let end = Instant::now() + START;
        while !is_ready(self.address) {
            self.executors.iter_mut().try_for_each(Process::check)?;
            if Instant::now() > end {
                return Err(self.scheduler.failure("waits for executors"));
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        Ok(())
    }

    /// Returns the address of the scheduler, for [`connect`](crate::connect).
    #[must_use]
    pub fn url(&self) -> String {
        format!("df://{}", self.address)
    }

    /// Returns the folder in which an executor keeps what it shuffles, in a folder for each query.
    #[must_use]
    pub fn executor_folder(&self, executor: usize) -> PathBuf {
        executor_folder(&self.folder, executor)
    }

    /// Kills an executor.
    ///
    /// # Panics
    /// If there is no such executor.
    pub fn kill_executor(&mut self, executor: usize) {
        self.executors[executor].kill();
    }

    /// Returns what the executors have used so far, on Linux.
    ///
    /// # Errors
    /// If an executor is not running, or the system is another one.
    pub fn usage(&self) -> io::Result<Vec<Usage>> {
        self.executors.iter().map(|executor| usage(executor.child.id())).collect()
    }
}

fn executor_folder(folder: &Path, executor: usize) -> PathBuf {
    folder.join(format!("executor-{executor}"))
}

/// Asks the scheduler whether its executors have registered.
fn is_ready(address: SocketAddr) -> bool {
    let ask = || -> io::Result<String> {
        let limit = Duration::from_secs(5);
        let mut stream = TcpStream::connect_timeout(&address, limit)?;
        stream.set_read_timeout(Some(limit))?;
        stream.write_all(b"GET /readyz HTTP/1.0\r\n\r\n")?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        Ok(answer)
    };
    ask().is_ok_and(|answer| answer.split(' ').nth(1) == Some("200"))
}

/// Reads what the kernel has counted for a process.
fn usage(id: u32) -> io::Result<Usage> {
    const TICKS_PER_SECOND: u64 = 100;
    const KIB: u64 = 1_024;
    let stat = fs::read_to_string(format!("/proc/{id}/stat"))?;
    let status = fs::read_to_string(format!("/proc/{id}/status"))?;
    let number = |text: Option<&str>| text.and_then(|text| text.parse::<u64>().ok());
    // The name of the program, in brackets, may have spaces. User and system time are the 14th and 15th field.
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    let ticks: Option<u64> = fields.skip(11).take(2).map(|field| number(Some(field))).sum();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let peak = number(peak.and_then(|line| line.split_whitespace().next()));
    let (ticks, peak) = ticks.zip(peak).ok_or_else(|| Error::other("unknown form of /proc"))?;
    let cpu = Duration::from_millis(ticks * 1_000 / TICKS_PER_SECOND);
    Ok(Usage { cpu, peak_memory: peak * KIB })
}

/// A process of the cluster, which is killed when this value is dropped.
#[derive(Debug)]
struct Process {
    child: Child,
    log: PathBuf,
}

impl Process {
    fn start(program: &Path, args: &str, work: Option<&Path>, log: &Path) -> io::Result<Self> {
        let mut command = Command::new(program);
        command.args(args.split(' '));
        if let Some(work) = work {
            command.arg("--folder").arg(work);
        }
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(File::create(log)?);
        if std::env::var_os("RUST_LOG").is_none() {
            command.env("RUST_LOG", "info");
        }
        let child = command.spawn().map_err(|error| {
            Error::new(error.kind(), format!("cannot start {}: {error}", program.display()))
        })?;
        Ok(Self { child, log: log.to_owned() })
    }

    /// Returns the address that the process prints.
    fn address(&mut self) -> io::Result<SocketAddr> {
        let output = self.child.stdout.take();
        let (sender, receiver) = mpsc::channel();
        std::thread::spawn(move || {
            let mut line = String::new();
            _ = output.map(|output| BufReader::new(output).read_line(&mut line));
            _ = sender.send(line);
        });
        let line = receiver.recv_timeout(START).unwrap_or_default();
        let address = line.trim().rsplit(' ').next().and_then(|text| text.parse().ok());
        address.ok_or_else(|| self.failure("printed no address"))
    }

    /// Checks that the process runs.
    fn check(&mut self) -> io::Result<()> {
        match self.child.try_wait()? {
            Some(_) => Err(self.failure("ended")),
            None => Ok(()),
        }
    }

    fn failure(&self, what: &str) -> Error {
        let log = fs::read_to_string(&self.log).unwrap_or_default();
        let lines: Vec<&str> = log.lines().collect();
        let end = lines[lines.len().saturating_sub(LOG_LINES)..].join("\n");
        Error::other(format!("the process of {} {what}:\n{end}", self.log.display()))
    }

    fn kill(&mut self) {
        _ = self.child.kill();
        _ = self.child.wait();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}
