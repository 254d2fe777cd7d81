"""Methods that choose cells, and objectives."""
