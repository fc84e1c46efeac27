"""Engines that solve an encoded problem. This package needs NumPy and Numba only and knows nothing of Android."""
