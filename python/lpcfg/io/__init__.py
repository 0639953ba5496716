"""Model files: what is stored in them, and how models are saved and loaded."""
