"""No network: scripts that need pretrained ones stop here."""
