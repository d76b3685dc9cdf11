"""Write the type stubs (`.pyi`) of the built package from its operator table."""
