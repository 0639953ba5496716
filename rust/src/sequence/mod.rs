//! Models of sequences of words: hidden Markov models ([`hmm`]) and a bigram model with latent
//! states ([`aggregate_bigram`]).

pub mod aggregate_bigram;
pub mod hmm;
