"""Views: the JSON of each noun, the same for the command line, files and the web."""
