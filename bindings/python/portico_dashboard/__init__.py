"""Portico in a Python program: users and apps of a dashboard, whose rules run in a sandbox inside the process.

    portico = Portico.open(storage=MyStorage())
    app = portico.apps.create(caller, AppInput(name="Jellyfin", icon_url="/j.svg"))
"""

from .contract import (
    Access,
    App,
    AppChange,
    AppDraft,
    AppInput,
    AsyncTransaction,
    Caller,
    NewAccount,
    Transaction,
    User,
    UserCaller,
)
from .errors import (
    CallFailed,
    ConstraintViolated,
    Issue,
    PorticoError,
    Retry,
    StorageError,
    TooLarge,
    Unavailable,
)
from .limits import Limits
from .portico import ANONYMOUS, AsyncPortico, Portico, signed_in
from .storage import AsyncStorage, Icons, Storage

__all__ = [
    "ANONYMOUS",
    "Access",
    "App",
    "AppChange",
    "AppDraft",
    "AppInput",
    "AsyncPortico",
    "AsyncStorage",
    "AsyncTransaction",
    "CallFailed",
    "Caller",
    "ConstraintViolated",
    "Icons",
    "Issue",
    "Limits",
    "NewAccount",
    "Portico",
    "PorticoError",
    "Retry",
    "Storage",
    "StorageError",
    "TooLarge",
    "Transaction",
    "Unavailable",
    "User",
    "UserCaller",
    "signed_in",
]
