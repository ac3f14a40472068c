#![no_main]

pds_fuzz::choices_target!(pds_fuzz::heavy_hitters::mutate);
