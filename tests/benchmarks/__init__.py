"""Measurements that are run by hand; pytest collects nothing here."""
