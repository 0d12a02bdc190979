"""The memory as a server of the Model Context Protocol: tools, resources, prompts.

Only `server` and `pipes` know the SDK, which `memcli mcp` alone loads.
"""
