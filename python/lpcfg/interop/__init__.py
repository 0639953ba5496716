"""Other libraries: parses and scores as pandas tables, and a component of spaCy pipelines."""
