"""imode on many machines, by engines that others wrote: `integrations.ray`, `integrations.dask`."""
