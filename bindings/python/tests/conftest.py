"""What the tests share. They run over the files in `dist` that `make component storage-component` builds."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from memory import Apps
from portico_dashboard import AppInput, Caller, Limits, Portico, signed_in

REPOSITORY = Path(__file__).parents[3]
HOSTILE = Path(
    os.environ.get("PORTICO_HOSTILE", REPOSITORY / "target/wasm32-wasip2/component/portico_hostile.wasm")
)

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(scope="session", autouse=True)
def user_cache(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Compiled files go to a folder of the tests."""
    os.environ["XDG_CACHE_HOME"] = str(tmp_path_factory.mktemp("cache"))


@pytest.fixture
def me() -> Caller:
    """An administrator."""
    return signed_in("ada", ["admin"], "session")


@pytest.fixture
def storage() -> Apps:
    """An empty storage."""
    return Apps()


#: Short, for tests that wait for them.
LIMITS = Limits(call=0.5, long_call=1.0, storage=0.3, wait=0.5, abandoned=3)


@pytest.fixture
def portico(storage: Apps) -> Iterator[Portico]:
    """Portico over that storage."""
    opened = Portico.open(storage=storage, limits=LIMITS)
    yield opened
    opened.close()


@pytest.fixture
def hostile(storage: Apps) -> Iterator[Portico]:
    """The component that misbehaves as it is asked to, over that storage."""
    assert HOSTILE.exists(), "build it first: make hostile"
    opened = Portico.open(storage=storage, component=HOSTILE, limits=LIMITS)
    yield opened
    opened.close()


@pytest.fixture
def jellyfin() -> AppInput:
    """An app to create."""
    return AppInput(name="Jellyfin", icon_url="/j.svg")
