# refused: the attribute gi_frame is never allowed
import dataclasses
import typing


@dataclasses.dataclass
class Protocol(typing.Protocol):
    gi_frame: object


@typing.runtime_checkable
class Anything(Protocol, typing.Protocol):
    pass


def flagged(x):
    match (row for row in x):
        case Anything(frame):
            return frame.f_back
