//! The integration tests as one program, which is compiled and linked much faster than one for each
//! file. `module_dependencies.rs` checks that all files are declared here.

mod aggregate_bigram;
mod brute_force;
mod chart_cache;
mod crf;
mod crf_latent;
mod em;
mod hmm;
mod latent;
mod members;
mod memory;
mod module_dependencies;
mod neural;
mod simplex;
mod span_decoder;
mod support;
