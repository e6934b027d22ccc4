"""What the syntax alone says, looked up where a run does not tell."""
