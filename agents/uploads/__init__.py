"""Archives of code, read and unpacked with care. The hub and the nodes keep to the same rules."""
