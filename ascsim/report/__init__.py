"""Readers of what a launch left behind."""

from .table import Report

__all__ = ["Report"]
