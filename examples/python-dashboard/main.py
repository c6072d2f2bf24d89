"""Starts the dashboard:

    .venv/bin/python main.py                                on 127.0.0.1:3000, data in ./data
    PORT=0 DATA=/var/lib/dashboard .venv/bin/python main.py port 0 takes a free one and says which
    DATABASE_URL=postgresql+psycopg://… .venv/bin/python main.py

COMPONENT names another file than the one in the package portico-dashboard.
"""

import os
import signal
import socket
from pathlib import Path

import uvicorn

from dashboard import dashboard


def main() -> None:
    """Serves until a signal stops it."""
    data = Path(os.environ.get("DATA", "data"))
    data.mkdir(parents=True, exist_ok=True)
    database = os.environ.get("DATABASE_URL", f"sqlite:///{data / 'dashboard.db'}")
    component = os.environ.get("COMPONENT")
    app, portico = dashboard(database, Path(component) if component else None)
    print(f"component {portico.sha256}", flush=True)

    # Bound here and not by uvicorn, so that the port is known.
    listener = socket.create_server(("127.0.0.1", int(os.environ.get("PORT", "3000"))))
    print(f"listening on http://127.0.0.1:{listener.getsockname()[1]}", flush=True)
    config = uvicorn.Config(
        app, access_log=False, log_level="warning", h11_max_incomplete_event_size=256 << 10
    )
    # uvicorn raises the signal again when it has stopped, but stopping on request is not a failure.
    signal.signal(signal.SIGTERM, lambda *_: None)
    uvicorn.Server(config).run(sockets=[listener])


if __name__ == "__main__":
    main()
