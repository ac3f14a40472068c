//! The code blocks of the documents of the workspace, compiled and run as documentation tests of this module.

#[doc = include_str!("../../../../README.md")]
mod readme {}

#[doc = include_str!("../../../../docs/accuracy.md")]
mod accuracy {}

#[doc = include_str!("../../../../docs/choosing.md")]
mod choosing {}

#[doc = include_str!("../../../../docs/cookbook.md")]
mod cookbook {}

#[doc = include_str!("../../../../docs/security.md")]
mod security {}

/// A filter with a secret key is not stored without an explicit choice.
///
/// ```compile_fail,E0277
/// # use pds::hash::SipHashBuilder;
/// # use pds::BloomFilter;
/// # let filter = BloomFilter::builder().expected_items(9).hasher(SipHashBuilder::random()).build().unwrap();
/// let bytes = filter.to_bytes();
/// ```
/// ```compile_fail,E0277
/// # use pds::hash::SipHashBuilder;
/// # use pds::BloomFilter;
/// # let filter = BloomFilter::builder().expected_items(9).hasher(SipHashBuilder::random()).build().unwrap();
/// let written = filter.write_to(Vec::new());
/// ```
#[cfg_attr(feature = "serde", doc = "```compile_fail,E0277")]
#[cfg_attr(not(feature = "serde"), doc = "```ignore")]
/// # use pds::hash::SipHashBuilder;
/// # use pds::BloomFilter;
/// # let filter = BloomFilter::builder().expected_items(9).hasher(SipHashBuilder::random()).build().unwrap();
/// let text = serde_json::to_string(&filter);
/// ```
mod secret_keys {}
