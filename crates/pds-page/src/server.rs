//! A server for this machine alone.

use alloc::string::String;
use core::net::{Ipv4Addr, SocketAddr};
use core::time::Duration;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::thread;

use crate::files::{FILES, File};

/// Longest request that is read.
const MOST_BYTES: u64 = 16 << 10;

/// Most bytes that are dropped behind a longer request, so that its sender sees the answer.
const MOST_REST: u64 = 1 << 20;

/// Longest wait for a client.
const PATIENCE: Duration = Duration::from_secs(10);

/// Wait after a connection that could not be accepted.
const PAUSE: Duration = Duration::from_millis(20);

/// The page may load its own files, and nothing from elsewhere.
const POLICY: &str = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; connect-src 'self'; \
                      img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// A server of the page on the loopback address, which other machines cannot reach.
///
/// # Examples
/// ```no_run
/// let server = pds_page::Server::bind(0)?;
/// println!("The page is at {}", server.address());
/// server.open()?;
/// server.run();
/// # #[allow(unreachable_code)]
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
}

impl Server {
    /// Listens at `port`, or at a free port if it is 0.
    ///
    /// # Errors
    /// [`io::Error`] if the port is taken, or not allowed.
    pub fn bind(port: u16) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        Ok(Self { address: listener.local_addr()?, listener })
    }

    /// Returns the address of the page.
    #[must_use]
    pub fn address(&self) -> String {
        alloc::format!("http://{}/", self.address)
    }

    /// Opens the page in the browser.
    ///
    /// # Errors
    /// [`io::Error`] if the system has no browser.
    pub fn open(&self) -> io::Result<()> {
        open::that_detached(self.address())
    }

    /// Answers requests until the process ends. A connection that fails ends alone.
    pub fn run(self) -> ! {
        loop {
            // A browser keeps a spare connection open, which must not block the others.
            let answered = self.listener.accept().and_then(|(stream, _)| {
                thread::Builder::new().spawn(move || drop(answer(&stream)))
            });
            if answered.is_err() {
                // Too many connections are open, or threads run. Some end soon.
                thread::sleep(PAUSE);
            }
        }
    }
}

fn answer(stream: &TcpStream) -> io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let mut input = BufReader::new(stream.take(MOST_BYTES));
    let mut lines = input.by_ref().split(b'\n');
    let Some(request) = lines.next().transpose()? else { return Ok(()) };
    // The rest of the head is read, so that closing the connection does not discard the answer.
    let is_more = |line: &[u8]| !matches!(line, b"" | b"\r");
    lines.take_while(|line| line.as_ref().is_ok_and(|line| is_more(line))).for_each(drop);
    respond(&String::from_utf8_lossy(&request), stream)?;
    if input.get_ref().limit() == 0 {
        stream.shutdown(Shutdown::Write)?;
        io::copy(&mut stream.take(MOST_REST), &mut io::sink())?;
    }
    Ok(())
}

fn respond(request: &str, mut stream: &TcpStream) -> io::Result<()> {
    let mut words = request.trim_end().split(' ');
    let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let path = target.split(['?', '#']).next().unwrap_or_default().trim_start_matches('/');
    let path = if path.is_empty() { "index.html" } else { path };
    let found = FILES.iter().find(|file| file.path == path);
    let missing = |contents| File { path: "", media_type: "text/plain; charset=utf-8", contents };
    let (status, file) = match (method, found) {
        ("GET" | "HEAD", Some(file)) => ("200 OK", *file),
        ("GET" | "HEAD", None) => ("404 Not Found", missing(b"There is no such file.\n")),
        _ => ("405 Method Not Allowed", missing(b"Only GET and HEAD are answered.\n")),
    };
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Type: {}\r\nContent-Length: {}\r\nContent-Security-Policy: {POLICY}\r\n\
         X-Content-Type-Options: nosniff\r\nCache-Control: no-cache\r\nConnection: close\r\n\r\n",
        file.media_type,
        file.contents.len(),
    )?;
    if method != "HEAD" {
        stream.write_all(file.contents)?;
    }
    stream.flush()
}
