"""Recipients that call a Python function."""

import asyncio
import contextlib
import dataclasses
import datetime as dt
import decimal
import enum
import functools
import json
import pathlib
import sys
import threading
import typing
import uuid
from collections import abc

import attrs
import pytest

from registry import printing
from registry.converter import structure_argument, unstructure_result
from registry.exceptions import InvalidArguments, RecipientFailed
from registry.frozen import freeze
from registry.kinds.function import FunctionRecipient
from registry.loading.build import recipient_class
from registry.messages import Outcome
from registry.printing import Printing
from registry.recipient import Recipient
from registry.signatures import Signature
from registry.specs import FunctionOptions, RecipientSpec


def recipient(call, folder=None):
    spec = RecipientSpec("fn", "function", "Calls.", FunctionOptions(call), freeze({}))
    return recipient_class(spec, FunctionRecipient, folder)()


def outcome(call, arguments=None, folder=None):
    return asyncio.run(recipient(call, folder).acall(arguments or {}))


def call(name, **arguments):
    """Call a function of this module."""
    return outcome(f"{__name__}:{name}", arguments).text


# --- functions that the tests call


class Colour(enum.Enum):
    RED = "red"


@attrs.frozen
class Point:
    x: float
    label: str = ""


def typed(
    when: dt.datetime,
    path: pathlib.Path,
    colour: Colour,
    point: Point,
    mode: typing.Literal["a", "b"],
    n: int | None = 3,
) -> str:
    return f"{when:%Y} {path.name} {colour.name} {point} {mode} {n}"


def plain(x, y=2):
    return {"x": x, "y": y}


async def asynchronous(x):
    await asyncio.sleep(0)
    return f"async {x}"


def awaitable(x):
    return asynchronous(x)


def keywords(x, **more):
    return {"x": x, **more}


def positional(a, b=2, /, *, c=3):
    return [a, b, c]


def with_recipient(x, recipient):
    return f"{x} {recipient.RECIPIENT_NAME}"


def annotated_recipient(me: Recipient, x="d"):
    return f"{x} {me.RECIPIENT_NAME}"


def unresolvable(x: "Nowhere"):  # noqa: F821 - that is the point
    return x


def half_unresolvable(when: "dt.date", x: "Nowhere" = None):  # noqa: F821 - that is the point
    return f"{when!r} {x!r}"


def annotated_rest(x, **more: dt.date):
    return f"{x!r} {more!r}"


def dated(x, when: dt.date):
    return f"{x!r} {when!r}"


def decorated(function):
    @functools.wraps(function)
    def call(*args, **kwargs):
        return function(*args, **kwargs)

    return call


dated_decorated = decorated(dated)
dated_partial = functools.partial(functools.partial(dated), x=1)


def unsupported(x: complex):
    return x


def with_dash(first_name):
    return first_name


def fails(text):
    raise ValueError(text)


def ends():
    sys.exit(3)


async def ends_later():
    sys.exit(3)


def printing_function(text):
    print(text)  # noqa: T201 - what is printed is what is tested
    print("half", end="")  # noqa: T201 - what is printed is what is tested
    return threading.current_thread().name


STARTED, GO_ON, DONE = threading.Event(), threading.Event(), threading.Event()


def prints_late():
    STARTED.set()
    GO_ON.wait()
    print("late")  # noqa: T201 - what is printed is what is tested
    DONE.set()


class Dates(typing.NamedTuple):
    n: object
    when: object


def returns(what):
    cyclic = []
    cyclic.append(cyclic)
    deep = []
    for _ in range(100_000):
        deep = [deep]
    return {
        "none": None,
        "outcome": Outcome("own", "odd"),
        "attrs": Point(1.0),
        "date": dt.date(2024, 1, 2),
        "set": {"b", "a"},
        "mixed set": {"b", 1},
        "dates": Dates(1, dt.date(2024, 1, 2)),
        "keys": {1: {2}, None: Point(1.0)},
        "bytes": {"a": [b"x"]},
        "nan": float("nan"),
        "object": object(),
        "cyclic": cyclic,
        "deep": deep,
    }[what]


class Callable:
    def __call__(self, x: int):
        return x + 1


class Built:
    def __init__(self, x: int):
        self.x = x


class Bare:
    pass


class DatedCallable:
    def __call__(self, when: dt.date):
        return repr(when)


class InheritsCall(DatedCallable):
    pass


class InheritsInit(Built):
    pass


inherits_call = InheritsCall()


callable_object = Callable()
partial = functools.partial(plain, y=5)
not_callable = 3


# --- arguments


def test_arguments_are_structured_to_annotations():
    """Texts become dates, paths and members; tables become objects."""
    arguments = {
        "when": "2024-01-02T03:04:05Z",
        "path": "a/b",
        "colour": "red",
        "point": {"x": 1},
        "mode": "b",
    }
    assert call("typed", **arguments) == "2024 b RED Point(x=1.0, label='') b 3"
    assert call("typed", **arguments, n=None).endswith("None")


def test_a_value_that_does_not_fit_is_an_invalid_argument():
    """All that do not fit are named, and none is shown."""
    arguments = {
        "when": "hush",
        "path": 3,
        "colour": "hush",
        "point": {"x": 1, "z": 2},
        "mode": "hush",
        "n": "hush",
    }
    with pytest.raises(InvalidArguments) as caught:
        call("typed", **arguments)
    assert caught.value.code == "invalid-arguments"
    assert caught.value.errors == (
        "when: must be datetime",
        "path: must be Path",
        "colour: must be Colour, one of 'red'",
        "point: must be Point",
        "mode: must be Literal['a', 'b']",
        "n: must be int | None",
    )


@pytest.mark.parametrize(
    ("name", "arguments", "wanted"),
    [
        ("plain", {"x": [1]}, '{"x": [1], "y": 2}'),
        ("partial", {"x": 1}, '{"x": 1, "y": 5}'),
        ("keywords", {"x": 1, "any-name": 2}, '{"x": 1, "any-name": 2}'),
        ("positional", {"a": 1}, "[1, 2, 3]"),
        ("positional", {"c": 0, "b": 5, "a": 1}, "[1, 5, 0]"),
        ("with_recipient", {"x": 1}, "1 fn"),
        ("annotated_recipient", {}, "d fn"),
        ("annotated_recipient", {"x": 1}, "1 fn"),
        ("unresolvable", {"x": "a"}, "a"),
        ("with_dash", {"first-name": "A"}, "A"),
        ("callable_object", {"x": 1}, "2"),
        ("asynchronous", {"x": 1}, "async 1"),
        ("awaitable", {"x": 1}, "async 1"),
    ],
)
def test_each_parameter_gets_its_argument(name, arguments, wanted):
    """By name or by position, with defaults, and the recipient where it is asked for."""
    assert call(name, **arguments) == wanted


@pytest.mark.parametrize(
    ("name", "arguments", "wanted"),
    [
        ("half_unresolvable", {"when": "2024-01-02"}, "datetime.date(2024, 1, 2) None"),
        ("annotated_rest", {"x": 1, "y": "2024-01-02"}, "1 {'y': datetime.date(2024, 1, 2)}"),
        ("annotated_rest", {"x": 1, "more": "2024-01-02"}, "1 {'more': datetime.date(2024, 1, 2)}"),
        ("dated_decorated", {"x": 1, "when": "2024-01-02"}, "1 datetime.date(2024, 1, 2)"),
        ("dated_partial", {"when": "2024-01-02"}, "1 datetime.date(2024, 1, 2)"),
        ("inherits_call", {"when": "2024-01-02"}, "datetime.date(2024, 1, 2)"),
    ],
)
def test_each_annotation_counts_wherever_it_stands(name, arguments, wanted):
    """Beside one that cannot be resolved, on ``**kwargs``, under decorators and partials, inherited."""
    assert call(name, **arguments) == wanted


def test_an_annotation_that_no_json_fits_is_the_authors_fault():
    """The model cannot mend it, so it is not told that its argument is wrong."""
    with pytest.raises(RecipientFailed, match="annotates x as complex, which no JSON value"):
        call("unsupported", x=1)


def test_an_argument_called_recipient_is_the_callers():
    """What the schema declares wins."""
    signature = Signature.of(with_recipient, "m:f", Recipient)
    assert signature.bind({"x": 1, "recipient": "given"}, object()) == ([], {"x": 1, "recipient": "given"})


@pytest.mark.parametrize(
    ("name", "arguments", "reason"),
    [
        ("plain", {"x": 1, "z": 2}, "takes no argument 'z'"),
        ("plain", {}, "needs x, which the call does not give"),
        ("positional", {"b": 1}, "needs a"),
    ],
)
def test_a_function_that_does_not_fit_its_declaration_is_named(name, arguments, reason):
    """It is the author's mistake, not the caller's."""
    with pytest.raises(RecipientFailed, match=reason):
        call(name, **arguments)


def test_a_gap_in_positional_arguments_is_an_error():
    """A later one cannot be given without an earlier one."""

    def gap(a=1, b=2, /):
        return a, b

    with pytest.raises(RecipientFailed, match="takes b by position"):
        Signature.of(gap, "m:gap", Recipient).bind({"b": 3}, None)


def test_functions_written_in_c_work():
    """With a signature or without one."""
    assert outcome("math:sqrt", {"x": 16}).text == "4.0"
    assert outcome("builtins:dict", {"a": 1}).text == '{"a": 1}'


@pytest.mark.parametrize(("kind", "annotations"), [(Built, {"x": int}), (Bare, {})])
def test_a_class_can_be_called(kind, annotations):
    """Its constructor's annotations count."""
    assert Signature.of(kind, "m:C", Recipient).annotations == annotations


# --- results


@pytest.mark.parametrize(
    ("what", "wanted"),
    [
        ("none", ("", "ok")),
        ("outcome", ("own", "odd")),
        ("attrs", ('{"x": 1.0, "label": ""}', "ok")),
        ("date", ('"2024-01-02"', "ok")),
        ("set", ('["a", "b"]', "ok")),
        ("mixed set", ('["b", 1]', "ok")),
        ("dates", ('[1, "2024-01-02"]', "ok")),
    ],
)
def test_a_result_becomes_text(what, wanted):
    """A text is passed on as it is, everything else as JSON."""
    found = outcome(f"{__name__}:returns", {"what": what})
    assert (found.text, found.status) == wanted


@pytest.mark.parametrize(
    ("what", "reason"),
    [
        ("nan", "of type float, which is not all JSON data: Out of range"),
        ("object", "of type object, which is not all JSON data: there is no JSON for a object"),
        ("bytes", "of type dict, which is not all JSON data: there is no JSON for a bytes"),
        ("cyclic", "of type list, which is not all JSON data: "),
        ("deep", "of type list, which is not all JSON data: "),
    ],
)
def test_a_result_that_is_no_json_is_an_error(what, reason):
    """The text says what it was, and what in it is none."""
    with pytest.raises(RecipientFailed, match=reason):
        call("returns", what=what)


def test_structured_content_is_what_the_text_says():
    """Whatever the function's own dict holds: sets, dates and keys are there as JSON has them."""
    found = outcome(f"{__name__}:returns", {"what": "keys"})
    assert found.metadata["structured"] == json.loads(found.text)
    assert found.text == '{"1": [2], "null": {"x": 1.0, "label": ""}}'


def test_what_a_function_raises_passes_through():
    """The dispatcher tells the model."""
    with pytest.raises(ValueError, match="oh"):
        call("fails", text="oh")


@pytest.mark.parametrize("name", ["ends", "ends_later"])
def test_a_function_cannot_end_the_program(name):
    """sys.exit() is a failure of the call."""
    with pytest.raises(RecipientFailed, match="asked the program to end"):
        call(name)


def test_the_loop_is_not_blocked():
    """A function that is not async runs in another thread."""
    assert call("printing_function", text="x") != threading.current_thread().name


# --- how it is imported


def test_modules_beside_the_root_file_are_found(tmp_path):
    """sys.path is as before afterwards."""
    (tmp_path / "beside_root_1.py").write_text("print('loading')\ndef f():\n    return 'found'\n")
    before = list(sys.path)
    assert outcome("beside_root_1:f", folder=tmp_path).text == "found"
    assert before == sys.path


def test_a_module_is_imported_at_the_first_call_only(tmp_path):
    """Nothing is imported before, and nothing twice."""
    (tmp_path / "beside_root_2.py").write_text(
        "count = 0\ndef f():\n    global count\n    count += 1\n    return count\n"
    )
    made = recipient("beside_root_2:f", tmp_path)
    assert "beside_root_2" not in sys.modules
    assert [asyncio.run(made.acall({})).text for _ in range(2)] == ["1", "2"]


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("surely_no_such_module:f", "cannot be imported: ModuleNotFoundError"),
        ("math:nope", "math has no 'nope'"),
        (f"{__name__}:not_callable", "is no function"),
        ("beside_root_3:f", "its module ends the program"),
    ],
)
def test_what_cannot_be_imported_is_an_error(tmp_path, path, reason):
    """The text says what is wrong with the import path."""
    (tmp_path / "beside_root_3.py").write_text("import sys\nsys.exit()\n")
    with pytest.raises(RecipientFailed, match=reason):
        outcome(path, folder=tmp_path)


def test_an_object_is_structured_content_too():
    """Clients that read structured content get the value itself; texts and lists have no such form."""
    assert outcome(f"{__name__}:plain", {"x": 1}).metadata == {"structured": {"x": 1, "y": 2}}
    assert outcome("builtins:list", {}).metadata == {}


# --- printing


def test_what_is_printed_goes_to_the_log(caplog, capsys):
    """The standard output stays free for answers."""
    caplog.set_level("INFO", "registry.function")
    call("printing_function", text="one\ntwo")
    assert [record.message for record in caplog.records] == ["fn: one", "fn: two", "fn: half"]
    assert capsys.readouterr().out == ""


def test_a_call_that_was_given_up_still_prints_to_the_log(caplog, capsys):
    """A thread cannot be stopped; what it prints later is no answer."""
    caplog.set_level("INFO", "registry.function")

    async def go():
        task = asyncio.create_task(recipient(f"{__name__}:prints_late").acall({}))
        await asyncio.to_thread(STARTED.wait)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(go())
    GO_ON.set()
    DONE.wait()
    assert ([record.message for record in caplog.records], capsys.readouterr().out) == (["fn: late"], "")


@contextlib.contextmanager
def _printing(name):
    started = Printing(name)
    try:
        yield
    finally:
        started.end()


def test_what_others_print_stays_where_it_was(caplog, capsys):
    """Only the call's own output is taken, also from a stream that others have put in place."""
    original = sys.stdout
    with _printing("fn"):
        print("mine")  # noqa: T201 - what is printed is what is tested
        threads = [threading.Thread(target=print, args=("theirs",))]
        threads[0].start()
        threads[0].join()
        assert sys.stdout.encoding == original.encoding
        with _printing("inner"):
            pass
    assert (sys.stdout, capsys.readouterr().out) == (original, "theirs\n")


def test_another_stream_put_in_place_meanwhile_is_kept():
    """It is not ours to take away."""
    original = sys.stdout
    with _printing("fn"):
        sys.stdout = original
    assert sys.stdout is original
    assert printing._SWITCH.calls == 0


def test_a_line_without_end_is_cut(caplog):
    """Output without line ends takes no memory."""
    caplog.set_level("INFO", "registry.function")
    with _printing("fn"):
        print("x" * 10_000, end="")  # noqa: T201 - what is printed is what is tested
    assert [len(record.message) for record in caplog.records] == [10_004]


# --- the converter


@dataclasses.dataclass
class Data:
    n: int


class Mode(enum.StrEnum):
    FAST = "fast"


class Level(enum.IntEnum):
    LOW = 1


class Name(str):
    __slots__ = ()


class Row(typing.TypedDict):
    when: dt.date


@pytest.mark.parametrize(
    ("value", "annotation", "wanted"),
    [
        ("2024-01-02", dt.date, dt.date(2024, 1, 2)),
        ("03:04", dt.time, dt.time(3, 4)),
        (1.5, dt.timedelta, dt.timedelta(seconds=1.5)),
        (dt.timedelta(1), dt.timedelta, dt.timedelta(1)),
        (dt.date(2024, 1, 2), dt.date, dt.date(2024, 1, 2)),
        ("a/b", pathlib.PurePath, pathlib.PurePath("a/b")),
        ("1.10", decimal.Decimal, decimal.Decimal("1.10")),
        (1.1, decimal.Decimal, decimal.Decimal("1.1")),
        ("00000000-0000-0000-0000-000000000001", uuid.UUID, uuid.UUID(int=1)),
        ([{"x": 1}], list[Point], [Point(1.0)]),
        ({"n": 1}, Data, Data(1)),
        ({"a": [1]}, dict[str, list[int]], {"a": [1]}),
        ({"a": [1]}, typing.Any, {"a": [1]}),
        (3, object, 3),
        (1, float, 1.0),
        (True, bool | str, True),
        ("2024-01-02", dt.date | None, dt.date(2024, 1, 2)),
        (None, dt.date | None, None),
        ("fast", Mode, Mode.FAST),
        (1, Level, Level.LOW),
        ("x", Name, Name("x")),
        (["2024-01-02"], set[dt.date], {dt.date(2024, 1, 2)}),
        (["2024-01-02"], abc.Iterable[dt.date], [dt.date(2024, 1, 2)]),
        ([1, "a"], tuple[int, str], (1, "a")),
        ([1, 2], tuple[int, ...], (1, 2)),
        ([1, "a"], tuple, (1, "a")),
        ([1], typing.Annotated[frozenset[int], "note"], frozenset({1})),
        ({"1": "2024-01-02"}, dict[int, dt.date], {1: dt.date(2024, 1, 2)}),
        ({"fast": 1}, abc.Mapping[Mode, int], {Mode.FAST: 1}),
        ({"a": 1}, dict, {"a": 1}),
        ({"when": "2024-01-02"}, Row, {"when": dt.date(2024, 1, 2)}),
        ("2024-01-02", dt.date | list[dt.date], dt.date(2024, 1, 2)),
        (["2024-01-02"], dt.date | list[dt.date], [dt.date(2024, 1, 2)]),
        ("2024-01-02", str | dt.date, "2024-01-02"),
        (1, float | None, 1.0),
        (1, int | float, 1),
        ("red", typing.Literal[Colour.RED], Colour.RED),
    ],
)
def test_json_becomes_what_an_annotation_asks_for(value, annotation, wanted):
    """Equal in value and type."""
    found = structure_argument(value, annotation)
    assert (found, type(found)) == (wanted, type(wanted))


@pytest.mark.parametrize(
    ("value", "annotation"),
    [
        ("3", int),
        (True, int),
        (1, bool),
        (1, str),
        ("1", float),
        (True, float),
        (3, pathlib.Path),
        ("x", dt.timedelta),
        ("abc", list),
        ("abc", set[pathlib.Path]),
        ({"a": 1}, list[str]),
        ({}, tuple[int, ...]),
        ("ab", abc.Sequence[str]),
        ([], dict),
        ([], dict[str, int]),
        (3, bytes),
        (True, int | str),
        (True, int | float),
        (True, typing.Literal[1]),
        (1, typing.Literal[True]),
        (0, None.__class__),
    ],
)
def test_nothing_is_coerced(value, annotation):
    """The schema has the say on that, not the annotation."""
    with pytest.raises(TypeError):
        structure_argument(value, annotation)


@pytest.mark.parametrize(("value", "annotation"), [("slow", Mode), (2, Level), ([1], tuple[int, str])])
def test_what_is_no_value_of_an_annotation_does_not_fit(value, annotation):
    """Also where it is a text or a number as all members are."""
    with pytest.raises(ValueError, match=r"is not a valid|zip"):
        structure_argument(value, annotation)


def test_results_of_known_types_become_json():
    """At any depth."""
    value = {
        "d": [dt.datetime(2024, 1, 2, tzinfo=dt.UTC)],
        "p": pathlib.Path("a"),
        "e": Colour.RED,
        "t": dt.timedelta(seconds=2),
    }
    assert unstructure_result(value) == {"d": ["2024-01-02T00:00:00+00:00"], "p": "a", "e": "red", "t": 2.0}
