"""From a file to a snapshot, stage by stage: start reading at `loader`."""
