"""Many selections growing side by side: compiled for the CPU, in torch's operations, and as kernels for a GPU."""
