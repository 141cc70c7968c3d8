"""Local identifiers (LIDs) of InfiniBand ports: numbers of 16 bits, and which of them name one port."""

from __future__ import annotations

MAX_LID = 0xFFFF
MAX_UNICAST = 0xBFFF
"""Unicast LIDs are 0x0001 to 0xBFFF, switches included. IBTA vol 1, 4.1.3."""
PERMISSIVE = 0xFFFF
"""What a port says before a subnet manager has given it a LID. IBTA vol 1, 4.1.3."""
