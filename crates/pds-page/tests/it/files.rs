//! The files of the page, and their server.

use core::time::Duration;
use pds_page::{FILES, Server};
use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::thread;
use std::time::Instant;

fn text(path: &str) -> &'static str {
    let file = FILES.iter().find(|file| file.path == path).expect("a file");
    core::str::from_utf8(file.contents).expect("a text")
}

#[test]
fn the_page_loads_nothing_from_elsewhere() {
    for file in FILES.iter().filter(|file| file.path != "pds.wasm") {
        // The name of SVG's elements is an address that nobody opens.
        let text = text(file.path).replace("http://www.w3.org/2000/svg", "");
        for outside in ["http:", "https:", "//cdn", "@import", "url(\""] {
            assert!(!text.contains(outside), "{} has {outside}", file.path);
        }
    }
    let page = text("index.html");
    for file in &FILES[1..] {
        let named = |other: &str| text(other).contains(file.path);
        assert!(
            page.contains(file.path) || ["module.js", "calculator.js"].into_iter().any(named),
            "{}",
            file.path
        );
    }
}

#[test]
fn the_module_is_one_and_names_no_machine() {
    let module = FILES.iter().find(|file| file.path == "pds.wasm").expect("the module").contents;
    assert_eq!(module[..8], *b"\0asm\x01\0\0\0");
    for folder in ["home", "root", "tmp", "Users", "work"] {
        let place = format!("/{folder}");
        assert!(!module.windows(place.len()).any(|bytes| bytes == place.as_bytes()), "{place}");
    }
}

fn request(server: &str, head: &str) -> (String, Vec<u8>) {
    let address = server.trim_start_matches("http://").trim_end_matches('/');
    let mut stream = TcpStream::connect(address).expect("a server");
    let mut answer = Vec::new();
    // The server cuts a request beyond the limit off, and each of these calls may see that as an error.
    let _ = stream
        .write_all(head.as_bytes())
        .and_then(|()| stream.shutdown(Shutdown::Write))
        .and_then(|()| stream.read_to_end(&mut answer));
    let end =
        answer.windows(4).position(|bytes| bytes == b"\r\n\r\n").map_or(answer.len(), |at| at + 4);
    let body = answer.split_off(end);
    (String::from_utf8(answer).expect("a text"), body)
}

#[test]
fn the_server_delivers_the_files_and_nothing_else() {
    let server = Server::bind(0).expect("a port");
    let address = server.address();
    assert!(address.starts_with("http://127.0.0.1:"), "{address}: this machine alone");
    thread::spawn(move || server.run());
    // A connection that says nothing does not keep the others waiting.
    let _idle = TcpStream::connect(address.trim_start_matches("http://").trim_end_matches('/'))
        .expect("a server");
    let start = Instant::now();
    for file in FILES {
        let (head, body) =
            request(&address, &format!("GET /{} HTTP/1.1\r\nHost: x\r\n\r\n", file.path));
        assert!(head.starts_with("HTTP/1.1 200 OK\r\n"), "{head}");
        assert!(head.contains(&format!("Content-Type: {}\r\n", file.media_type)), "{head}");
        assert!(body == file.contents, "{}", file.path);
    }
    assert!(start.elapsed() < Duration::from_secs(8), "the server waits ten seconds for a client");
    let (_, page) = request(&address, "GET / HTTP/1.1\r\n\r\n");
    assert!(page == FILES[0].contents);
    let (head, body) = request(&address, "HEAD / HTTP/1.1\r\n\r\n");
    assert!(
        head.contains(&format!("Content-Length: {}\r\n", FILES[0].contents.len()))
            && body.is_empty()
    );
    for (wrong, status) in [
        ("GET /Cargo.toml HTTP/1.1\r\n\r\n", "404"),
        ("GET /../Cargo.toml HTTP/1.1\r\n\r\n", "404"),
        ("GET\r\n\r\n", "200"),
        ("POST / HTTP/1.1\r\n\r\n", "405"),
        ("\r\n\r\n", "405"),
    ] {
        let (head, _) = request(&address, wrong);
        assert!(head.starts_with(&format!("HTTP/1.1 {status} ")), "{wrong:?}: {head}");
    }
    // An endless line ends at the limit.
    let (head, _) = request(&address, &"x".repeat(20_000));
    assert!(head.is_empty() || head.starts_with("HTTP/1.1 405 "), "{head}");
}
