"""The other imports of the component: icons by name, and a log."""

import json
import sys

#: The files in public/icons, by common names of services.
ICONS = {
    "router": "/icons/router.svg",
    "home assistant": "/icons/home.svg",
    "nas": "/icons/disk.svg",
}


def find_icons(names: list[str]) -> list[str | None]:
    """For each name the URL of an icon that fits it."""
    return [ICONS.get(name.strip().lower()) for name in names]


def default_icon() -> str:
    """The icon for everything else."""
    return "/icons/default.svg"


def log(level: str, message: str) -> None:
    """Writes one message of the component."""
    print(f"[portico] {level}: {json.dumps(message)}", file=sys.stderr)
