"""Running text: sentences and tokens with character offsets, and the spellings of treebanks."""
