"""Language-model tools and prompt templates declared in TOML, checked like code."""
