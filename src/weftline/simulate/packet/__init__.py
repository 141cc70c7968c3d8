"""Packets on a fabric: queues, credits, pauses, marks and losses, event by event."""
