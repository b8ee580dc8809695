"""From a path to a tree: finding files, decoding them as Python does, parsing, places, and directives in comments."""
