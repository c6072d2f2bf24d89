"""Starts the dashboard:

    .venv/bin/python main.py                                on 127.0.0.1:3000, data in ./data
    PORT=0 DATA=/var/lib/dashboard .venv/bin/python main.py port 0 takes a free one and says which

COMPONENT names another file than ../../dist/portico.wasm, and PROCEDURES another one than
../../contract/procedures.json.
"""

import os
import signal
import socket
from pathlib import Path

import uvicorn

from dashboard.app import application
from dashboard.portico.component import Compiled
from dashboard.portico.procedures import read

REPOSITORY = Path(__file__).parent.parent.parent
SHIPPED = REPOSITORY / "dist" / "portico.wasm"
INPUTS = REPOSITORY / "contract" / "procedures.json"


def main() -> None:
    """Serves until a signal stops it."""
    data = Path(os.environ.get("DATA", "data"))
    data.mkdir(parents=True, exist_ok=True)
    file = Path(os.environ.get("COMPONENT", SHIPPED))
    compiled = Compiled(file)
    print(f"component {compiled.sha256} {file}", flush=True)
    procedures = read(Path(os.environ.get("PROCEDURES", INPUTS)))
    app = application(str(data / "dashboard.db"), compiled, procedures)

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
