"""Recipients for the tests of calls: declared ones made of a coroutine function."""

import types

from registry.frozen import freeze
from registry.kinds.declared import Declared
from registry.messages import Outcome
from registry.specs import FunctionOptions, RecipientSpec

OPEN = {"type": "object", "additionalProperties": True}


def declared(acall, name="tool", schema=None, *, options=None, **spec):
    """Return a declared recipient class that calls ``acall(arguments)``; a text is made an outcome."""

    class Stub(Declared):
        async def acall(self, arguments):
            answer = await acall(arguments)
            return Outcome(answer) if isinstance(answer, str) else answer

    return types.new_class(
        name,
        (Stub,),
        {
            "spec": RecipientSpec(
                name=name,
                kind="function",
                description="A stub.",
                options=options or FunctionOptions("a:b"),
                input_schema=freeze(OPEN if schema is None else schema),
                **spec,
            )
        },
    )


async def echo(arguments):
    """Answer with the arguments."""
    return ",".join(f"{name}={value}" for name, value in sorted(arguments.items()))
