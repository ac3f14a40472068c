//! Structures side by side: what each takes, what each can do, and which one to choose.
//!
//! For *have I seen this key?*, [`compare`] sizes every filter for the same promise, and [`recommend`] chooses one and says
//! why not the others. The other way round, [`Candidate::for_memory`] finds the lowest rate that a budget of memory
//! allows, and [`Candidate::of_most_items`] the most items.
//!
//! For *how often?* and *how many different ones?* there are [`recommend_counts`] and [`recommend_distinct`].
//!
//! What is compared are the structures of the [`registry`](crate::registry).

mod abilities;
mod candidate;
mod design;
mod human;
mod lines;
mod reason;
mod recommend;
mod sketches;
mod table;

pub use abilities::{Abilities, Ability, CountAbilities};
pub use candidate::Candidate;
pub(crate) use design::{Design, MembershipSizing, Promise, literal};
pub use human::HumanBytes;
pub use lines::LinesRead;
pub use reason::{Against, Reason};
pub use recommend::{Needs, Priority, Recommendation, recommend};
pub(crate) use sketches::{CardinalitySizing, FrequencySizing, SketchSize};
pub use sketches::{
    CountNeeds, DistinctNeeds, SketchRecommendation, recommend_counts, recommend_distinct,
};
pub use table::{Comparison, compare, compare_in_memory, compare_most_items};
