//! TODO clean
