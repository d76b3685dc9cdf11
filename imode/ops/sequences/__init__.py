"""Networks over sequences: attention, recurrent layers."""
