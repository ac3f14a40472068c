#![no_main]

pds_fuzz::bytes_target!(pds_fuzz::counting::view);
