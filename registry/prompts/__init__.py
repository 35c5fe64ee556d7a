"""Prompts: the original role prompts, and those that files declare."""
