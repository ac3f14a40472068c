//! The page in headless Chromium.
//!
//! `cargo test -p pds-page --test browser` runs it; it needs Debian's package `chromium`, or the path of another one in
//! `CHROMIUM`. With `SCREENSHOTS=DIR` it writes pictures.

mod chromium;
mod page;

use chromium::Chromium;
use page::Page;

/// One browser, with a page of its own for each test: a browser takes longer to start than a test to run.
fn main() {
    let server = pds_page::Server::bind(0).expect("a free port");
    let address = server.address();
    std::thread::spawn(move || server.run());
    let mut browser = Chromium::start();
    for (width, (name, test)) in
        page::WIDTHS.iter().flat_map(|width| page::TESTS.iter().map(move |test| (width, test)))
    {
        let mut page = Page::open(&mut browser, &address, *width);
        test(&mut page);
        page.nothing_went_wrong();
        println!("test {name} at {width} pixels ... ok");
    }
}
