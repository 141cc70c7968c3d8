"""Weftline: the open control plane and digital twin of GPU-training fabrics."""

__version__ = "0.1.0"
