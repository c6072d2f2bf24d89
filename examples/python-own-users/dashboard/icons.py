"""Icons by name, for apps that are created without one."""

#: The files in public/icons, by common names of services.
ICONS = {
    "router": "/icons/router.svg",
    "home assistant": "/icons/home.svg",
    "nas": "/icons/disk.svg",
}


def find(names: list[str]) -> list[str | None]:
    """For each name the URL of an icon that fits it."""
    return [ICONS.get(name.strip().lower()) for name in names]


def default_icon() -> str:
    """The icon for everything else."""
    return "/icons/default.svg"
