"""Text that should be UTF-8, as other people's software really stores it."""


def utf8(data: bytes) -> str:
    """The text of ``data``, never an error.

    Lone surrogates, which JavaScript can write, pass as they are. Bytes that are no text become U+FFFD: one damaged
    byte must not hide the message around it, and the bytes themselves remain the truth.
    """
    try:
        return data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return data.decode("utf-8", "replace")


def is_exact(text: str, data: bytes) -> bool:
    """Whether ``text``, as ``utf8`` gave it, says all that is in ``data``."""
    return "\ufffd" not in text or text.encode("utf-8", "surrogatepass") == data
