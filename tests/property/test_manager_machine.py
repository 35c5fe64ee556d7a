"""A RecipientManager behaves as a dict that refuses double names, and never touches an old snapshot."""

import hypothesis
import hypothesis.strategies as st
import pytest
from hypothesis.stateful import Bundle, RuleBasedStateMachine, invariant, rule

from registry import DuplicateRecipient, NoSuchRecipient, Recipient, RecipientManager, RecipientSnapshot


class One(Recipient):
    DESCRIPTION = "one"

    def process(self, message, **kwargs):
        return message


class Two(One):
    DESCRIPTION = "two"


CLASSES = st.sampled_from([One, Two])
NAMES = st.sampled_from("abcd")


class ManagerMachine(RuleBasedStateMachine):
    """Compares a manager with a plain dict after every step."""

    held = Bundle("held")

    def __init__(self):
        super().__init__()
        self.manager = RecipientManager()
        self.model = {}

    @rule(name=NAMES, kind=CLASSES)
    def register(self, name, kind):
        """Registering works once per name."""
        if name in self.model:
            with pytest.raises(DuplicateRecipient):
                self.manager[name] = kind
        else:
            self.manager.register(name)(kind)
            self.model[name] = kind

    @rule(name=NAMES)
    def unregister(self, name):
        """Removing works for registered names only."""
        if name in self.model:
            del self.manager[name], self.model[name]
        else:
            with pytest.raises(NoSuchRecipient):
                del self.manager[name]

    @rule(name=NAMES, kind=CLASSES)
    def register_then_unregister(self, name, kind):
        """Adding and removing a new name restores the digest."""
        if name not in self.model:
            before = self.manager.snapshot().digest
            self.manager[name] = kind
            del self.manager[name]
            assert before == self.manager.snapshot().digest

    @rule(names=st.dictionaries(NAMES, CLASSES))
    def reload(self, names):
        """Replacing the content is one step."""
        self.manager.replace(RecipientSnapshot(names))
        self.model = dict(names)

    @rule(target=held)
    def take(self):
        """Hold a snapshot and what it shows now."""
        snapshot = self.manager.snapshot()
        return snapshot, dict(self.model), snapshot.digest

    @rule(snapshot=held)
    def look_back(self, snapshot):
        """A held snapshot shows what it showed when it was taken."""
        held, content, digest = snapshot
        assert content == dict(held)
        assert list(content) == list(held)
        assert digest == held.digest

    @invariant()
    def same_as_the_dict(self):
        """Content and order are those of the dict."""
        assert list(self.model.items()) == [(name, self.manager[name]) for name in self.manager]
        assert {n: k.DESCRIPTION for n, k in self.model.items()} == self.manager.available_recipients


TestManagerMachine = ManagerMachine.TestCase
TestManagerMachine.settings = hypothesis.settings(max_examples=50, stateful_step_count=30, deadline=None)


@hypothesis.given(*(st.dictionaries(st.text(prefix, min_size=1, max_size=3), CLASSES) for prefix in "xyz"))
def test_combine_is_associative_for_disjoint_names(a, b, c):
    """Joining three snapshots gives the same whatever is joined first, and whatever the order."""
    one, two, three = map(RecipientSnapshot, (a, b, c))
    assert one.combine(two).combine(three) == one.combine(two.combine(three))
    assert one.combine(two) == two.combine(one)
