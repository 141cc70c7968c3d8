"""The report: one HTML file that needs nothing else, made of our own SVG."""
