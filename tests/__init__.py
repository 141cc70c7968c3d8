"""The suite; a package, so that tests may share the slow twins and the builders of small fabrics."""
