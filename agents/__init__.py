"""What is installed on a node. Installed, this package is called ``regroup_agent``."""
