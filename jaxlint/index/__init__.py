"""What a project defines, by name: small records built from `ast`, kept on disk, joined into a table."""
