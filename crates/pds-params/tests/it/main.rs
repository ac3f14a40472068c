//! The integration tests of `pds-params` in one binary, which links once.

mod api;
mod blocked;
mod cases;
mod cms;
mod counting;
mod cuckoo;
mod fuse;
mod hll;
mod laws;
mod minhash;
mod published;
mod quotient;
mod reference;
mod scalable;
mod tables;
mod theta;
mod transfer;
mod window;
