"""What is known about torch and the libraries around it, as data.

`names` says what calls give: which make tensors, which read them, which keep a graph. `arrays` says the same of NumPy.
`waits` says which calls make the host wait, and `costs` what the repair of each rule gains; both are generated from
measurements (`waits_table`, `costs_table`). Rules and the semantic model look things up here; nothing here looks at
code.
"""
