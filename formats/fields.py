"""The members of JSON objects, taken one by one, so that what nobody took is never lost."""

from formats.jsontext import Json
from formats.records import Residue
from formats.times import iso_ms


class Fields:
    """An object's members; each is taken once, and only by one who asks for the type that it has.

    ``null`` counts as a member that is not there.

    Args:
        members: The object; it is not changed.
        at: The object's JSON pointer inside its record.
    """

    def __init__(self, members: dict[str, Json], at: str = "") -> None:
        self._left = {name: value for name, value in members.items() if value is not None}
        self.at = at
        self._inner: list[Fields] = []

    def peek(self, name: str) -> str:
        """A string, which stays; empty if the member is none."""
        value = self._left.get(name)
        return value if isinstance(value, str) else ""

    def any(self, name: str) -> Json:
        """Take a member, whatever its type."""
        return self._left.pop(name, None)

    def text(self, name: str) -> str | None:
        """Take a string."""
        value = self._left.get(name)
        if not isinstance(value, str):
            return None
        del self._left[name]
        return value

    def integer(self, name: str) -> int | None:
        """Take a whole number."""
        value = self.number(name) if isinstance(self._left.get(name), int) else None
        return value if isinstance(value, int) else None

    def number(self, name: str) -> int | float | None:
        """Take a number."""
        value = self._left.get(name)
        if isinstance(value, bool) or not isinstance(value, int | float):
            return None
        del self._left[name]
        return value

    def flag(self, name: str) -> bool | None:
        """Take a boolean."""
        value = self._left.get(name)
        if not isinstance(value, bool):
            return None
        del self._left[name]
        return value

    def time_ms(self, name: str) -> int | None:
        """Take a string that names a moment as ISO 8601 does."""
        value = self._left.get(name)
        moment = iso_ms(value) if isinstance(value, str) else None
        if moment is not None:
            del self._left[name]
        return moment

    def texts(self, name: str) -> tuple[str, ...]:
        """Take a list, if all its elements are strings."""
        value = self._left.get(name)
        if not isinstance(value, list):
            return ()
        found = tuple(element for element in value if isinstance(element, str))
        if len(found) < len(value):
            return ()
        del self._left[name]
        return found

    def members(self, name: str) -> "Fields | None":
        """Take an object; what is left of it stays with this one."""
        value = self._left.get(name)
        if not isinstance(value, dict):
            return None
        del self._left[name]
        return self._enter(value, f"{self.at}/{_escaped(name)}")

    def objects(self, name: str) -> "tuple[Fields, ...]":
        """Take a list of objects; its other elements, and what is left of the objects, stay with this one."""
        value = self._left.get(name)
        if not isinstance(value, list):
            return ()
        del self._left[name]
        at = f"{self.at}/{_escaped(name)}"
        others: dict[str, Json] = {
            str(i): element for i, element in enumerate(value) if not isinstance(element, dict)
        }
        self._enter(others, at)
        return tuple(
            self._enter(element, f"{at}/{i}") for i, element in enumerate(value) if isinstance(element, dict)
        )

    def residue(self) -> Residue:
        """What nobody took, by JSON pointer; each piece is handed out once."""
        left: Residue = {f"{self.at}/{_escaped(name)}": value for name, value in self._left.items()}
        self._left = {}
        for inner in self._inner:
            left |= inner.residue()
        return left

    def _enter(self, members: dict[str, Json], at: str) -> "Fields":
        self._inner.append(Fields(members, at))
        return self._inner[-1]


def _escaped(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")
