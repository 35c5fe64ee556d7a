#!/usr/bin/env bash
# Runs the official conformance suite and the inspector against this repository's server: see README.md.
set -euo pipefail
cd "$(dirname "$0")"
exec "${PYTHON:-python3}" run.py "$@"
