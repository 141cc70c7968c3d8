"""What the files of switches do to tenants: where ports belong, where packets can go, what edges let in."""
