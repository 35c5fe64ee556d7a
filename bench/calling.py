"""A validated call: the dispatcher beside the least that such a call must do, and beside agent frameworks."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import jsonschema_rs

import registry
from bench.measure import interleaved, rows, show

if TYPE_CHECKING:
    from collections.abc import Callable

ARGUMENTS = '{"a": 1, "b": 2}'
FILE = """
version = 1
[recipients.add]
kind = "function"
description = "Add two numbers."
call = "bench.calling:add"
required_args = ["a", "b"]
timeout = 10
parameters = { a = { type = "integer" }, b = { type = "integer" } }
"""


async def add(a: int, b: int) -> int:
    return a + b


def floor() -> Callable[[], Any]:
    schema = registry.thaw(registry.loads(FILE)["add"].INPUT_SCHEMA)
    validator = jsonschema_rs.validator_for(schema)

    async def call() -> int:
        arguments = json.loads(ARGUMENTS)
        validator.validate(arguments)
        return await add(**arguments)

    return call


def ours() -> Callable[[], Any]:
    dispatcher = registry.Dispatcher(registry.loads(FILE))
    message = {"recipient": "add", "arguments": ARGUMENTS, "id": "1"}
    return lambda: dispatcher.adispatch(message)


def langchain() -> Callable[[], Any]:
    from langchain_core.tools import StructuredTool

    tool = StructuredTool.from_function(coroutine=add, name="add", description="Add two numbers.")
    return lambda: tool.ainvoke(json.loads(ARGUMENTS))


def pydantic_ai() -> Callable[[], Any]:
    from pydantic_ai import RunContext
    from pydantic_ai.messages import ToolCallPart
    from pydantic_ai.models.test import TestModel
    from pydantic_ai.tool_manager import ToolManager
    from pydantic_ai.toolsets import FunctionToolset
    from pydantic_ai.usage import RunUsage

    context = RunContext(deps=None, model=TestModel(), usage=RunUsage(), prompt=None, run_step=1)
    manager: list[Any] = []

    async def call() -> Any:
        if not manager:
            manager.append(await ToolManager(FunctionToolset([add])).for_run_step(context))
        return await manager[0].handle_call(ToolCallPart("add", ARGUMENTS, tool_call_id="1"))

    return call


def run() -> None:
    makers = {
        "json.loads + jsonschema-rs + await": floor,
        "Dispatcher.adispatch": ours,
        "langchain-core ainvoke": langchain,
        "pydantic-ai ToolManager": pydantic_ai,
    }
    loop = asyncio.new_event_loop()
    cases: dict[str, Callable[[], Any]] = {}
    for name, maker in makers.items():
        try:
            call = maker()
        except ImportError as error:
            print(f"{name}: {error}")
            continue
        cases[name] = lambda call=call: loop.run_until_complete(_many(call))
    medians = {name: value / _TIMES for name, value in interleaved(cases).items()}
    bars = {"Dispatcher.adispatch": "<= 4; >= 20 x faster than langchain-core; faster than pydantic-ai"}
    show("A validated call", rows(medians, "json.loads + jsonschema-rs + await", bars))
    loop.close()


#: Calls inside one run of the loop, so that starting the loop does not count.
_TIMES = 500


async def _many(call: Callable[[], Any]) -> None:
    for _ in range(_TIMES):
        await call()
