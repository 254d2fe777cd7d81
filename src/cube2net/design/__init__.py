"""Which dimensions suit a corpus."""
