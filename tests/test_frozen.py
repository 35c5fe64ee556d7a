"""Laws of the read-only containers."""

import copy
import json
import pickle

import hypothesis
import pytest
import strategies

from registry.frozen import FrozenDict, FrozenList, freeze, thaw


@pytest.mark.parametrize(
    "change",
    [
        lambda d: d.__setitem__("a", 1),
        lambda d: d.__delitem__("a"),
        lambda d: d.__ior__({}),
        lambda d: d.clear(),
        lambda d: d.pop("a"),
        lambda d: d.popitem(),
        lambda d: d.setdefault("b", 1),
        lambda d: d.update(b=1),
        lambda d: d["a"].__setitem__(0, 1),
        lambda d: d["a"].__delitem__(0),
        lambda d: d["a"].__iadd__([1]),
        lambda d: d["a"].__imul__(2),
        lambda d: d["a"].append(1),
        lambda d: d["a"].clear(),
        lambda d: d["a"].extend([1]),
        lambda d: d["a"].insert(0, 1),
        lambda d: d["a"].pop(),
        lambda d: d["a"].remove(1),
        lambda d: d["a"].reverse(),
        lambda d: d["a"].sort(),
    ],
)
def test_every_change_is_refused(change):
    """Each method that would change the data raises TypeError and says to work on a copy."""
    frozen = freeze({"a": [1, 2]})
    with pytest.raises(TypeError, match="thaw"):
        change(frozen)
    assert {"a": [1, 2]} == frozen


def test_copies_are_the_same_object():
    """What cannot change need not be copied."""
    frozen = freeze({"a": [1]})
    for same in (copy.copy, copy.deepcopy, freeze):
        assert frozen is same(frozen)
        assert frozen["a"] is same(frozen["a"])


@hypothesis.given(strategies.json_values())
def test_freeze_and_thaw_keep_the_content(value):
    """Frozen data is equal to the plain, as JSON too, and thaws back; pickling keeps it frozen."""
    frozen = freeze(value)
    assert value == frozen
    assert json.dumps(value) == json.dumps(frozen)
    assert value == thaw(frozen)
    back = pickle.loads(pickle.dumps(frozen))
    assert (type(frozen), frozen) == (type(back), back)


def test_thaw_gives_plain_containers():
    """Thawed data may be changed and has no frozen part."""
    thawed = thaw(freeze({"a": ({"b": 1},)}))
    assert (dict, list, dict) == (type(thawed), type(thawed["a"]), type(thawed["a"][0]))
    assert (FrozenDict, FrozenList) == (type(freeze({})), type(freeze(())))
