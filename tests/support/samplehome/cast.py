"""The names that one chat talks about, so that its prompts, files and output fit together."""

from random import Random

import msgspec

from . import topics


class Cast(msgspec.Struct, frozen=True):
    """The names that one chat talks about."""

    module: str
    other: str
    func: str
    noun: str
    field: str
    suffix: str
    n: int
    ms: int

    @property
    def cls(self) -> str:
        """A class name that goes with the module."""
        return self.module.title().replace("_", "")

    def slots(self) -> dict[str, object]:
        """What the braces in `topics` and `code` stand for."""
        return {**msgspec.structs.asdict(self), "cls": self.cls}

    def varied(self, rng: Random) -> "Cast":
        """The same module and language with another function and other numbers."""
        return msgspec.structs.replace(new_cast(rng), module=self.module, suffix=self.suffix)


def new_cast(rng: Random) -> Cast:
    """Names drawn at random."""
    module, other = rng.sample(topics.MODULES, 2)
    noun = rng.choice(topics.NOUNS)
    return Cast(
        module=module,
        other=other,
        func=f"{rng.choice(topics.VERBS)}_{noun}",
        noun=noun,
        field=rng.choice(topics.FIELDS),
        suffix=rng.choice(topics.SUFFIXES),
        n=rng.randrange(90) + 10,
        ms=rng.randrange(9000) + 200,
    )
