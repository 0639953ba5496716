"""Learn latent-variable PCFGs from treebanks and parse with them."""
