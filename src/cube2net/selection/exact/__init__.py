"""How good a selection can be: the best one with a proof, and bounds that are found much faster."""
