"""The memory as a server of the Model Context Protocol: tools, resources, prompts.

Only `server` and `pipes` import the SDK, and only `memcli mcp` loads it.
"""
