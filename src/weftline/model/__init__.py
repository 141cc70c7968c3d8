"""The nouns: frozen values, one per file."""
