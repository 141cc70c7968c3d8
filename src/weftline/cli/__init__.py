"""The command line: thin, late to import, with one door for failures."""
