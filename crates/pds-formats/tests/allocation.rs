//! Bytes that lie about their sizes allocate a constant, whatever they claim.
//!
//! One test only: what is measured is the process's.

use pds_formats::FormatError;
use pds_formats::datasketches::{
    DataSketchesBloomFilter, DataSketchesCountMin, DataSketchesFrequentItems, DataSketchesHll,
};
use pds_formats::dcso::DcsoBloomFilter;
use pds_formats::guava::GuavaBloomFilter;
use pds_formats::postgres::PostgresHll;
use pds_formats::presto::PrestoHll;
use pds_formats::spark::{SparkBloomFilter, SparkCountMin};
use pds_formats::xorf::{XorFilter, XorKind};
use pds_testkit::allocation::{CONSTANT, PeakAlloc, peak_of};

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

type Read = fn(&[u8]) -> Result<(), FormatError>;

#[test]
fn case_17_a_claim_allocates_nothing() {
    let claims: &[(&[u8], Read)] = &[
        (&[0, 0, 0, 1, 0, 0, 0, 5, 127, 255, 255, 255], |b| {
            SparkBloomFilter::from_bytes(b).map(drop)
        }),
        (&[1, 5, 127, 255, 255, 255], |b| GuavaBloomFilter::from_bytes(b).map(drop)),
        // Depth and width 2^31 - 1 after version and total.
        (&[0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 127, 255, 255, 255, 127, 255, 255, 255], |b| {
            SparkCountMin::from_bytes(b).map(drop)
        }),
        // A table of 2^18 slots and 2^17 coupons, updatable and compact.
        (&[3, 1, 7, 21, 18, 0, 0, 1, 0, 0, 2, 0], |b| DataSketchesHll::from_bytes(b).map(drop)),
        (&[3, 1, 7, 21, 18, 8, 0, 1, 0, 0, 2, 0], |b| DataSketchesHll::from_bytes(b).map(drop)),
        (&[4, 1, 21, 0, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 255, 127, 0, 0, 0, 0], |b| {
            DataSketchesBloomFilter::from_bytes(b).map(drop)
        }),
        (&[2, 1, 18, 0, 0, 0, 0, 0, 0, 0, 0, 1, 5, 0xcc, 0x93, 0, 0, 0, 0, 0, 0, 0, 0, 0], |b| {
            DataSketchesCountMin::from_bytes(b).map(drop)
        }),
        // 2^30 items in a table of 2^31 slots.
        (
            &[
                4, 1, 10, 31, 31, 0, 0, 0, 0, 0, 0, 64, 0, 0, 0, 0, 9, 9, 9, 9, 9, 9, 9, 9, 0, 0,
                0, 0, 0, 0, 0, 0,
            ],
            |b| DataSketchesFrequentItems::<String>::from_bytes(b).map(drop),
        ),
        (&[2, 16, 255, 127], |b| PrestoHll::from_bytes(b).map(drop)),
        (&[0x14, 0xf1, 0x7f, 0], |b| PostgresHll::from_bytes(b).map(drop)),
        (&[1; 48], |b| DcsoBloomFilter::from_bytes(b).map(drop)),
        (&[1, 1, 1, 1, 1, 1, 1, 1, 255, 255, 255, 255, 0, 0, 0, 0], |b| {
            XorFilter::from_bytes(XorKind::Xor16, b).map(drop)
        }),
    ];
    for (claim, read) in claims {
        let (result, peak) = peak_of(&ALLOCATOR, || read(claim));
        assert!(result.is_err() && peak < CONSTANT, "{peak} bytes for {claim:?}: {result:?}");
    }
}
