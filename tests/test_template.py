"""The cases of tests/cases/template.json and the laws of `Template` that they do not state."""

from __future__ import annotations

import itertools
import json
import pathlib
import string
import time

import pytest

from registry.exceptions import RenderError, TemplateError
from registry.template import MAX_DEPTH, MAX_OUTPUT, Template

CASES = json.loads((pathlib.Path(__file__).parent / "cases" / "template.json").read_text("utf-8"))


def text_of(parts):
    if isinstance(parts, str):
        return parts
    return "".join(p if isinstance(p, str) else p["repeat"][0] * p["repeat"][1] for p in parts)


def value_of(value):
    if isinstance(value, dict):
        if "$pow" in value:
            return value["$pow"][0] ** value["$pow"][1]
        if "$float" in value:
            return float(value["$float"])
        return {key: value_of(item) for key, item in value.items()}
    return [value_of(item) for item in value] if isinstance(value, list) else value


def outcome(case):
    options = {"missing": case["missing"]} if "missing" in case else {}
    try:
        template = Template(text_of(case["template"]))
        if "variables" in case:
            assert tuple(case["variables"]) == template.variables
        if "values" not in case:
            return None
        return template.render(value_of(case["values"]), **options)
    except (TemplateError, RenderError) as error:
        return error


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_case(case):
    """Every case of the shared data has the outcome that it states."""
    started = time.perf_counter()
    found = outcome(case)
    assert time.perf_counter() - started < case.get("max_seconds", 60)
    if "error" not in case:
        if "renders" in case:
            assert text_of(case["renders"]) == found
        elif "renders_json" in case:
            assert case["renders_json"] == json.loads(found)
        else:
            assert found is None
        return
    codes = case["error"] if isinstance(case["error"], list) else [case["error"]]
    assert found.code in codes
    for field in ("line", "column"):
        if field in case:
            assert case[field] == getattr(found, field)
    if "names" in case:
        assert set(case["names"]) == set(found.names)
