//! The files of the page.

/// A file of the page, which any web server can deliver.
#[derive(Clone, Copy, Debug)]
pub struct File {
    /// Its path below the page's address.
    pub path: &'static str,
    /// Its media type, which the server must state: browsers refuse a module of another one.
    pub media_type: &'static str,
    /// Its contents.
    pub contents: &'static [u8],
}

macro_rules! files {
    ($($path:literal: $media_type:literal;)*) => {
        &[$(File { path: $path, media_type: $media_type, contents: include_bytes!(concat!("../static/", $path)) },)*]
    };
}

/// The files of the page. The first one is the page itself.
pub static FILES: &[File] = files! {
    "index.html": "text/html; charset=utf-8";
    "page.css": "text/css; charset=utf-8";
    "module.js": "text/javascript; charset=utf-8";
    "calculator.js": "text/javascript; charset=utf-8";
    "chart.js": "text/javascript; charset=utf-8";
    "demo.js": "text/javascript; charset=utf-8";
    "pds.wasm": "application/wasm";
};
