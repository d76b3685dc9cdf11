"""Compiled kernels of networks over sequences."""
