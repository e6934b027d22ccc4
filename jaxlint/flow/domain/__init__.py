"""What is known of a value: the abstract domain of the analysis."""
