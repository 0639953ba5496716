//! TODO forest
