"""What is known about torch and the libraries around it, as data.

`names` says what calls give: which make tensors, which read them, which keep a graph. `waits` says which calls make the
host wait, generated from measurements. Rules and the semantic model look things up here; nothing here looks at code.
"""
