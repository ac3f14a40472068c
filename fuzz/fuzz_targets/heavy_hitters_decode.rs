#![no_main]

pds_fuzz::bytes_target!(pds_fuzz::heavy_hitters::decode);
