//! The bytes of filters that remove and count.

use std::io::{self, Read, Write};

use super::{Cuckoo, Options};
use crate::chunks::{self, Chunked};
use crate::record::{self, ANY_LENGTH, Streamed};
use crate::server::{Digest, Load, Rewrite, Save, TypeName, Value};

static TYPES: [TypeName; 1] = [TypeName::new("pds-cucko", 0)];

/// The number of the layout in the stream.
const COUNTING_QUOTIENT: u8 = 1;

impl Streamed for Cuckoo {
    fn write_stream<W: Write>(&self, mut out: W) -> io::Result<()> {
        let Options { bucket_size, max_iterations, expansion } = self.options;
        let numbers = [self.deleted, bucket_size, max_iterations, expansion];
        record::write_head(&mut out, COUNTING_QUOTIENT, &numbers)?;
        ANY_LENGTH.write_to(&self.filter, out)
    }

    fn read_stream<R: Read>(mut input: R) -> Result<Self, String> {
        let (COUNTING_QUOTIENT, numbers) = record::read_head(&mut input)? else {
            return Err("an unknown layout of a cuckoo filter".into());
        };
        let &[deleted, bucket_size, max_iterations, expansion] = numbers.as_slice() else {
            return Err("no cuckoo filter".into());
        };
        let filter = ANY_LENGTH.read_from(input).map_err(|error| error.to_string())?;
        Ok(Self { filter, deleted, options: Options { bucket_size, max_iterations, expansion } })
    }
}

impl Value for Cuckoo {
    fn types() -> &'static [TypeName] {
        &TYPES
    }

    fn save(&self, file: &mut Save<'_>) {
        record::save(self, file);
    }

    fn load(file: &mut Load<'_>, _: usize) -> Result<Self, String> {
        record::load(file)
    }

    fn rewrite(&self, file: &mut Rewrite<'_>) {
        chunks::rewrite(self, file);
    }

    fn digest(&self, digest: &mut Digest<'_>) {
        record::digest(self, digest);
    }

    fn copied(&self) -> Option<Self> {
        Some(Self { filter: self.filter.try_clone().ok()?, ..*self })
    }
}

impl Chunked for Cuckoo {
    const FAMILY: u64 = 2;
    const BAD: &'static str = "Invalid header";
}
