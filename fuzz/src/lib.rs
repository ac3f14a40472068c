//! The bodies of the targets, one module per structure. They are also ordinary tests of the structures' crates.

/// The bodies of a structure; none where it has no such body.
#[derive(Clone, Copy)]
pub struct Bodies {
    /// Decodes bytes. What is accepted answers every question, and is written back unchanged.
    pub decode: Option<fn(&[u8])>,
    /// Asks bytes without a copy.
    pub view: Option<fn(&[u8])>,
    /// Changes the bytes of a valid structure, and reads them.
    pub mutate: Option<fn(&[u8])>,
    /// Compares operations with those of an exact structure.
    pub ops: Option<fn(&[u8])>,
}

/// Includes the bodies of each structure, and lists them.
macro_rules! structures {
    ($($name:ident [$($body:ident)*] in $path:literal;)*) => {
        $(
            #[path = $path]
            pub mod $name;
        )*

        /// The bodies of every structure.
        pub static ALL: &[Bodies] = &[$(
            Bodies {
                $($body: Some($name::$body),)*
                ..Bodies { decode: None, view: None, mutate: None, ops: None }
            }
        ),*];
    };
}

structures! {
    bloom [decode view mutate ops] in "../../crates/bloom-core/tests/it/mutations/bodies.rs";
    transfer [decode mutate] in "../../crates/bloom-core/tests/it/transfer/bodies.rs";
    durable [decode mutate ops] in "../../crates/bloom-core/tests/it/logged/bodies.rs";
    many [ops] in "../../crates/bloom-core/tests/it/many/bodies.rs";
    bank [decode view mutate ops] in "../../crates/bloom-core/tests/it/bank/bodies.rs";
    blocked [decode view mutate ops] in "../../crates/bloom-blocked/tests/it/mutations/bodies.rs";
    counting [decode view mutate ops] in "../../crates/bloom-counting/tests/it/mutations/bodies.rs";
    cuckoo [decode view mutate ops] in "../../crates/cuckoo/tests/it/mutations/bodies.rs";
    cms [decode view mutate ops] in "../../crates/cms/tests/it/mutations/bodies.rs";
    fuse [decode view mutate ops] in "../../crates/fuse/tests/it/mutations/bodies.rs";
    heavy_hitters [decode mutate ops] in "../../crates/heavy-hitters/tests/it/mutations/bodies.rs";
    hll [decode view mutate ops] in "../../crates/hll/tests/it/mutations/bodies.rs";
    minhash [decode view mutate ops] in "../../crates/minhash/tests/it/mutations/bodies.rs";
    quotient [decode view mutate ops] in "../../crates/quotient/tests/it/mutations/bodies.rs";
    quotient_counting [decode view mutate ops] in "../../crates/quotient/tests/it/counting/bodies.rs";
    quotient_map [decode view mutate ops] in "../../crates/quotient/tests/it/map/bodies.rs";
    formats [decode] in "../../crates/pds-formats/tests/it/mutations/bodies.rs";
    scalable [decode view mutate ops] in "../../crates/bloom-scalable/tests/it/mutations/bodies.rs";
    theta [decode view mutate ops] in "../../crates/theta/tests/it/mutations/bodies.rs";
    window [decode view mutate ops] in "../../crates/bloom-window/tests/it/mutations/bodies.rs";
}

/// Hands the same bytes to every structure: each refuses those of the others by their kind.
pub fn each(body: impl Fn(&Bodies) -> Option<fn(&[u8])>, bytes: &[u8]) {
    ALL.iter().filter_map(body).for_each(|run| run(bytes));
}

/// Hands choices to one structure, which the first byte names.
pub fn one(body: impl Fn(&Bodies) -> Option<fn(&[u8])>, choices: &[u8]) {
    if let Some((&first, choices)) = choices.split_first()
        && let Some(run) = body(&ALL[usize::from(first) % ALL.len()])
    {
        run(choices);
    }
}

/// A target that is given envelopes: mutated as libFuzzer does, and then mostly with checksums that fit again.
///
/// Without this, whatever changes a header would be stopped by its checksum and see nothing behind it.
#[macro_export]
macro_rules! bytes_target {
    ($body:ident) => {
        ::libfuzzer_sys::fuzz_target!(|bytes: &[u8]| $crate::each(|bodies| bodies.$body, bytes));
        ::libfuzzer_sys::fuzz_mutator!(|data: &mut [u8],
                                        size: usize,
                                        max_size: usize,
                                        seed: u32| {
            let size = ::libfuzzer_sys::fuzzer_mutate(data, size, max_size);
            if seed % 4 != 0 {
                ::pds_testkit::envelope::seal(&mut data[..size]);
            }
            size
        });
    };
}

/// A target that is given choices.
#[macro_export]
macro_rules! choices_target {
    ($body:ident) => {
        ::libfuzzer_sys::fuzz_target!(|choices: &[u8]| $crate::one(|bodies| bodies.$body, choices));
    };
}
