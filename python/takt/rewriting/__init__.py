"""Networks for Takt's own kernels: rewriter.py, and its parts."""
