//! Models of sequences: hidden Markov models with the forward, backward, Viterbi and Baum-Welch
//! algorithms ([`hmm`]), and the aggregate bigram model, which has latent states (Saul & Pereira
//! 1997, [`aggregate_bigram`]).

pub mod aggregate_bigram;
pub mod hmm;
