//! What the fuzz targets and the ordinary tests do with a string of bytes.
#![expect(clippy::missing_panics_doc, reason = "a panic is how a body reports a fault")]

use fuse::{RibbonFilter, RibbonFilterView};
use pds_testkit::mutate::{Choices, mutate as change};
use pds_testkit::{portable, view_agrees};

/// Asks a filter everything that it answers, in whatever form it is.
macro_rules! ask {
    ($filter:expr) => {{
        let filter = $filter;
        assert!((0.0..=1.0).contains(&filter.false_positive_rate()));
        assert!((0.0..=1.0).contains(&filter.promised_rate()));
        (portable::answers(filter), filter.len(), filter.num_exact(), filter.size_in_bytes())
    }};
}

/// Decodes bytes. What is accepted answers every question and is written back as it was.
pub fn decode(bytes: &[u8]) {
    if let Some(filter) = portable::decode::<RibbonFilter>(bytes) {
        let _ = ask!(&filter);
        assert!(filter.try_clone().unwrap() == filter);
        let shrunk = filter.shrink_to_rate(0.6);
        assert!(shrunk.map_or(true, |shrunk| shrunk.size_in_bytes() <= filter.size_in_bytes()));
    }
}

/// Opens bytes without a copy. The view answers whatever its payload is, and verifies what can be decoded.
pub fn view(bytes: &[u8]) {
    view_agrees!(RibbonFilterView<&[u8]>, RibbonFilter, bytes, ask);
}

/// Changes the bytes of a filter, with checksums that fit again, and reads them in every way.
pub fn mutate(input: &[u8]) {
    let mut choices = Choices::new(input);
    let filter = built(&mut choices);
    let mut bytes = filter.to_bytes();
    change(&mut bytes, &mut choices);
    decode(&bytes);
    view(&bytes);
}

/// Builds, sends and shrinks; a key is always contained.
pub fn ops(input: &[u8]) {
    let mut choices = Choices::new(input);
    let mut filter = built(&mut choices);
    let keys = filter.len();
    while !choices.is_empty() {
        match choices.below(2) {
            0 => filter = portable::sent(&filter, &mut choices),
            _ => {
                let rate = (1.0 + f64::from(choices.byte())) / 257.0;
                let allowed = rate >= filter.promised_rate();
                match filter.shrink_to_rate(rate) {
                    Ok(shrunk) => {
                        assert!(shrunk.promised_rate() <= rate);
                        filter = shrunk;
                    }
                    Err(_) => assert!(!allowed),
                }
            }
        }
        assert!((0..keys).all(|key| filter.contains(&key)), "a key was lost");
    }
}

/// Builds a filter of the numbers below one that is chosen.
fn built(choices: &mut Choices<'_>) -> RibbonFilter {
    let keys = match choices.below(8) {
        0 => 2_049 + 7 * choices.below(100),
        _ => choices.below(200),
    };
    let steps = 1 + u32::from(choices.byte()) * 17;
    let builder = RibbonFilter::builder().seed(choices.byte().into());
    builder.columns(f64::from(steps) / 256.0).build(0..keys as u64).unwrap()
}
