//! A conditional random field over anchored rules: trees weighed by features of the words at the
//! borders of their spans (Hall et al. 2014).
//!
//! A grammar prunes; what is left is weighed anew by a linear model. [`tokens`] has what features
//! see of a word, [`templates`] the features, [`weights`] their weights, [`pass`] sums over trees,
//! [`train`] learns weights from a treebank, and [`CrfTrees`] and [`CrfRules`] are what decoders
//! maximise. Features are hashes throughout.

mod objectives;
pub mod pass;
pub mod templates;
pub mod tokens;
pub mod train;
pub mod weights;

/// The version of the feature templates. Model files store it, because weights mean nothing under
/// other templates: increase it with every change of a template or of its number.
pub const TEMPLATE_VERSION: u32 = 1;

pub use objectives::{CrfRules, CrfTrees};
pub use pass::CrfPass;
pub use tokens::{TokenAttributes, Vocabulary};
pub use train::{Example, Steps, Trainer, TrainingError};
pub use weights::{CrfModel, FeatureLabels, Loss, Weights};
