"""Sequence models: hidden Markov models, spectral HMMs and the part-of-speech tagger."""
