//! The core of `lpcfg`: everything that runs once per chart cell or per tree node.
//!
//! # Source layout
//!
//! **A treebank is read.** [`treebank`] parses bracketed text into a forest, cleans it, and
//! binarises, markovises and collapses it into the table of nodes that estimators count.
//!
//! **A model is learnt.** Most estimators are written in Python and call the core for their inner
//! loops: [`em`] computes expectations over the latent states of given trees, [`numeric::simplex`]
//! solves the least-squares problems of the pivot method, and [`crf`] trains a conditional random
//! field over anchored rules.
//!
//! **Words are looked up.** A [`lexicon`] numbers known words, and the classes of rare and unknown
//! ones, which are made of the kinds of their characters.
//!
//! **A sentence is parsed.** A [`grammar`] holds validated rules, the emissions of the lexicon, the
//! coarse projection and the parameters over latent states. A [`span_filter`] closes spans by
//! features of the words at their borders. The passes of [`chart`] (coarse, PCFG,
//! latent) fill and prune charts by inside-outside; the pass of [`crf`] scores the remaining items
//! by features of the words. [`decode`] finds the best trees of a chart. [`parser`] runs all of
//! these in turn, for one grammar or an ensemble, and falls back where no tree spans the sentence.
//! [`span_decoder`] finds trees from scores of labelled spans alone, without a grammar; by it
//! [`coverage`] combines what several parsers say of labelled spans. [`neural`]
//! learns such scores: a recurrent network reads the words, and a classifier labels spans.
//!
//! **Candidates are reranked.** [`rerank`] extracts the features in which the candidate trees of a
//! sentence differ.
//!
//! **Sequences are modelled.** [`sequence`] has hidden Markov models and the aggregate bigram
//! model.
//!
//! **A model is stored.** [`model_file`] stores named arrays and a JSON document in one file.
//!
//! Everything rests on [`numeric`] (vectors, tensors, scaled numbers, stable hashes, SIMD dispatch)
//! and on [`cancel`], the flag by which a caller stops a long computation.
//!
//! # What may depend on what
//!
//! A module may use the modules named beside it and no others. `tests/module_dependencies.rs` reads
//! this table and checks it against the source and for cycles. Training the CRF needs charts that
//! keep the gold tree: [`parser`], which is above [`crf`], fills them and hands them to the
//! trainer.
//!
//! | module | uses |
//! |---|---|
//! | `cancel` | |
//! | `model_file` | `cancel` |
//! | `numeric` | `cancel` |
//! | `treebank` | `cancel` |
//! | `rerank` | `cancel`, `numeric`, `treebank` |
//! | `sequence` | `cancel`, `numeric` |
//! | `em` | `cancel`, `numeric`, `treebank` |
//! | `grammar` | `cancel`, `numeric`, `treebank` |
//! | `lexicon` | `cancel`, `treebank` |
//! | `chart` | `cancel`, `grammar`, `numeric` |
//! | `span_decoder` | `cancel`, `chart`, `numeric` |
//! | `coverage` | `cancel`, `span_decoder` |
//! | `span_filter` | `cancel`, `chart`, `grammar`, `numeric` |
//! | `decode` | `cancel`, `chart`, `grammar`, `numeric` |
//! | `crf` | `cancel`, `chart`, `decode`, `grammar`, `lexicon`, `numeric` |
//! | `parser` | `cancel`, `chart`, `crf`, `decode`, `grammar`, `span_filter` |
//! | `neural` | `cancel`, `chart`, `numeric`, `parser`, `span_decoder` |
//!
//! The module `python` is the border to Python, compiled only with the feature of that name; no
//! other module refers to it. Functions here take and return flat arrays.

pub mod cancel;
pub mod chart;
pub mod coverage;
pub mod crf;
pub mod decode;
pub mod em;
pub mod grammar;
pub mod lexicon;
pub mod model_file;
pub mod neural;
pub mod numeric;
pub mod parser;
pub mod rerank;
pub mod sequence;
pub mod span_decoder;
pub mod span_filter;
pub mod treebank;

#[cfg(feature = "python")]
mod python;
