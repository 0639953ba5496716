//! A neural parser: a classifier of spans over a recurrent encoder (del Canto 2021, part 2; Stern et
//! al. 2017), trained with a structured loss.
//!
//! [`vocabulary`] turns words into numbers and [`batch`] puts sentences side by side. [`encoder`]
//! reads them in both directions ([`bidirectional`], [`lstm`]) and predicts tags. [`spans`] scores
//! the labels of all spans. [`loss`] compares these scores with a tree, by inside-outside over all
//! trees or span by span, and [`example`] collects the gradients of all parameters, whose places are
//! in [`parameters`]. [`train`] takes the steps of [`adam`]. [`model`] parses, `nodes` writes
//! trees, `k_best` finds several, and `unfinished` gives a tree when the time of a sentence is up.
//!
//! [`matrix`], [`product`], [`activations`], [`packing`], [`random`] and [`dropout`] are the tools. Every gradient
//! is written by hand; `tests/neural.rs` compares each with finite differences.

pub mod activations;
pub mod adam;
pub mod batch;
pub mod bidirectional;
pub mod dropout;
pub mod encoder;
pub mod example;
mod k_best;
pub mod loss;
pub mod lstm;
pub mod matrix;
pub mod model;
mod nodes;
pub mod packing;
pub mod parameters;
pub mod product;
pub mod random;
mod rows;
pub mod spans;
pub mod train;
mod unfinished;
pub mod vocabulary;

pub use dropout::DropoutRates;
pub use encoder::Network;
pub use example::{Example, Objective};
pub use loss::{LabelPlaces, Loss};
pub use model::{Model, Request, SentenceWords};
pub use parameters::Shape;
pub use train::{Epoch, Trainer};
pub use vocabulary::Vocabulary;
