//! TODO transform
