//! All structures that answer *have I seen this key?*, side by side: what each takes, and what each can do.
//!
//! [`compare`] sizes every one of them for the same promise; [`recommend`] chooses one and says why not the
//! others. The other way round, [`Candidate::in_memory`] finds the lowest rate that a budget of memory
//! allows, and [`Candidate::of_most_items`] the most items.
//!
//! For *how often?* and *how many different ones?* there are [`recommend_counts`] and [`recommend_distinct`].

mod candidate;
mod human;
mod recommend;
mod shape;
mod sketch;
mod structure;
mod table;

pub use candidate::{Candidate, LinesRead};
pub use human::HumanBytes;
pub use recommend::{Against, Needs, Priority, Reason, Recommendation, recommend};
pub use shape::Shape;
pub use sketch::{
    CountNeeds, DistinctNeeds, Sketch, SketchRecommendation, recommend_counts, recommend_distinct,
};
pub use structure::{Abilities, Ability, Structure};
pub use table::{Comparison, compare, compare_in_memory, compare_most_items};
