//! The page, served from the binary or written as files.

use crate::tool::Folder;
use core::time::Duration;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

/// A server that ends with its test.
struct Server(Child, String);

impl Drop for Server {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

fn server(command: &mut Command) -> Server {
    let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stderr.take().unwrap()).read_line(&mut line).unwrap();
    let address =
        line.trim_end().rsplit("http://").next().unwrap().trim_end_matches('/').to_owned();
    Server(child, address)
}

fn get(address: &str) -> String {
    ask(address, b"GET / HTTP/1.1\r\n\r\n")
}

fn ask(address: &str, request: &[u8]) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    stream.write_all(request).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn the_page_is_served_and_its_address_told() {
    let pds = env!("CARGO_BIN_EXE_pds");
    let server = server(Command::new(pds).args(["serve-page", "--no-open"]));
    let answer = get(&server.1);
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
    assert!(answer.contains("<h2 id=\"calculator-title\">Calculator</h2>"), "{answer}");
}

/// Whatever is asked, there is an answer, and of no other file.
#[test]
fn odd_requests_are_answered() {
    let server = server(Command::new(env!("CARGO_BIN_EXE_pds")).args(["serve-page", "--no-open"]));
    let long = "a".repeat(200_000);
    let [found, missing, other] = ["200 OK", "404 Not Found", "405 Method Not Allowed"];
    for (request, status) in [
        (&b"GET /\r\n\r\n"[..], found),
        (b"GET ///index.html?x=1#y HTTP/1.1\r\nX: \xff\r\n\r\n", found),
        (format!("GET / HTTP/1.1\r\nX: {long}\r\n\r\n").as_bytes(), found),
        (format!("GET /{long} HTTP/1.1\r\n\r\n").as_bytes(), missing),
        (b"GET /../../etc/passwd HTTP/1.1\r\n\r\n", missing),
        (b"GET /%2e%2e/etc/passwd HTTP/1.1\r\n\r\n", missing),
        (b"GET /\xff\xfe HTTP/1.1\r\n\r\n", missing),
        (b"POST / HTTP/1.1\r\nContent-Length: 0\r\n\r\n", other),
        (b"\0\0\n\n", other),
    ] {
        let answer = ask(&server.1, request);
        let start = String::from_utf8_lossy(&request[..request.len().min(40)]);
        assert!(answer.starts_with(&format!("HTTP/1.1 {status}\r\n")), "{start}: {answer}");
    }
}

/// Connections that are too many fail alone, and the server goes on.
#[test]
#[cfg(unix)]
fn many_connections_do_not_end_the_server() {
    let script = format!("ulimit -n 20; exec {} serve-page --no-open", env!("CARGO_BIN_EXE_pds"));
    let mut server = server(Command::new("sh").args(["-c", &script]));
    let idle: Vec<_> = (0..40).map(|_| TcpStream::connect(&server.1)).collect();
    std::thread::sleep(Duration::from_millis(300));
    assert!(server.0.try_wait().unwrap().is_none(), "the server goes on");
    drop(idle);
    assert!(get(&server.1).starts_with("HTTP/1.1 200 OK\r\n"));
}

#[test]
fn the_files_of_the_page_are_written_for_any_server() {
    let folder = Folder::new();
    folder.pds("serve-page --write .").ok();
    folder.pds("serve-page --write .").ok();
    assert_eq!(folder.names().len(), pds_page::FILES.len());
    for file in pds_page::FILES {
        assert!(folder.read(file.path) == file.contents, "{}", file.path);
    }
    folder.write("index.html", "another page");
    let error = folder.pds("serve-page --write .").failed();
    assert!(error.contains("index.html: is another file: --force replaces it"), "{error}");
    assert_eq!(folder.read("index.html"), b"another page");
    folder.pds("serve-page --write . --force").ok();
    assert!(folder.read("index.html") == pds_page::FILES[0].contents);
}
