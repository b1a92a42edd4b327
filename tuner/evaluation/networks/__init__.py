"""Small networks as evaluations: NumPy, compiled code, files, and learning from whole games that
compiled code plays."""
