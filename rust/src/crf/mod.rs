//! A conditional random field over anchored rules: trees weighed by features of the words at the
//! borders of their spans (Hall et al. 2014).
//!
//! A grammar prunes; what is left is scored by a linear model. [`tokens`] has what features see of a
//! word, [`templates`] the features, [`template_numbers`] the numbers of their templates,
//! [`weights`] their weights, [`pass`] inside-outside sums over trees, [`train`] learns weights from
//! gold-constrained charts, and [`CrfTrees`] and [`CrfRules`] are what decoders maximise. Features
//! are hashes throughout.

mod objectives;
mod parts;
pub mod pass;
mod tagging;
pub mod template_numbers;
pub mod templates;
pub mod tokens;
pub mod train;
pub mod weights;

pub use objectives::{CrfRules, CrfTrees};
pub use pass::CrfPass;
pub use tagging::tagged;
pub use template_numbers::TEMPLATE_VERSION;
pub use tokens::{TokenAttributes, Vocabulary};
pub use train::{Example, Steps, Trainer};
pub use weights::{CrfModel, FeatureLabels, Loss, Weights};
