"""The ``command`` kind: one program, started without a shell."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING, Any, ClassVar

import attrs

from registry.cutting import cut
from registry.exceptions import RecipientFailed
from registry.kinds.declared import Declared
from registry.messages import Outcome
from registry.redaction import hide, variables_of

if TYPE_CHECKING:
    from registry.processes import Ended, Program
    from registry.specs import CommandOptions

#: Bytes of each stream that are kept where the declaration has no ``max_output``.
MOST = 65_536
#: All that a program sees of the environment, besides what its declaration gives it.
INHERITED = ("PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR", "SYSTEMROOT")


@attrs.define(slots=False, eq=False)
class CommandRecipient(Declared):
    """Starts the program in the registry's folder and returns what it prints.

    A placeholder never becomes more than one argument, and an element of ``argv`` whose argument is absent is
    left out. Whether a value may start with ``-`` is for the author to decide: put ``--`` before it, or write
    ``--name={value}``, where the program could take it for an option.
    """

    #: It ends the program itself and tells what it printed until then, and it cuts output while it is read.
    KEEPS_LIMITS: ClassVar[bool] = True

    async def acall(self, arguments: dict[str, Any]) -> Outcome:
        """Run the program of a call.

        Raises:
            MissingSecret: an environment variable that it needs is unset.
            RecipientFailed: it cannot be started.
        """
        from registry.processes import run

        most = self.SPEC.max_output or MOST
        variables = variables_of(type(self))
        ended = await run(
            self._program(arguments),
            seconds=self.SPEC.timeout,
            most=most,
            hide=lambda text: hide(text, variables),
        )
        outcome = self._outcome(ended)
        text, _ = cut(outcome.text, most)
        return attrs.evolve(outcome, text=text)

    def _program(self, arguments: dict[str, Any]) -> Program:
        from registry.placeholders import Absent, Filler
        from registry.processes import Program

        options: CommandOptions = self.SPEC.options  # type: ignore[assignment]
        filler = Filler.of(arguments, self.INPUT_SCHEMA)
        where = f"recipients.{self.RECIPIENT_NAME}"
        if filler.names(options.argv[0]):
            raise RecipientFailed(f"{where}.argv.0: which program is started cannot come from an argument")
        argv = []
        for index, text in enumerate(options.argv):
            try:
                argv.append(filler.text(text, f"{where}.argv.{index}"))
            except Absent:
                continue
        env = {name: os.environ[name] for name in INHERITED if name in os.environ}
        for name, text in options.env.items():
            env[name] = filler.needed(text, f"{where}.env.{name}")
        stdin = None if options.stdin is None else filler.needed(options.stdin, f"{where}.stdin")
        try:
            return Program(argv, env, self.FOLDER, None if stdin is None else stdin.encode())
        except UnicodeEncodeError:
            raise RecipientFailed(
                f"{where}.stdin: a value has a lone surrogate, which cannot be sent"
            ) from None

    def _outcome(self, ended: Ended) -> Outcome:
        metadata: dict[str, Any] = {"exit_code": ended.code}
        if ended.cut:
            metadata |= {"truncated": True, "written_bytes": ended.written}
        if ended.code == 0:
            return Outcome(
                ended.stdout, metadata={**metadata, "stderr": ended.stderr} if ended.stderr else metadata
            )
        status, note = "error", f"[exit code {ended.code}]"
        if ended.code is None:
            status, note = "timeout", f"[stopped: not finished within {self.SPEC.timeout:g} seconds]"
        elif ended.code < 0:
            metadata["signal"] = _signal_name(-ended.code)
            note = f"[ended by {metadata['signal']}]"
        said = [text.removesuffix("\n") for text in (ended.stdout, ended.stderr) if text]
        return Outcome("\n".join([*said, note]), status, metadata)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
