"""Measuring what findings cost: experiments, the worker that runs them, evidence and its report."""
