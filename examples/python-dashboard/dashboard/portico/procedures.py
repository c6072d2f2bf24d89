"""The inputs of the procedures, and how they become calls of the component. Only types are declared here,
which the contract needs. The component describes names, kinds and access (`describe`) and checks all bounds.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictBool,
    StrictStr,
    TypeAdapter,
)
from pydantic.alias_generators import to_camel

from .component import Invocation
from .values import Record, Variant


def whole(value: Any) -> Any:
    """JSON has one kind of number: 5.0 is 5."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def scalars(value: str) -> str:
    """Refuses unpaired surrogates, which Python's JSON accepts."""
    try:
        value.encode()
    except UnicodeEncodeError:
        raise ValueError("half of a surrogate pair is no text") from None
    return value


#: A field that may be absent, but not null. It is None then.
ABSENT: Any = Field(default=None)

Text = Annotated[StrictStr, AfterValidator(scalars)]
Bool = StrictBool
Integer = Annotated[int, BeforeValidator(whole), Field(strict=True, ge=-(2**31), lt=2**31)]
OrNull = Text | None


class Input(BaseModel):
    """A record of the contract as clients write it: in camel case, and perhaps with unknown fields."""

    model_config = ConfigDict(alias_generator=to_camel, extra="ignore")


class Account(Input):
    username: Text
    password: Text
    email: Text = ABSENT


class NewUser(Account):
    group_ids: list[Text]


class Registration(Account):
    email: Text
    invite_id: Text
    token: Text


class Selectable(Input):
    exclude_external_providers: Bool = ABSENT


class Search(Input):
    query: Text
    limit: Integer = ABSENT


class Whose(Input):
    user_id: Text


class ProfileImage(Whose):
    image: OrNull


class Profile(Input):
    id: Text
    name: Text
    email: OrNull = None


class Password(Whose):
    previous_password: Text = ABSENT
    password: Text


class HomeBoards(Whose):
    home_board_id: OrNull
    mobile_home_board_id: OrNull


class SearchPreferences(Whose):
    default_search_engine_id: OrNull
    open_in_new_tab: Bool


class ColorScheme(Input):
    color_scheme: Literal["light", "dark", "auto"]


class PingIcons(Input):
    id: Text
    ping_icons_enabled: Bool


class FirstDay(Input):
    id: Text
    first_day_of_week: Integer


class Id(Input):
    id: Text


class App(Input):
    name: Text
    icon_url: Text
    description: OrNull = None
    href: OrNull = None
    ping_url: OrNull = None


class Draft(App):
    icon_url: OrNull = None  # type: ignore[assignment]


class AppChange(Draft):
    id: Text
    name: Text = ABSENT
    icon_url: Text = ABSENT


class Page(Input):
    page: Integer
    page_size: Integer
    search: Text = ABSENT


def record(input: Input, *but: str) -> Record:
    """All fields except these."""
    return Record(**{name: value for name, value in input.__dict__.items() if name not in but})


def change(input: Input, name: str) -> Variant:
    """`types.text-change`: an absent field keeps its value."""
    if name not in input.model_fields_set:
        return Variant("keep")
    value = getattr(input, name)
    return Variant("clear") if value is None else Variant("set", value)


def account(input: Account) -> Record:
    """`types.new-account`."""
    return Record(username=input.username, password=input.password, email=input.email)


def profile_change(input: Profile) -> Record:
    """`types.profile-change`."""
    return Record(id=input.id, name=input.name, email=change(input, "email"))


def app_change(input: AppChange) -> Record:
    """`types.app-change`."""
    texts = {name: change(input, name) for name in ("description", "href", "ping_url")}
    return Record(id=input.id, name=input.name, icon_url=input.icon_url, **texts)


def plain(value: Any) -> Any:
    """Converts an answer to the form that clients read."""
    if isinstance(value, list):
        return [plain(item) for item in value]
    if not isinstance(value, Record):
        return value
    answer = {to_camel(name): plain(item) for name, item in value.__dict__.items()}
    if (moment := answer.get("emailVerified")) is not None:
        date = datetime.fromtimestamp(moment // 1_000, UTC)
        answer["emailVerified"] = f"{date:%Y-%m-%dT%H:%M:%S}.{moment % 1_000:03}Z"
    return answer


def ident(id: str) -> Any:
    """The answer to the creation of a user."""
    return {"id": id}


def created(app: Any) -> Any:
    """An app, or several."""
    if isinstance(app, list):
        return [created(item) for item in app]
    return {"appId": app.id, **plain(app)}


@dataclass(frozen=True)
class Row:
    """A procedure: what it takes (None: it looks at no input), and what the call gets after the caller."""

    invocation: Callable[[Any], tuple[str, str, tuple[Any, ...]]]
    input: TypeAdapter[Any] | None = None
    answer: Callable[[Any], Any] = plain

    def call(self, input: Any, caller: Variant) -> Invocation:
        """The call that an input becomes."""
        interface, function, values = self.invocation(input)
        return Invocation(interface, function, (caller, *values))


def row(
    interface: str,
    function: str,
    shape: Any = None,
    values: Callable[[Any], tuple[Any, ...]] = lambda input: (),
    answer: Callable[[Any], Any] = plain,
) -> Row:
    """A row of the table."""
    adapter = None if shape is None else TypeAdapter(shape)
    return Row(lambda input: (interface, function, values(input)), adapter, answer)


PROCEDURES: dict[str, Row] = {
    "user.getAll": row("users", "get-all"),
    "user.selectable": row(
        "users",
        "selectable",
        Selectable | None,
        lambda it: (it and it.exclude_external_providers,),
    ),
    "user.search": row("users", "search", Search, lambda it: (it.query, it.limit)),
    "user.getById": row("users", "get-by-id", Whose, lambda it: (it.user_id,)),
    "user.initUser": row("users", "init-user", Account, lambda it: (account(it),), ident),
    "user.register": row(
        "users",
        "register",
        Registration,
        lambda it: (Record(account=account(it), invite_id=it.invite_id, token=it.token),),
        ident,
    ),
    "user.create": row("users", "create", NewUser, lambda it: (account(it), it.group_ids), ident),
    "user.setProfileImage": row(
        "users", "set-profile-image", ProfileImage, lambda it: (it.user_id, it.image)
    ),
    "user.editProfile": row("users", "edit-profile", Profile, lambda it: (profile_change(it),)),
    "user.changePassword": row("users", "change-password", Password, lambda it: (record(it),)),
    "user.changeHomeBoards": row(
        "users", "change-home-boards", HomeBoards, lambda it: (it.user_id, record(it, "user_id"))
    ),
    "user.changeSearchPreferences": row(
        "users",
        "change-search-preferences",
        SearchPreferences,
        lambda it: (it.user_id, record(it, "user_id")),
    ),
    "user.changeColorScheme": row("users", "change-color-scheme", ColorScheme, lambda it: (it.color_scheme,)),
    "user.changePingIconsEnabled": row(
        "users", "change-ping-icons-enabled", PingIcons, lambda it: (it.id, it.ping_icons_enabled)
    ),
    "user.changeFirstDayOfWeek": row(
        "users", "change-first-day-of-week", FirstDay, lambda it: (it.id, it.first_day_of_week)
    ),
    "user.delete": row("users", "delete", Whose, lambda it: (it.user_id,)),
    "app.all": row("apps", "all"),
    "app.getPaginated": row("apps", "get-paginated", Page, lambda it: (it.page, it.page_size, it.search)),
    "app.search": row("apps", "search", Search, lambda it: (it.query, it.limit)),
    "app.selectable": row("apps", "selectable"),
    "app.byId": row("apps", "by-id", Id, lambda it: (it.id,)),
    "app.byIds": row("apps", "by-ids", list[Text], lambda it: (it,)),
    "app.create": row("apps", "create", App, lambda it: (record(it),), created),
    "app.createMany": row(
        "apps", "create-many", list[Draft], lambda it: ([record(app) for app in it],), created
    ),
    "app.update": row("apps", "update", AppChange, lambda it: (app_change(it),)),
    "app.delete": row("apps", "delete", Id, lambda it: (it.id,)),
}
