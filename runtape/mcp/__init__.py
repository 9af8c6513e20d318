"""The MCP server: an agent looks at recorded runs and asks why, over the Model Context Protocol."""
