//! TODO model_file
