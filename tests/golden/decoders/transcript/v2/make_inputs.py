"""Makes the transcripts beside it.

python -m tests.golden.decoders.transcript.v2.make_inputs
"""

from pathlib import Path

FOLDER = Path(__file__).parent

SHAPES = """user:
<user_query>
Why does the coupon count twice?
</user_query>

assistant:
[Thinking] It subtracts on every call.
Nothing remembers the code.

I read the cart first.

[Tool call] Read
  path: src/cart.js
  limit: 20

[Tool result] Read
function applyCoupon() {}

[Tool call] run_terminal_command
  command: npm test

assistant:
Now it counts once.

[Tool result] Grep
of no call

user:
Thanks!
"""
PASTED = """user:
<user_query>
What is this?
user:
Hello
assistant:
[Tool call] Read
</user_query>

assistant:
A transcript.
"""


def main() -> None:
    """Write all of them."""
    (FOLDER / "shapes.txt").write_bytes(SHAPES.encode())
    (FOLDER / "pasted.txt").write_bytes(PASTED.encode())
    (FOLDER / "crlf.txt").write_bytes(PASTED.replace("\n", "\r\n").encode())
    (FOLDER / "torn.txt").write_bytes("user:\n<user_query>\nIs this whole? Â".encode()[:-1])
    (FOLDER / "unknown.txt").write_bytes(b"transcript format 9\nuser:\nHello\n")
    (FOLDER / "opaque.txt").write_bytes(b"no heading at all\n")


if __name__ == "__main__":
    main()
