"""The protobuf messages in which Cursor's agents keep a conversation (specs/agent-state.md).

``decode`` reads one blob of a known kind; ``looks_like_state`` finds the blobs that conversations start from. Both are total
and bounded, whatever the bytes are.
"""
