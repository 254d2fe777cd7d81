"""Networks as files, graphs of other libraries, tensors and text."""
