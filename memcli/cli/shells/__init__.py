"""Completion scripts of bash, zsh and fish, written from the commands and options.

Names and fixed words stand in the script, so TAB costs no process; documents and sources are
asked for (`completion_words`). A name from a folder is never expanded: it may hold `$(…)`.
"""
