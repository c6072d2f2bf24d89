"""What the tests share. They run over the files in `dist` that `make component storage-component` builds."""

import os
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy
from memory import Apps

from portico_dashboard import AppInput, Caller, Limits, Portico, signed_in

REPOSITORY = Path(__file__).parents[3]
HOSTILE = Path(
    os.environ.get("PORTICO_HOSTILE", REPOSITORY / "target/wasm32-wasip2/component/portico_hostile.wasm")
)

POSTGRESQL = os.environ.get("PORTICO_TEST_POSTGRESQL")
DRIVERS = ["sqlite", *(["postgresql+psycopg"] if POSTGRESQL else [])]
ASYNCHRONOUS_DRIVERS = ["sqlite+aiosqlite", *(["postgresql+psycopg", "postgresql+asyncpg"] if POSTGRESQL else [])]

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


#: Far more than anything takes on a machine that does other work as well.
PATIENT = Limits(call=60.0, long_call=60.0, storage=60.0, wait=60.0)

#: For tests that wait until they are over, and long enough for what ends by itself.
SHORT = Limits(call=2.0, long_call=4.0, storage=1.0, wait=1.0, abandoned=3)


@pytest.fixture
def portico(storage: Apps) -> Iterator[Portico]:
    """Portico over that storage."""
    opened = Portico.open(storage=storage, limits=PATIENT)
    yield opened
    opened.close()


@pytest.fixture
def hurried(storage: Apps) -> Iterator[Portico]:
    """The same with short limits."""
    opened = Portico.open(storage=storage, limits=SHORT)
    yield opened
    opened.close()


@pytest.fixture
def hostile(storage: Apps) -> Iterator[Portico]:
    """The component that misbehaves as it is asked to, over that storage."""
    assert HOSTILE.exists(), "build it first: make hostile"
    opened = Portico.open(storage=storage, component=HOSTILE, limits=SHORT)
    yield opened
    opened.close()


@pytest.fixture
def jellyfin() -> AppInput:
    """An app to create."""
    return AppInput(name="Jellyfin", icon_url="/j.svg")


def empty_database(driver: str, folder: Path) -> str:
    """The URL of an empty database for a driver, such as `sqlite` or `postgresql+asyncpg`."""
    if driver.startswith("sqlite"):
        return f"{driver}:///{folder / 'dash.db'}"
    assert POSTGRESQL is not None
    name = f"portico_{uuid.uuid4().hex}"
    admin = sqlalchemy.create_engine(POSTGRESQL, isolation_level="AUTOCOMMIT")
    with admin.connect() as connection:
        connection.exec_driver_sql(f"CREATE DATABASE {name}")
    admin.dispose()
    url = sqlalchemy.make_url(POSTGRESQL).set(drivername=driver, database=name)
    return url.render_as_string(hide_password=False)


@pytest.fixture(params=DRIVERS)
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Of an empty database, for an engine."""
    return empty_database(request.param, tmp_path)


@pytest.fixture(params=ASYNCHRONOUS_DRIVERS)
def asynchronous_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Of an empty database, for an asynchronous engine."""
    return empty_database(request.param, tmp_path)


@pytest.fixture
def engine(url: str) -> Iterator[sqlalchemy.Engine]:
    opened = sqlalchemy.create_engine(url)
    yield opened
    opened.dispose()
