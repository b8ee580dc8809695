"""The one pass over a file.

An abstract interpreter, as a chain of classes with one job each, of which every one builds on the one before: base,
evidence, instances, attributes, narrowing, gates, conditions, operators, elements, expressions, own_calls, decorators,
containers, tensors, modules, methods, externals, managers, calls, bindings, definitions, statements, interpreter.
"""
