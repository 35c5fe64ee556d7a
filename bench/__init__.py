"""Speed, measured beside floors and peers in one run, and printed as ratios: ``python -m bench``."""
