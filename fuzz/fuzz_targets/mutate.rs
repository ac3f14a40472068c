#![no_main]

pds_fuzz::choices_target!(mutate);
