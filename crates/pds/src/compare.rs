//! Comparison of structures: sizes, abilities, and recommendations.
//!
//! For membership, [`compare`] sizes every filter for the same promise. [`recommend`] chooses one, and states the
//! reason against each of the others. [`Candidate::for_memory`] finds the lowest rate that a memory budget allows, and
//! [`Candidate::of_most_items`] the most items.
//!
//! For frequencies use [`recommend_counts`], and for numbers of distinct keys [`recommend_distinct`]. Structures that answer other
//! questions are sized by [`aging_and_growing`], [`theta_sketch`] and [`similar_sets`].
//!
//! The compared structures are those of the [`registry`](crate::registry).

mod abilities;
mod candidate;
mod design;
mod human;
mod lines;
mod others;
mod reason;
mod recommend;
mod sketches;
mod table;

pub use abilities::{Abilities, Ability, CountAbilities};
pub use candidate::Candidate;
pub(crate) use design::{Design, MembershipSizing, Promise, literal};
pub use human::{HumanBytes, HumanCount};
pub use lines::LinesRead;
pub use others::{OtherSize, aging_and_growing, grown, similar_sets, theta_sketch};
pub use reason::{Against, Reason};
pub use recommend::{Needs, Priority, Recommendation, recommend};
pub(crate) use sketches::{CardinalitySizing, FrequencySizing, SketchSize};
pub use sketches::{
    CountNeeds, DistinctNeeds, SketchRecommendation, recommend_counts, recommend_distinct,
};
pub use table::{Comparison, compare, compare_in_memory, compare_most_items};
