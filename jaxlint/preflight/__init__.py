"""The checklist for long loops over sequences and video, answered with evidence."""
