"""CUDA engines: the GDroid paper's ladder, a rung per module, and the production engine.

Kernels are written once, against a small platform (`gpu.cuda.platform`), and built three times: for a device, for
Numba's simulator, and for one CPU thread, which is how most tests run them. Nothing here has run on hardware yet.
"""
