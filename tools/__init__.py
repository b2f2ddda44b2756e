"""What authors run: makers of committed files, and the proofs that tests ask for. Nothing here is shipped."""
