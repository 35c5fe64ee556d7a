"""What `registry.dispatch` is made of: each step of a call, and what is kept for each recipient."""
