//! Words as the lexicon sees them: the emissions of known words, and classes of rare and unknown
//! ones.
//!
//! [`characters`] has the kinds of characters that the shape of a word is made of, and [`classes`]
//! the classes of words. [`ClassTree`] has all classes that could be learnt from given words.
//! [`Encoder`] maps the words of sentences to the numbers of their emissions.

pub mod characters;
pub mod classes;
mod encoder;
mod english;
mod learnt;

pub use encoder::{Encoder, Problem, known_in_lowercase};
pub use learnt::{ClassTree, Features, LearntClasses, add_to_parents};
