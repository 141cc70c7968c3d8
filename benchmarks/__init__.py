"""What Weftline is measured by; ``make bench`` runs it. No test depends on a time."""
