"""Hidden Markov models and the part-of-speech tagger."""
