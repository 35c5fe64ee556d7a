"""The original role-prompt classes."""

from __future__ import annotations

import attrs
import pytest

from registry.exceptions import RenderError, TemplateError
from registry.prompts.roles import (
    AssistantRolePrompt,
    BasePrompt,
    RolePrompt,
    SystemRolePrompt,
    UserRolePrompt,
)


def test_messages_have_role_and_content():
    """Each class makes a message of its role, with the values put in."""
    classes = {"system": SystemRolePrompt, "user": UserRolePrompt, "assistant": AssistantRolePrompt}
    for role, made in classes.items():
        assert made("Hi {name}").create_message(name="Ada") == {"role": role, "content": "Hi Ada"}
        assert made(prompt="Hi {name}").role == role
    assert RolePrompt("x", "developer").create_message() == {"role": "developer", "content": "x"}


def test_missing_prints_nothing_and_extra_is_ignored():
    """The behaviour of the original is kept."""
    assert BasePrompt("[{a}|{b}]").format_prompt(a=1, zz=2) == "[1|]"


def test_variables_are_listed_once():
    """The variables come in the order of first use, as a new list each time."""
    prompt = BasePrompt('{b} {a} {b} {"k": 1} {{c}}')
    assert prompt.get_input_variables() == ["b", "a"]
    assert prompt.get_input_variables() is not prompt.get_input_variables()


def test_any_name_is_a_variable():
    """Names of parameters are names like any other."""
    text = "{format} {self} {prompt} {role} {kwargs}"
    values = {"format": "F", "self": "S", "prompt": "P", "role": "R", "kwargs": "K"}
    assert BasePrompt(text).format_prompt(**values) == "F S P R K"
    assert UserRolePrompt(text).create_message(**values)["content"] == "F S P R K"


def test_an_empty_variable_called_format_does_not_switch_rendering_off():
    """A variable called format may have any value, also a falsy one."""
    assert UserRolePrompt("{format}Hi {n}").create_message(format="", n="Ada")["content"] == "Hi Ada"
    assert UserRolePrompt("Hi {n}").create_message(format="", n="Ada")["content"] == "Hi Ada"
    assert UserRolePrompt("{format}").create_message(format=False)["content"] == "False"


def test_format_false_sends_the_template():
    """Rendering is switched off by the flag, given by place or by name."""
    prompt = UserRolePrompt("Hi {n}")
    assert prompt.create_message(False)["content"] == "Hi {n}"
    assert prompt.create_message(format=False, n=1)["content"] == "Hi {n}"
    assert prompt.create_message(format=True, n=1)["content"] == "Hi 1"


def test_a_faulty_template_fails_at_construction():
    """A template that reaches into a value is refused before any value is there."""
    with pytest.raises(TemplateError) as caught:
        UserRolePrompt("{user} {user.password}")
    assert caught.value.code == "attribute-access"


@pytest.mark.parametrize(
    ("role", "hint"), [("wizard", "use one of: system"), ("asistant", "'assistant'"), (3, "")]
)
def test_an_unknown_role_is_refused(role, hint):
    """Roles are a closed list; the nearest one is suggested."""
    with pytest.raises(TemplateError) as caught:
        RolePrompt("x", role)
    assert caught.value.code == "unknown-role"
    assert hint in str(caught.value)


def test_unprintable_values_are_errors():
    """A value that cannot be sent is an error with its name, as everywhere."""
    with pytest.raises(RenderError) as caught:
        UserRolePrompt("{v}").create_message(v="\ud800")
    assert caught.value.names == ("v",)


def test_frozen_and_equal_by_content():
    """A role prompt never changes and is a value."""
    prompt = UserRolePrompt("x")
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        prompt.prompt = "y"
    assert len({prompt, UserRolePrompt("x"), RolePrompt("x", "user")}) == 2
    assert repr(prompt) == "UserRolePrompt(prompt='x', role='user')"
