//! A conditional random field over anchored rules: a log-linear model of trees with features of the
//! words at the borders of spans (Hall, Durrett & Klein 2014).
//!
//! A grammar prunes the chart, and a linear model scores the remaining items and rules. [`tokens`]
//! has the attributes of words that features read, [`templates`] the features, those of spellings and
//! given dependencies apart, [`template_numbers`] the numbers of their templates, and [`weights`]
//! their weights. [`Prior`] is what a tree scores without features, [`pass`] sums over trees by
//! inside-outside, [`train`] learns weights, and [`CrfTrees`] and [`CrfRules`] are the objectives of
//! decoders. Features are stored as hashes.

mod dependency_templates;
mod objectives;
mod parts;
pub mod pass;
mod prior;
mod spelling;
mod tagging;
pub mod template_numbers;
pub mod templates;
pub mod tokens;
pub mod train;
pub mod weights;

pub use objectives::{CrfRules, CrfTrees};
pub use pass::CrfPass;
pub use prior::{LatentPrior, Prior};
pub use tagging::tagged;
pub use template_numbers::{OLDEST_TEMPLATE_VERSION, TEMPLATE_VERSION};
pub use tokens::{CLUSTER_LEVELS, TokenAttributes, Vocabulary};
pub use train::{Example, Steps, Trainer};
pub use weights::{CrfModel, FeatureLabels, Loss, Weights};
