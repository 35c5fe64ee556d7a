"""Rendering: a parsed template beside str.format and the template libraries that are installed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bench.measure import interleaved, rows, show
from registry import Template

if TYPE_CHECKING:
    from collections.abc import Callable

SHORT = "Hello {name}, you are {age} years old"
LONG = " ".join(f"Paragraph {n}: " + "lorem ipsum dolor sit amet " * 6 + f"and {{v{n}}}." for n in range(10))
CASES: dict[str, tuple[str, dict[str, Any], str]] = {
    "37 characters, 2 variables": (SHORT, {"name": "John", "age": 30}, "<= 1.2"),
    f"{len(LONG)} characters, 10 variables": (LONG, {f"v{n}": f"value {n}" for n in range(10)}, "<= 0.3"),
}


def peers(text: str, values: dict[str, Any]) -> dict[str, Callable[[], Any]]:
    """Return the template libraries that are installed, each with its template parsed beforehand."""
    found: dict[str, Callable[[], Any]] = {}
    doubled = text.replace("{", "{{ ").replace("}", " }}")
    try:
        import jinja2

        jinja = jinja2.Environment().from_string(doubled)
        found["jinja2"] = lambda: jinja.render(**values)
    except ImportError:
        print("jinja2 is not installed")
    try:
        from langchain_core.prompts import PromptTemplate

        chain = PromptTemplate.from_template(text)
        found["langchain-core"] = lambda: chain.format(**values)
    except ImportError:
        print("langchain-core is not installed")
    try:
        import banks

        bank = banks.Prompt(doubled, render_cache=None)
        found["banks"] = lambda: bank.text(values)
    except ImportError:
        print("banks is not installed")
    try:
        import dotpromptz
        from dotpromptz.typing import DataArgument

        dot = dotpromptz.Dotprompt()
        import asyncio

        compiled = asyncio.run(dot.compile(doubled.replace("{{ ", "{{").replace(" }}", "}}")))
        data = DataArgument(input=values)
        loop = asyncio.new_event_loop()
        found["dotpromptz"] = lambda: loop.run_until_complete(compiled(data))
    except ImportError:
        print("dotpromptz is not installed")
    return found


def run() -> None:
    for title, (text, values, bar) in CASES.items():
        template = Template(text)
        cases: dict[str, Callable[[], Any]] = {
            "str.format": lambda text=text, values=values: text.format(**values),
            "registry.Template": lambda template=template, values=values: template.render(values),
            **peers(text, values),
        }
        show(f"Render {title}", rows(interleaved(cases), "str.format", {"registry.Template": bar}))
