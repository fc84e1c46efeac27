"""The result of an analysis: one frozen record, and renderers that read only that."""
