"""Help for tests of kernels: the pytest plugin `ascsim.testing.plugin`."""
