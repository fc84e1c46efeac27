"""What kernels ask of the machine, once for each machine that they are built for."""
