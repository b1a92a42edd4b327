"""Work on many machines: `connect` opens a cluster, an `Executor` whose workers belong to Dask."""
