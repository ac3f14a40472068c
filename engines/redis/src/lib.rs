//! A module for Redis and Valkey: filters and sketches with proven rates, by the commands of RedisBloom.
//!
//! The README beside this crate says how to build and load it, and what its commands answer.

mod arguments;
mod bloom;
mod chunks;
mod count_min;
mod cuckoo;
mod distinct;
mod foreign;
mod quality;
mod record;
mod server;
mod top_k;

/// Registers all types and commands. Returns whether the server took them.
fn register(registry: &mut server::Registry) -> bool {
    registry.types::<bloom::Bloom>()
        && registry.types::<cuckoo::Cuckoo>()
        && registry.types::<count_min::CountMin>()
        && registry.types::<top_k::TopK>()
        && registry.types::<distinct::Distinct>()
        && registry.types::<chunks::Parts>()
        && registry.commands("bloom", bloom::COMMANDS)
        && registry.commands("cuckoo", cuckoo::COMMANDS)
        && registry.commands("cms", count_min::COMMANDS)
        && registry.commands("topk", top_k::COMMANDS)
        && registry.commands("ull", distinct::COMMANDS)
        && registry.commands("pds", quality::COMMANDS)
}
