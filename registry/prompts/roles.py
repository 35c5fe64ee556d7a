"""The original role-prompt classes: a template, with or without a role.

A missing value prints nothing and an unknown one is ignored, as ever; what the template says is checked when
it is constructed. Any name may be a variable, also ``format``, ``self``, ``prompt`` and ``role``.
"""

from __future__ import annotations

from typing import Any

import attrs

from registry.exceptions import TemplateError
from registry.suggest import nearest
from registry.template import Template

#: Who may speak in a prompt.
ROLES = ("system", "developer", "user", "assistant", "tool")


def _parsed(prompt: BasePrompt) -> Template:
    return Template(prompt.prompt)


@attrs.frozen
class BasePrompt:
    """A template.

    Raises:
        TemplateError: The text is no template.
    """

    prompt: str
    _template: Template = attrs.field(
        init=False, eq=False, repr=False, default=attrs.Factory(_parsed, takes_self=True)
    )

    def format_prompt(self, /, **kwargs: Any) -> str:
        """Return the text with the values put in; what is missing prints nothing.

        Raises:
            RenderError: A value cannot be printed as the template asks.
        """
        return self._template.render(kwargs, missing="empty")

    def get_input_variables(self) -> list[str]:
        """Return the names of the variables, each once, in the order of their first use."""
        return list(self._template.variables)


def _known_role(_prompt: object, _field: object, role: str) -> None:
    if role not in ROLES:
        near = nearest(str(role), ROLES)
        hint = f"did you mean {near!r}?" if near else f"use one of: {', '.join(ROLES)}"
        raise TemplateError("unknown-role", f"{role!r} is no role", 1, 1, hint)


@attrs.frozen
class RolePrompt(BasePrompt):
    """A template for a message of a role.

    Raises:
        TemplateError: The text is no template, or the role is unknown (``unknown-role``).
    """

    role: str = attrs.field(validator=_known_role)

    def create_message(self, format: bool = True, /, **kwargs: Any) -> dict[str, Any]:  # noqa: A002  # as ever
        """Return ``{"role", "content"}`` with the values put in.

        ``format=False`` sends the template as it is; for a template that has a variable of that name, it is
        the variable's value.

        Raises:
            RenderError: A value cannot be printed as the template asks.
        """
        if "format" in kwargs and "format" not in self._template.variables:
            format = kwargs["format"] is not False  # noqa: A001
        return {"role": self.role, "content": self.format_prompt(**kwargs) if format else self.prompt}


@attrs.frozen
class SystemRolePrompt(RolePrompt):
    """A template for a message of the role ``system``."""

    role: str = attrs.field(init=False, default="system")


@attrs.frozen
class UserRolePrompt(RolePrompt):
    """A template for a message of the role ``user``."""

    role: str = attrs.field(init=False, default="user")


@attrs.frozen
class AssistantRolePrompt(RolePrompt):
    """A template for a message of the role ``assistant``."""

    role: str = attrs.field(init=False, default="assistant")
