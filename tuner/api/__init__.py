"""The public Python interface; `import tuner` offers its names."""
