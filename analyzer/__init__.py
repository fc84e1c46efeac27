"""What an app means: from bytes to an encoded problem, and from facts to findings."""
