"""The hot loops: arrays in, arrays out, nothing else."""
