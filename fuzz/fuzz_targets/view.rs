#![no_main]

pds_fuzz::bytes_target!(view);
