"""Conditions: whose truth is taken, and what that asks of the parameters of a function."""

from __future__ import annotations

import libcst as cst

from torchlint.semantics.contexts import Asked, Context, Scope
from torchlint.semantics.functions import OF_TENSOR
from torchlint.semantics.names import dotted, identifier
from torchlint.semantics.reading.gates import GateReader, combine
from torchlint.semantics.reading.narrowing import unnegated
from torchlint.semantics.values import NUMBER, Gate, Value


class ConditionReader(GateReader):
    """Evaluates conditions."""

    def condition(self, node: cst.BaseExpression, how: str) -> Value:
        """Evaluate an expression whose truth decides; each part whose truth is taken is a site."""
        if type(node) is cst.BooleanOperation:
            left = self.condition(node.left, how)
            before, saved = self.frame.env, self.context
            self.frame.env = before.copy()
            both = type(node.operator) is cst.And
            self.narrow(node.left, both)
            gate, asks = self.gates_of_test(node.left, left)[0 if both else 1], self.asks_of(node.left, both)
            if gate is not Gate.NONE or asks:
                # `step % n == 0 and bad`: the right side is evaluated only where the left lets it.
                self.context = Context(
                    Scope.BRANCH, node, saved, gate=gate, test=node.left, negated=not both, asks=asks
                )
            right = self.condition(node.right, how)
            self.context = saved
            walrus = {k: v for k, v in self.frame.env.items() if k not in before and k.isidentifier()}
            self.frame.env = before
            before.update(walrus)
            word = "and" if type(node.operator) is cst.And else "or"
            if word == "or" and _asks_of_interval(node):
                value = NUMBER.but(gates=left.gates)
            else:
                value = NUMBER.but(gates=combine(word, left.gates, right.gates))
        elif type(node) is cst.UnaryOperation and type(node.operator) is cst.Not:
            inner = self.condition(node.expression, how)
            gates = inner.gates
            value = NUMBER if gates is None else NUMBER.but(gates=(gates[1], gates[0]))
        else:
            value = self.eval(node)
            self.truth(node, value, how)
            return value
        if self.recording:
            self.model.values[node] = value
        return value

    def asks_of(self, test: cst.BaseExpression, truth: bool) -> Asked:
        """What must be true of the parameters of the function for a test to have that truth."""
        test, flipped = unnegated(test)
        truth ^= flipped
        if type(test) is cst.BooleanOperation and (type(test.operator) is cst.And) == truth:
            return self.asks_of(test.left, truth) | self.asks_of(test.right, truth)
        text = ""
        if type(test) is cst.Call and test.args and self.asks_whether_tensor(test):
            given = self.eval_quietly(test.args[0].value).ident
            parameters = self.frame.info.parameters
            if given is None or given >= len(parameters) or parameters[given].star:
                return frozenset()
            return frozenset({(given, truth, OF_TENSOR)})
        if type(test) is cst.Comparison and len(test.comparisons) == 1:
            operator, other = test.comparisons[0].operator, test.comparisons[0].comparator
            if type(other) is cst.SimpleString and isinstance(operator, (cst.Equal, cst.NotEqual)):
                test, text = test.left, str(other.raw_value)
                truth ^= type(operator) is cst.NotEqual
        value = self.frame.env.get(identifier(test.value)) if type(test) is cst.Name else None
        if value is None or value.ident is None or value.ident >= len(self.frame.info.parameters):
            return frozenset()
        parameter = self.frame.info.parameters[value.ident]
        asked = type(test) is cst.Name and parameter.name == identifier(test.value) and not parameter.star
        return frozenset({(parameter.index, truth, text)}) if asked else frozenset()


def _asks_of_interval(node: cst.BooleanOperation) -> bool:
    """Whether it is `step % interval == 0 or interval < 1`: the latter only asks what the interval is set to."""
    first, then = node.left, node.right
    if type(first) is not cst.Comparison or type(then) is not cst.Comparison:
        return False
    if type(first.left) is not cst.BinaryOperation or type(first.left.operator) is not cst.Modulo:
        return False
    interval = dotted(first.left.right)
    return interval is not None and interval == dotted(then.left)
