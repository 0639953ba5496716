//! Trees weighed by features of the words at the borders of their spans (Hall et al. 2014).
//!
//! A grammar prunes; what is left is weighed anew by a linear model. [`tokens`] has what features
//! see of a word, [`templates`] the features, [`weights`] their weights, [`pass`] sums over trees,
//! and [`train`] learns weights from a treebank. Features are [`hash`]es throughout.

pub mod hash;
pub mod pass;
pub mod templates;
pub mod tokens;
pub mod train;
pub mod weights;

pub use pass::SurfacePass;
pub use tokens::{Surface, Vocabulary};
pub use train::{Example, Steps, Trainer, TrainingError};
pub use weights::{FeatureLabels, Loss, SurfaceModel, Weights};
