#![no_main]

pds_fuzz::choices_target!(pds_fuzz::counting::ops);
