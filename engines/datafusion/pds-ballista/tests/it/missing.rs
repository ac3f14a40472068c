//! Processes that find no scheduler end with an error that names its address.

use std::net::{SocketAddr, TcpListener};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Time for a process to end.
const LIMIT: Duration = Duration::from_secs(60);

/// Runs the program, and returns the message with which it fails.
fn failure(args: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pds-ballista"));
    command.args(args).env_remove("RUST_LOG").stdin(Stdio::null()).stdout(Stdio::null());
    let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
    let end = Instant::now() + LIMIT;
    while child.try_wait().unwrap().is_none() {
        if Instant::now() > end {
            child.kill().unwrap();
            panic!("no end within {LIMIT:?}: {args:?}");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{args:?}");
    String::from_utf8(output.stderr).unwrap()
}

/// An address at which nothing listens.
fn free_address() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap()
}

#[test]
fn an_executor_waits_for_a_bounded_time() {
    let address = free_address().to_string();
    let message = failure(&["executor", "--scheduler", &address, "--connect-timeout", "1"]);
    assert!(message.contains(&format!("no scheduler at {address} within 1 s")), "{message}");
}

#[test]
fn a_query_is_refused() {
    let address = free_address().to_string();
    let message = failure(&["query", "--scheduler", &address, "SELECT 1 WHERE random() < 2"]);
    assert!(message.contains(&address), "{message}");
}

/// As the port of another program, or of a process that hangs.
#[test]
fn an_address_that_never_answers_is_no_scheduler() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let address = address.as_str();
    // Both wait for 20 seconds.
    std::thread::scope(|scope| {
        for command in [&["executor"][..], &["query", "SELECT 1 WHERE random() < 2"]] {
            scope.spawn(move || {
                let message = failure(&[command, &["--scheduler", address]].concat());
                for part in [address, "Timeout expired"] {
                    assert!(message.contains(part), "{command:?}: {message}");
                }
            });
        }
    });
}
