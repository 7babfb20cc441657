"""The daemon of a node: it starts and adopts runners, ships what they record, and carries out commands.

It imports no torch. It may be killed between any two lines: the runners go on, and the next
daemon on the same data folder finds everything it needs on the disk.
"""
