"""Functions and classes that this repository's own recipients.toml calls."""
