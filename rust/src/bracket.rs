//! TODO bracket
