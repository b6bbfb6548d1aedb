"""An invented developer's Cursor home, with all stores of a platform, made from a seed.

Nothing here is taken from a real home: names, messages, code and secrets are made up.
"""

from .bulk import hour_of_work, make_global_db, vacuum
from .canary import plant_canary
from .edits import archive_chat, delete_chat, rename_chat
from .home import make_home
from .life import live_for
from .model import DEMO, SMALL, START_MS, Platform, SampleChat, SampleHome, SampleWorkspace, Scale

__all__ = [
    "DEMO",
    "SMALL",
    "START_MS",
    "Platform",
    "SampleChat",
    "SampleHome",
    "SampleWorkspace",
    "Scale",
    "archive_chat",
    "delete_chat",
    "hour_of_work",
    "live_for",
    "make_global_db",
    "make_home",
    "plant_canary",
    "rename_chat",
    "vacuum",
]
