//! The page, served from the binary or written as files.

use crate::tool::Folder;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};

#[test]
fn the_page_is_served_and_its_address_told() {
    let mut server = Command::new(env!("CARGO_BIN_EXE_pds"))
        .args(["serve-page", "--no-open"])
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(server.stderr.take().unwrap()).read_line(&mut line).unwrap();
    let address = line.trim_end().rsplit("http://").next().unwrap().trim_end_matches('/');
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    server.kill().unwrap();
    server.wait().unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
    assert!(answer.contains("<h2 id=\"calculator-title\">Calculator</h2>"), "{answer}");
}

#[test]
fn the_files_of_the_page_are_written_for_any_server() {
    let folder = Folder::new();
    folder.pds("serve-page --write .").ok();

    assert_eq!(folder.names().len(), pds_page::FILES.len());
    for file in pds_page::FILES {
        assert!(folder.read(file.path) == file.contents, "{}", file.path);
    }
}
