"""Which blobs are states of a conversation.

A store keeps every state that there ever was among its other blobs, and newer software keeps the id of the current one
elsewhere. If that is lost, the states must be told from messages, JSON and file contents by their bytes alone.
"""

from formats.agentstate.decode import decode
from formats.agentstate.message import Message, unexplained
from formats.agentstate.schema import shape
from formats.errors import FormatError

_STATE = "ConversationStateStructure"
_ID_BYTES = 32
_REFERENCES = (
    "root_prompt_messages_json",
    "todos",
    "summary",
    "plan",
    "turns",
    "summary_archive",
    "summary_archives",
    "file_states",
    "subagent_state_refs",
)
_NEWEST = max(shape(_STATE).by_number)


def looks_like_state(data: bytes) -> bool:
    """Whether a blob is a ``ConversationStateStructure`` that tells something of a conversation.

    It is if it has turns or prompts, its references are as long as ids, it says something that no other message could
    say with the same numbers, and nothing is left unexplained but fields newer than those that are known.
    """
    try:
        message = decode(_STATE, data)
    except FormatError:
        return False
    has_content = "turns" in message.fields or "root_prompt_messages_json" in message.fields
    return has_content and _is_distinct(message) and _refers(message) and _is_explained(message)


def _is_distinct(message: Message) -> bool:
    """Whether it has a field behind the third: steps, summaries, commands and file states have none.

    A text in one of those can be as long as an id, and would pass for a reference.
    """
    return any(shape(_STATE).by_name[name].number > 3 for name in message.fields)


def _refers(message: Message) -> bool:
    return all(len(one) == _ID_BYTES for name in _REFERENCES for one in _ids(message, name))


def _ids(message: Message, name: str) -> tuple[bytes, ...]:
    one = message.one(name, bytes)
    return (
        *message.many(name, bytes),
        *message.entries(name, bytes).values(),
        *([] if one is None else [one]),
    )


def _is_explained(message: Message) -> bool:
    return all(path == _STATE and field.number > _NEWEST for path, field in unexplained(message))
