"""The types and functions of the contract, with its comments.

Written by generate.py from the WIT files: change those.
"""

# ruff: noqa: E501
from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Protocol, TypeAlias

LogLevel = Literal["debug", "info", "warn", "error"]
"""How important a message is."""


Kind = Literal["query", "mutation"]
"""Whether a procedure changes anything."""


Cost = Literal["small", "large", "hash"]
"""What a call costs at most."""


@dataclass(frozen=True)
class ProcedureAccessPublic:
    """Anyone."""
    tag: ClassVar[Literal["public"]] = "public"


@dataclass(frozen=True)
class ProcedureAccessOnboarding:
    """Anyone, while no user exists."""
    tag: ClassVar[Literal["onboarding"]] = "onboarding"


@dataclass(frozen=True)
class ProcedureAccessProtected:
    """Any signed-in caller."""
    tag: ClassVar[Literal["protected"]] = "protected"


@dataclass(frozen=True)
class ProcedureAccessOwnUserOr:
    """A signed-in caller on their own user; with one of these permissions, on any user."""
    tag: ClassVar[Literal["own-user-or"]] = "own-user-or"
    value: list[str]


@dataclass(frozen=True)
class ProcedureAccessOneOf:
    """A signed-in caller with one of these permissions, as stored. The list already contains the
    permissions that imply another one."""
    tag: ClassVar[Literal["one-of"]] = "one-of"
    value: list[str]


ProcedureAccess: TypeAlias = ProcedureAccessPublic | ProcedureAccessOnboarding | ProcedureAccessProtected | ProcedureAccessOwnUserOr | ProcedureAccessOneOf
"""Who may call a procedure. A host uses it to answer 401 and 403 before it reads an input; the
component always checks again."""


@dataclass(kw_only=True)
class Procedure:
    """One procedure."""
    name: str
    """As clients call it: the interface in the singular, a dot, the function in camel case.
    `app.byId` is the function `by-id` of the interface `apps`."""
    kind: Kind
    """Query or mutation."""
    access: ProcedureAccess
    """Who may call it."""
    cost: Cost
    """What a call costs at most."""


@dataclass(kw_only=True)
class SignedIn:
    """A user who was authenticated."""
    id: str
    """The user's id."""
    name: str
    """The user's name."""
    password_version: int
    """The version of the user's password that was read with the hash. See `password`."""


@dataclass(kw_only=True)
class Identity:
    """What an identity provider vouches for."""
    provider: Provider
    """`oidc` or `ldap`."""
    subject: str
    """What identifies the person at the provider permanently: issuer and subject, or the entry of a
    directory. 1 to 1,024 characters, no U+0000."""
    name: str
    """The name at the provider, under the rules of usernames, but with 1 to 255 characters."""
    email: str | None = None
    """The email at the provider."""
    email_verified: bool
    """Whether the provider says that the email is verified."""
    image: str | None = None
    """The URL of the picture at the provider."""


Linking = Literal["off", "verified", "unverified"]
"""Whether a person who signs in by a provider for the first time is linked to the user of
`credentials` with the same email, if there is exactly one and the provider says that the email
is verified. (Another owner of that mailbox at the provider could then sign in as the user, too.) Also
whether a person from an issuer becomes a user who was created for them: see `external`."""


@dataclass(frozen=True)
class TimestampChangeKeep:
    """Leaves it as it is."""
    tag: ClassVar[Literal["keep"]] = "keep"


@dataclass(frozen=True)
class TimestampChangeClear:
    """Removes it."""
    tag: ClassVar[Literal["clear"]] = "clear"


@dataclass(frozen=True)
class TimestampChangeSet:
    """Replaces it."""
    tag: ClassVar[Literal["set"]] = "set"
    value: int


TimestampChange: TypeAlias = TimestampChangeKeep | TimestampChangeClear | TimestampChangeSet
"""A change of a timestamp."""


@dataclass(frozen=True)
class SecretPassword:
    """As the document states it, under the rules of `types.new-account`. Only for `check-users`."""
    tag: ClassVar[Literal["password"]] = "password"
    value: str


@dataclass(frozen=True)
class SecretHash:
    """As `hash-password` returns it."""
    tag: ClassVar[Literal["hash"]] = "hash"
    value: str


Secret: TypeAlias = SecretPassword | SecretHash
"""A password, plain or hashed."""


@dataclass(kw_only=True)
class WantedUser:
    """A user as the document states it. Found by provider and name; created, with the preferences of a
    new user, if there is none. `sign-in.external` says who can sign in as a user of `oidc` or `ldap` who was
    created in this way."""
    provider: Provider
    """Who authenticates the user."""
    name: str
    """The username, under the rules of `types.new-account`."""
    email: TextChange = field(default_factory=lambda: TextChangeKeep())
    """The email. A different one resets `email-verified`, unless that is set here as well."""
    email_verified: TimestampChange = field(default_factory=lambda: TimestampChangeKeep())
    """When the email was verified. Cannot be set without an email."""
    image: TextChange = field(default_factory=lambda: TextChangeKeep())
    """An image, under the rules of `users.set-profile-image`; for a user of an external
    provider also a URL with `http:` or `https:`."""
    secret: Secret | None = None
    """Only for users of the provider `credentials`, and used only when the user is created. A user
    created without it cannot sign in before an administrator changes the password."""
    disabled: bool | None = None
    """Whether the user is disabled; none leaves it as it is. A new user is not."""


@dataclass(kw_only=True)
class WantedApp:
    """An app as the document states it."""
    id: str | None = None
    """The app's id (1 to 128 characters on one line): the app is changed if it exists, and created
    with this id if not. None: created with a new id."""
    name: str
    """See `types.app`."""
    icon_url: str | None = None
    """None: an existing app keeps its icon, a new one gets the default icon."""
    description: TextChange = field(default_factory=lambda: TextChangeKeep())
    """See `types.app`."""
    href: TextChange = field(default_factory=lambda: TextChangeKeep())
    """See `types.app`. A link without its scheme is accepted here, because a document may be older than that
    rule: it is for the dashboard to say so."""
    ping_url: TextChange = field(default_factory=lambda: TextChangeKeep())
    """See `types.app`."""


Access = Literal["lookup", "read", "write"]
"""What a transaction is for."""


@dataclass(frozen=True)
class ConstraintUserName:
    """The provider already has a user with this name-key."""
    tag: ClassVar[Literal["user-name"]] = "user-name"


@dataclass(frozen=True)
class ConstraintIdentity:
    """The provider's subject already belongs to a user, or the user already has another subject of
    that provider."""
    tag: ClassVar[Literal["identity"]] = "identity"


@dataclass(frozen=True)
class ConstraintReference:
    """A record that this one refers to does not exist."""
    tag: ClassVar[Literal["reference"]] = "reference"


@dataclass(frozen=True)
class ConstraintId:
    """The id of a new record is in use, or storage cannot hold it."""
    tag: ClassVar[Literal["id"]] = "id"


@dataclass(frozen=True)
class ConstraintOther:
    """A rule that a later version of the contract names, or one of the dashboard's own. The component
    refuses the call with `internal` and logs the text."""
    tag: ClassVar[Literal["other"]] = "other"
    value: str


Constraint: TypeAlias = ConstraintUserName | ConstraintIdentity | ConstraintReference | ConstraintId | ConstraintOther
"""A rule that storage itself enforces."""


@dataclass(frozen=True)
class StorageRefusalRetry:
    """Another transaction won. The whole transaction may be tried again, after a wait."""
    tag: ClassVar[Literal["retry"]] = "retry"


@dataclass(frozen=True)
class StorageRefusalConstraint:
    """A constraint is violated."""
    tag: ClassVar[Literal["constraint"]] = "constraint"
    value: Constraint


@dataclass(frozen=True)
class StorageRefusalTooLarge:
    """The records of the answer would have more than 100,000,000 bytes of text."""
    tag: ClassVar[Literal["too-large"]] = "too-large"


@dataclass(frozen=True)
class StorageRefusalUnavailable:
    """Storage cannot work now. The text is only for the host's log."""
    tag: ClassVar[Literal["unavailable"]] = "unavailable"
    value: str


@dataclass(frozen=True)
class StorageRefusalOther:
    """A reason that a later version of the contract names. The component refuses the call with
    `internal` and logs the text."""
    tag: ClassVar[Literal["other"]] = "other"
    value: str


StorageRefusal: TypeAlias = StorageRefusalRetry | StorageRefusalConstraint | StorageRefusalTooLarge | StorageRefusalUnavailable | StorageRefusalOther
"""Why storage refused. The transaction accepts nothing more, and its `commit` fails and leaves
nothing behind. Drop it."""


@dataclass(frozen=True)
class ViewerEverything:
    """Someone who may see all apps."""
    tag: ClassVar[Literal["everything"]] = "everything"


@dataclass(frozen=True)
class ViewerAnonymous:
    """A caller who is not signed in."""
    tag: ClassVar[Literal["anonymous"]] = "anonymous"


@dataclass(frozen=True)
class ViewerUser:
    """This user. (If the user's permissions show all boards, or change apps, the component asks for
    `everything`.)"""
    tag: ClassVar[Literal["user"]] = "user"
    value: str


Viewer: TypeAlias = ViewerEverything | ViewerAnonymous | ViewerUser
"""Who will see the apps that a function returns. A dashboard either shows all apps to everyone, and
ignores the viewer, or limits every function to the apps on boards that the viewer may view: for
anonymous callers the public boards, for a user those that `can-view-board` allows."""


@dataclass(kw_only=True)
class ProviderName:
    """A name at a provider."""
    provider: Provider
    """The provider."""
    name_key: str
    """See the interface."""


@dataclass(kw_only=True)
class ProviderSubject:
    """A subject at a provider."""
    provider: Provider
    """The provider."""
    subject: str
    """What identifies the person there."""


@dataclass(kw_only=True)
class NewUser:
    """A user to insert, with the preferences that a new user has; not disabled."""
    user: User
    """The user; the id is new."""
    name_key: str
    """See the interface."""
    color_scheme: ColorScheme
    """See `types.color-scheme`."""
    password_hash: str | None = None
    """An Argon2id hash as PHC text; none for users of other providers."""


@dataclass(frozen=True)
class AccountKeyId:
    """By the user's id."""
    tag: ClassVar[Literal["id"]] = "id"
    value: str


@dataclass(frozen=True)
class AccountKeyName:
    """By the user's name."""
    tag: ClassVar[Literal["name"]] = "name"
    value: ProviderName


@dataclass(frozen=True)
class AccountKeySubject:
    """By the subject that the provider gave."""
    tag: ClassVar[Literal["subject"]] = "subject"
    value: ProviderSubject


AccountKey: TypeAlias = AccountKeyId | AccountKeyName | AccountKeySubject
"""How to find an account."""


@dataclass(kw_only=True)
class Account:
    """What signing in needs to know of a user."""
    id: str
    """The user's id."""
    name: str
    """The user's name."""
    provider: Provider
    """Who authenticates the user."""
    disabled: bool
    """Whether the user is disabled."""
    password_hash: str | None = None
    """The hash as stored: PHC text of Argon2, or one of bcrypt (`$2a$`, `$2b$`, `$2y$`, cost
    4 to 13) that a dashboard had before. None for users of other providers."""
    password_version: int
    """How often `set-password-if` has succeeded for this user. It never decreases."""


@dataclass(kw_only=True)
class Profile:
    """Name and email of a user."""
    name: str
    """The name."""
    name_key: str
    """See the interface."""
    email: str | None = None
    """The email."""
    email_verified: int | None = None
    """When the email was verified."""


@dataclass(kw_only=True)
class ListedUser:
    """A user in a list."""
    id: str
    """The id."""
    name: str
    """The name."""
    email: str | None = None
    """The email."""
    email_verified: int | None = None
    """When the email was verified."""
    provider: Provider
    """Who authenticates the user."""
    disabled: bool
    """Whether the user is disabled."""
    image: str | None = None
    """The image; none if it was not asked for."""


@dataclass(kw_only=True)
class UserFilter:
    """Which users to list or count."""
    provider: Provider | None = None
    """Only users of this provider."""
    name_contains: str | None = None
    """Only users whose name-key contains this; `""` matches all."""
    email: str | None = None
    """Only users whose email is exactly this, byte by byte."""
    disabled: bool | None = None
    """Only users who are, or are not, disabled."""


@dataclass(kw_only=True)
class AppFilter:
    """Which apps to list or count."""
    viewer: Viewer
    """Only apps that this viewer sees."""
    name_contains: str | None = None
    """Only apps whose name-key contains this; `""` matches all."""


@dataclass(kw_only=True)
class Slice:
    """Which of the records that a filter matches, by name."""
    offset: int
    """How many of them to skip."""
    limit: int | None = None
    """At most this many after those; none = all."""


@dataclass(kw_only=True)
class StoredApp:
    """An app to store."""
    app: App
    """The app."""
    name_key: str
    """See the interface."""


Provider = Literal["credentials", "oidc", "ldap"]
"""Who authenticates a user."""


ColorScheme = Literal["light", "dark", "auto"]
"""How the dashboard looks to a user."""


@dataclass(kw_only=True)
class Caller:
    """Who makes a call. The host authenticates, the component authorises."""
    user: UserCaller | None = None
    """The signed-in user; none for a caller who is not signed in."""
    context: str = ""
    """See `context`."""


@dataclass(kw_only=True)
class UserCaller:
    """A signed-in user at the moment of the call."""
    id: str
    """The user's id."""
    permissions: list[str]
    """The permissions as the dashboard has them, from all groups of the user if it has groups. The
    component knows which permission implies which, and ignores those that it does not know."""


@dataclass(kw_only=True)
class User:
    """A user, without the secrets that must never leave: no password, no hash."""
    id: str
    """Unique."""
    name: str
    """Trimmed, NFC, lower case, 3 to 255 characters (of `oidc` and `ldap` 1 to 255); unique within its provider."""
    email: str | None = None
    """At most 254 characters; none if none was given. Not unique."""
    email_verified: int | None = None
    """When the email was verified; none again after each change of the email."""
    image: str | None = None
    """A data URI (PNG, JPEG, GIF, WebP; at most 350,000 characters) or, from an identity
    provider, a URL. Setting a profile image has further rules."""
    provider: Provider
    """Who authenticates the user."""
    home_board_id: str | None = None
    """The board shown first."""
    mobile_home_board_id: str | None = None
    """The board shown first on a small screen."""
    first_day_of_week: int
    """0 = Sunday to 6 = Saturday."""
    ping_icons_enabled: bool
    """Whether apps show the state of their ping."""
    default_search_engine_id: str | None = None
    """The search engine that is used if none is named."""
    open_search_in_new_tab: bool
    """Whether a search opens in a new tab."""


@dataclass(kw_only=True)
class UserSummary:
    """A user in a list."""
    id: str
    """See `user`."""
    name: str
    """See `user`."""
    email: str | None = None
    """See `user`."""
    email_verified: int | None = None
    """See `user`."""
    image: str | None = None
    """See `user`."""


@dataclass(kw_only=True)
class UserEntry:
    """A user in a list for administrators, without the image."""
    id: str
    """See `user`."""
    name: str
    """See `user`."""
    email: str | None = None
    """See `user`."""
    email_verified: int | None = None
    """See `user`."""
    provider: Provider
    """See `user`."""
    disabled: bool
    """Whether the user is disabled and cannot sign in."""


@dataclass(kw_only=True)
class UserQuery:
    """Which page of the users, of which users."""
    page: int
    """From 1."""
    page_size: int
    """1 to 100."""
    search: str | None = None
    """Only users whose name contains this, trimmed; none and `""` match all."""
    provider: Provider | None = None
    """Only users of this provider."""
    disabled: bool | None = None
    """Only users who are, or are not, disabled."""


@dataclass(kw_only=True)
class UserPage:
    """One page of users."""
    items: list[UserEntry]
    """The users of this page, by name."""
    total_count: int
    """How many users match in total."""


@dataclass(kw_only=True)
class UserOption:
    """A user to choose from a list: no email, because every signed-in caller sees it."""
    id: str
    """See `user`."""
    name: str
    """See `user`."""
    image: str | None = None
    """See `user`."""


@dataclass(kw_only=True)
class UserMatch:
    """A user found by name."""
    id: str
    """See `user`."""
    name: str
    """See `user`."""
    email: str | None = None
    """See `user`."""
    image: str | None = None
    """See `user`."""


@dataclass(kw_only=True)
class NewAccount:
    """The data of a new account."""
    username: str
    """Trimmed, NFC, lower-cased; then 3 to 255 characters, no control characters, and none that are
    invisible or change the direction of text (Unicode's Default_Ignorable_Code_Point and
    Bidi_Control), because they make a name look like another user's."""
    password: str
    """8 to 255 characters in NFC, which is what is hashed. Otherwise used unchanged: not trimmed, no
    composition rule."""
    email: str | None = None
    """As HTML's email field accepts it, non-ASCII allowed, at most 254 characters;
    `""` = none."""


@dataclass(kw_only=True)
class Registration:
    """What the holder of an invite sends to become a user."""
    account: NewAccount
    """The account; here the email is required."""
    invite_id: str
    """The invite's id."""
    token: str
    """The invite's secret."""


@dataclass(frozen=True)
class TextChangeKeep:
    """Leaves it as it is."""
    tag: ClassVar[Literal["keep"]] = "keep"


@dataclass(frozen=True)
class TextChangeClear:
    """Removes it."""
    tag: ClassVar[Literal["clear"]] = "clear"


@dataclass(frozen=True)
class TextChangeSet:
    """Replaces it; `""` after trimming removes it."""
    tag: ClassVar[Literal["set"]] = "set"
    value: str


TextChange: TypeAlias = TextChangeKeep | TextChangeClear | TextChangeSet
"""A change that keeps, removes or replaces a text."""


@dataclass(kw_only=True)
class ProfileChange:
    """A change of a profile."""
    id: str
    """The user's id."""
    name: str
    """The new username, under the rules of `new-account`; the present one is always accepted."""
    email: TextChange = field(default_factory=lambda: TextChangeKeep())
    """The email. A different one resets `email-verified`."""


@dataclass(kw_only=True)
class PasswordChange:
    """A change of a password."""
    user_id: str
    """The user's id."""
    previous_password: str | None = None
    """The present password, compared as `sign-in.password` does. Required to change your own, ignored for
    another user's."""
    password: str
    """The new password, under the rules of `new-account`."""


@dataclass(kw_only=True)
class HomeBoards:
    """A user's home boards."""
    home_board_id: str | None = None
    """On a large screen."""
    mobile_home_board_id: str | None = None
    """On a small screen."""


@dataclass(kw_only=True)
class SearchPreferences:
    """A user's search preferences."""
    default_search_engine_id: str | None = None
    """The search engine that is used if none is named."""
    open_in_new_tab: bool
    """Whether a search opens in a new tab."""


@dataclass(kw_only=True)
class App:
    """An app: a service shown on boards."""
    id: str
    """Unique."""
    name: str
    """1 to 64 characters, no control characters. Not unique. A new one has no characters that change the
    direction of text (U+202A to U+202E and U+2066 to U+2069)."""
    description: str | None = None
    """At most 512 characters; newline and tab are the only control characters. A new one has no characters that
    change the direction of text."""
    icon_url: str
    """1 to 65,536 characters on one line. Any text, since clients send relative paths, except URLs
    with `javascript:` or `vbscript:`, and URLs with `data:` that are not images: a browser would
    run them, or show them as a page of the dashboard."""
    href: str | None = None
    """An absolute URL without `javascript:`, `data:` or `vbscript:`; at most 8,192 characters. A new one has
    its scheme. Without `//` after the colon these are refused, because a browser takes a host or a drive
    for the scheme: a scheme of one letter (`C:\\Users`), `localhost:`, and a scheme other than `tel`, `sms`,
    `callto`, `sip`, `sips` and `fax` before a port (1 to 65535) after which the text ends or goes on
    with `/`, `?` or `#` (`nas:5000`)."""
    ping_url: str | None = None
    """An absolute URL with `http:` or `https:`; at most 8,192 characters."""


@dataclass(kw_only=True)
class AppInput:
    """An app to create. Every text is trimmed; none and `""` are the same in the optional ones."""
    name: str
    """See `app`."""
    icon_url: str
    """See `app`."""
    description: str | None = None
    """See `app`."""
    href: str | None = None
    """See `app`."""
    ping_url: str | None = None
    """See `app`."""


@dataclass(kw_only=True)
class AppDraft:
    """An app to create. Its icon can be looked up by its name."""
    name: str
    """See `app`."""
    icon_url: str | None = None
    """None: an icon that fits the name, or else the default icon."""
    description: str | None = None
    """See `app`."""
    href: str | None = None
    """See `app`."""
    ping_url: str | None = None
    """See `app`."""


@dataclass(kw_only=True)
class AppChange:
    """A change of an app. Absent fields stay as they are."""
    id: str
    """The app's id."""
    name: str | None = None
    """See `app`."""
    icon_url: str | None = None
    """See `app`."""
    description: TextChange = field(default_factory=lambda: TextChangeKeep())
    """See `app`."""
    href: TextChange = field(default_factory=lambda: TextChangeKeep())
    """See `app`."""
    ping_url: TextChange = field(default_factory=lambda: TextChangeKeep())
    """See `app`."""


@dataclass(kw_only=True)
class AppPage:
    """One page of apps."""
    items: list[App]
    """The apps of this page, by name."""
    total_count: int
    """How many apps match in total."""


@dataclass(frozen=True)
class ErrorCodeBadRequest:
    """The input breaks a rule; `issues` says which."""
    tag: ClassVar[Literal["bad-request"]] = "bad-request"


@dataclass(frozen=True)
class ErrorCodeUnauthorized:
    """The caller must sign in, or the credentials do not fit."""
    tag: ClassVar[Literal["unauthorized"]] = "unauthorized"


@dataclass(frozen=True)
class ErrorCodeForbidden:
    """The caller may not do this."""
    tag: ClassVar[Literal["forbidden"]] = "forbidden"


@dataclass(frozen=True)
class ErrorCodeNotFound:
    """There is no such record, or the caller may not know of it."""
    tag: ClassVar[Literal["not-found"]] = "not-found"


@dataclass(frozen=True)
class ErrorCodeConflict:
    """The current state does not allow it: a name is taken, the user is the last administrator, or the
    answer would be too large."""
    tag: ClassVar[Literal["conflict"]] = "conflict"


@dataclass(frozen=True)
class ErrorCodeUnavailable:
    """Storage cannot answer now; the same call may succeed later."""
    tag: ClassVar[Literal["unavailable"]] = "unavailable"


@dataclass(frozen=True)
class ErrorCodeInternal:
    """A fault of this component or of its host."""
    tag: ClassVar[Literal["internal"]] = "internal"


@dataclass(frozen=True)
class ErrorCodeOther:
    """A kind that a later version of the contract names. A host treats it like `internal`."""
    tag: ClassVar[Literal["other"]] = "other"
    value: str


ErrorCode: TypeAlias = ErrorCodeBadRequest | ErrorCodeUnauthorized | ErrorCodeForbidden | ErrorCodeNotFound | ErrorCodeConflict | ErrorCodeUnavailable | ErrorCodeInternal | ErrorCodeOther
"""What kind of refusal an error is."""


@dataclass(frozen=True)
class PathSegmentField:
    """The name of a field, as clients write it (`iconUrl`)."""
    tag: ClassVar[Literal["field"]] = "field"
    value: str


@dataclass(frozen=True)
class PathSegmentIndex:
    """A position in a list, from 0."""
    tag: ClassVar[Literal["index"]] = "index"
    value: int


PathSegment: TypeAlias = PathSegmentField | PathSegmentIndex
"""One step of a path into an input."""


@dataclass(kw_only=True)
class Issue:
    """One rule that the input breaks."""
    path: list[PathSegment]
    """Where it is in the input; empty for the input as a whole."""
    message: str
    """The rule, and how it is broken. Never the value of a secret."""


@dataclass(kw_only=True)
class ContractError:
    """Why a call was refused. Nothing was changed."""
    code: ErrorCode
    """The kind."""
    message: str
    """One sentence for people."""
    issues: list[Issue]
    """Each broken rule of the input; empty unless the code is `bad-request`."""


Dialect = Literal["sqlite", "postgresql"]
"""The SQL that the database speaks."""


@dataclass(kw_only=True)
class Configuration:
    """What the dashboard decides. The same in every call."""
    dialect: Dialect
    """The SQL that the database speaks."""
    prefix: str
    """What the names of all tables, indexes and constraints begin with, so that they do not collide with others in
    the database: 1 to 20 of `a` to `z` and `_`, such as `portico_`, and for SQLite not beginning with `sqlite_`. Every
    function refuses another one."""
    session_idle: int
    """How long a session lasts without being used, in milliseconds: 60,000 to `session-most`."""
    session_most: int
    """How long a session lasts at most, in milliseconds: 60,000 to 31,622,400,000 (366 days)."""


@dataclass(frozen=True)
class SqlValueText:
    """A text without U+0000."""
    tag: ClassVar[Literal["text"]] = "text"
    value: str | None


@dataclass(frozen=True)
class SqlValueNumber:
    """A whole number of 64 bits (`bigint`)."""
    tag: ClassVar[Literal["number"]] = "number"
    value: int | None


@dataclass(frozen=True)
class SqlValueTruth:
    """A truth value (`boolean`). Never sent to SQLite."""
    tag: ClassVar[Literal["truth"]] = "truth"
    value: bool | None


@dataclass(frozen=True)
class SqlValueBytes:
    """Bytes (`bytea`, `BLOB`)."""
    tag: ClassVar[Literal["bytes"]] = "bytes"
    value: bytes | None


SqlValue: TypeAlias = SqlValueText | SqlValueNumber | SqlValueTruth | SqlValueBytes
"""A parameter of a statement; none is NULL."""


@dataclass(frozen=True)
class SqlCellNull:
    """NULL."""
    tag: ClassVar[Literal["null"]] = "null"


@dataclass(frozen=True)
class SqlCellText:
    """A text."""
    tag: ClassVar[Literal["text"]] = "text"
    value: str


@dataclass(frozen=True)
class SqlCellNumber:
    """A whole number."""
    tag: ClassVar[Literal["number"]] = "number"
    value: int


@dataclass(frozen=True)
class SqlCellTruth:
    """A truth value."""
    tag: ClassVar[Literal["truth"]] = "truth"
    value: bool


@dataclass(frozen=True)
class SqlCellBytes:
    """Bytes."""
    tag: ClassVar[Literal["bytes"]] = "bytes"
    value: bytes


SqlCell: TypeAlias = SqlCellNull | SqlCellText | SqlCellNumber | SqlCellTruth | SqlCellBytes
"""A value of a row. Where a number is expected, a text with its digits is understood; where a truth value is
expected, 0 and 1."""


SqlAccess = Literal["read", "write"]
"""What a transaction is for."""


@dataclass(frozen=True)
class SqlRefusalRetry:
    """Another transaction won, or holds what this one needs. SQLite: SQLITE_BUSY, SQLITE_LOCKED. PostgreSQL: SQLSTATE
    40001, 40P01, 55P03."""
    tag: ClassVar[Literal["retry"]] = "retry"


@dataclass(frozen=True)
class SqlRefusalUnique:
    """A value that has to be unique is there already. The text says which: in PostgreSQL the name of the constraint
    (`error.constraint` in pg, `error.orig.diag.constraint_name` in psycopg, `orig.constraint_name` in asyncpg;
    SQLSTATE 23505), in SQLite what the message has after `UNIQUE constraint failed: ` (extended code
    SQLITE_CONSTRAINT_UNIQUE or SQLITE_CONSTRAINT_PRIMARYKEY), for example `portico_app.id`."""
    tag: ClassVar[Literal["unique"]] = "unique"
    value: str


@dataclass(frozen=True)
class SqlRefusalReference:
    """A record that this one refers to does not exist. PostgreSQL: SQLSTATE 23503. SQLite:
    SQLITE_CONSTRAINT_FOREIGNKEY (787)."""
    tag: ClassVar[Literal["reference"]] = "reference"


@dataclass(frozen=True)
class SqlRefusalTooLarge:
    """The texts and bytes of the rows are more than 100,000,000 bytes. The driver adds them up, best as it reads."""
    tag: ClassVar[Literal["too-large"]] = "too-large"


@dataclass(frozen=True)
class SqlRefusalUnavailable:
    """Anything else. The text is only for the host's log, and has no value of a statement."""
    tag: ClassVar[Literal["unavailable"]] = "unavailable"
    value: str


SqlRefusal: TypeAlias = SqlRefusalRetry | SqlRefusalUnique | SqlRefusalReference | SqlRefusalTooLarge | SqlRefusalUnavailable
"""Why a statement failed. The transaction runs no other, and is dropped."""


@dataclass(kw_only=True)
class NewSession:
    """A session that has begun."""
    id: str
    """Its id."""
    token: str
    """What the client gets, as a cookie that scripts cannot read."""
    ends_at: int
    """When it ends even if it is used."""


@dataclass(kw_only=True)
class Session:
    """A session, without its token."""
    id: str
    """Its id."""
    created_at: int
    """When it began."""
    last_used_at: int
    """When it was last used, to the minute."""
    expires_at: int
    """When it ends unless it is used before."""
    ends_at: int
    """When it ends even if it is used."""


@dataclass(frozen=True)
class CredentialSession:
    """With the session of this id. A request that changes something must come from a page of the dashboard."""
    tag: ClassVar[Literal["session"]] = "session"
    value: str


@dataclass(frozen=True)
class CredentialKey:
    """With the API key of this id."""
    tag: ClassVar[Literal["key"]] = "key"
    value: str


Credential: TypeAlias = CredentialSession | CredentialKey
"""How a caller proved who they are."""


@dataclass(kw_only=True)
class Authenticated:
    """Who sent a request."""
    caller: Caller
    """For every function of `users` and `apps`: the user, their permissions at this moment, and the context from which
    storage knows the session."""
    credential: Credential
    """How they proved it."""
    expires_at: int | None = None
    """When it expires unless it is used before; none for keys that do not."""


@dataclass(kw_only=True)
class Person:
    """A user, as a page shows who is signed in."""
    id: str
    """The user's id."""
    name: str
    """The name."""
    email: str | None = None
    """The email."""
    image: str | None = None
    """The image."""
    provider: Provider
    """Who authenticates the user."""
    color_scheme: ColorScheme
    """How the dashboard looks to them."""
    permissions: list[str]
    """Permissions from all groups, in order, each once."""


@dataclass(kw_only=True)
class Renewal:
    """A token for the caller's session in place of the one it has."""
    caller: Caller
    """The caller to pass to `users.change-password`."""
    token: str
    """The session's token if that call succeeds."""


@dataclass(kw_only=True)
class Named:
    """The id and the name of a user."""
    id: str
    """The id."""
    name: str
    """The name."""


@dataclass(kw_only=True)
class Group:
    """A group of users, and what its members may do."""
    id: str
    """Its id."""
    name: str
    """Its name; unique."""
    permissions: list[str]
    """In order."""
    members: list[Named]
    """By name."""


@dataclass(kw_only=True)
class NewInvite:
    """An invite that has been made."""
    id: str
    """Its id."""
    token: str
    """Its secret."""


@dataclass(kw_only=True)
class Invite:
    """An invite, without its secret."""
    id: str
    """Its id."""
    expires_at: int
    """When it expires."""
    creator: Named | None = None
    """Who made it; none for the operator."""


@dataclass(kw_only=True)
class NewKey:
    """An API key that has been made."""
    id: str
    """Its id."""
    key: str
    """The whole key."""


@dataclass(kw_only=True)
class Key:
    """An API key, without its secret."""
    id: str
    """Its id."""
    name: str | None = None
    """The name that was given to it."""
    created_at: int
    """When it was made."""
    last_used_at: int | None = None
    """When it was last used, to the minute."""


@dataclass(frozen=True)
class VisibleAppsAll:
    """All. The default."""
    tag: ClassVar[Literal["all"]] = "all"


@dataclass(frozen=True)
class VisibleAppsOnly:
    """Those with these ids, at most 10,000."""
    tag: ClassVar[Literal["only"]] = "only"
    value: list[str]


VisibleApps: TypeAlias = VisibleAppsAll | VisibleAppsOnly
"""Which apps a caller sees."""


class SqlTransaction(Protocol):
    """One transaction, as a dashboard implements it."""
    def query(self, sql: str, values: list[SqlValue]) -> list[list[SqlCell]]:
        """Runs a statement that returns rows. It may write too (`RETURNING`)."""
        ...
    def execute(self, sql: str, values: list[SqlValue]) -> int:
        """Runs a statement, and returns how many rows it changed; any number for one that defines tables or takes a lock. Rows
        that it returns are ignored."""
        ...
    def commit(self) -> None:
        """Sends `COMMIT`. (PostgreSQL reports success for the COMMIT of a transaction in which a statement has failed. It
        is never sent for one.)"""
        ...
    def drop(self) -> None:
        """Rolls back, unless the transaction is over: then it does nothing."""
        ...


class Transaction(Protocol):
    """One transaction, as a dashboard implements it."""
    def commit(self) -> None:
        """Makes every change of the transaction durable, or none of them. May violate what the functions before
        it may violate, if storage checks that only now."""
        ...
    def has_users(self) -> bool:
        """Whether there is any user at all. While there is none, onboarding is open."""
        ...
    def get_user(self, id: str) -> User | None:
        """A user."""
        ...
    def get_account(self, key: AccountKey) -> Account | None:
        """What signing in needs to know of a user."""
        ...
    def list_users(self, filter: UserFilter, slice: Slice, with_images: bool) -> list[ListedUser]:
        """Users by name; without their images unless `with-images`."""
        ...
    def count_users(self, filter: UserFilter) -> int:
        """How many users a filter matches."""
        ...
    def insert_user(self, user: NewUser) -> None:
        """Inserts a user. May violate `user-name` or `id`."""
        ...
    def insert_identity(self, user_id: str, subject: ProviderSubject) -> None:
        """Records which subject of a provider a user is; a user has at most one of each provider. A user
        of `credentials` has one only if they were linked. May violate `identity` or `reference`."""
        ...
    def set_profile(self, id: str, profile: Profile) -> bool:
        """Sets name and email; false if there is no such user, here and in the functions that follow. May
        violate `user-name`."""
        ...
    def set_image(self, id: str, image: str | None) -> bool:
        """Sets or removes the image."""
        ...
    def set_home_boards(self, id: str, boards: HomeBoards) -> bool:
        """Sets the home boards. May violate `reference`."""
        ...
    def set_search_preferences(self, id: str, preferences: SearchPreferences) -> bool:
        """Sets the search preferences. May violate `reference`."""
        ...
    def set_color_scheme(self, id: str, color_scheme: ColorScheme) -> bool:
        """Sets the colour scheme."""
        ...
    def set_ping_icons_enabled(self, id: str, enabled: bool) -> bool:
        """Sets whether apps show the state of their ping."""
        ...
    def set_first_day_of_week(self, id: str, day: int) -> bool:
        """Sets the first day of the week: 0 = Sunday to 6 = Saturday."""
        ...
    def set_disabled(self, id: str, disabled: bool) -> bool:
        """Disables or enables a user. Disabling ends the user's sessions and API keys with the commit. While
        a user is disabled, storage accepts no new ones."""
        ...
    def set_password_if(self, id: str, old: str | None, new: str) -> bool:
        """Replaces the password hash if it still is `old` (none: the user has none yet), and returns
        whether it did. If it did, the user's `password-version` grows by one, and the user's sessions end
        with the commit, except the session of this call. If the caller is not that user (but an
        administrator or the operator), the user's API keys end as well."""
        ...
    def rehash_password_if(self, id: str, old: str, new: str) -> bool:
        """Replaces the hash by another one of the same password if it still is `old`, and returns
        whether it did. The password is the same, so sessions stay and nothing else changes."""
        ...
    def delete_user(self, id: str) -> bool:
        """Removes a user and everything that belongs to them: memberships, preferences, keys, sessions,
        identities, invites they created, shares with them. Boards they created stay, without a
        creator. False if there is no such user."""
        ...
    def has_another_admin(self, except_: str) -> bool:
        """Whether any user except this one holds the permission `admin` and is not disabled."""
        ...
    def grant_admin(self, id: str) -> None:
        """Gives a user the permission `admin`. May violate `reference`."""
        ...
    def add_to_group(self, user_id: str, group_id: str) -> bool:
        """Makes a user a member of a group, if they are not one already; false if there is no such
        group. May violate `reference` (no such user)."""
        ...
    def has_invite(self, id: str, token: str, now: int) -> bool:
        """Whether an invite with this id and secret exists and expires later than `now`. Store only a
        hash of the secret, and compare in constant time."""
        ...
    def take_invite(self, id: str, token: str, now: int) -> bool:
        """The same, and removes the invite: of several concurrent calls, one succeeds."""
        ...
    def can_view_board(self, user_id: str, board_id: str) -> bool:
        """Whether a user may view a board; the dashboard decides. In Portico, everyone may view a public
        board. Any board may be viewed by its creator, by users and members of groups that it is
        shared with, and by users with `admin`, `board-view-all`, `board-modify-all` or
        `board-full-all`."""
        ...
    def has_search_engine(self, id: str) -> bool:
        """Whether there is such a search engine."""
        ...
    def get_app(self, id: str, viewer: Viewer) -> App | None:
        """An app, if this viewer sees it."""
        ...
    def get_apps(self, ids: list[str], viewer: Viewer) -> list[App]:
        """The apps with these ids that exist and that this viewer sees, in any order. At most 1,000 ids."""
        ...
    def list_apps(self, filter: AppFilter, slice: Slice) -> list[App]:
        """Apps by name."""
        ...
    def count_apps(self, filter: AppFilter) -> int:
        """How many apps a filter matches."""
        ...
    def insert_apps(self, apps: list[StoredApp]) -> None:
        """Inserts apps. At most 1,000. May violate `id`."""
        ...
    def update_app(self, app: StoredApp) -> bool:
        """Replaces an app; false if there is no such app."""
        ...
    def delete_app(self, id: str) -> bool:
        """Removes an app, and removes it from every board that shows it; false if there is no such app."""
        ...
    def drop(self) -> None:
        """Rolls back, unless the transaction is over: then it does nothing."""
        ...


class AsyncSqlTransaction(Protocol):
    """One transaction, as a dashboard implements it asynchronously."""
    async def query(self, sql: str, values: list[SqlValue]) -> list[list[SqlCell]]:
        """See `SqlTransaction.query`."""
        ...
    async def execute(self, sql: str, values: list[SqlValue]) -> int:
        """See `SqlTransaction.execute`."""
        ...
    async def commit(self) -> None:
        """See `SqlTransaction.commit`."""
        ...
    async def drop(self) -> None:
        """Rolls back, unless the transaction is over: then it does nothing."""
        ...


class AsyncTransaction(Protocol):
    """One transaction, as a dashboard implements it asynchronously."""
    async def commit(self) -> None:
        """See `Transaction.commit`."""
        ...
    async def has_users(self) -> bool:
        """See `Transaction.has_users`."""
        ...
    async def get_user(self, id: str) -> User | None:
        """See `Transaction.get_user`."""
        ...
    async def get_account(self, key: AccountKey) -> Account | None:
        """See `Transaction.get_account`."""
        ...
    async def list_users(self, filter: UserFilter, slice: Slice, with_images: bool) -> list[ListedUser]:
        """See `Transaction.list_users`."""
        ...
    async def count_users(self, filter: UserFilter) -> int:
        """See `Transaction.count_users`."""
        ...
    async def insert_user(self, user: NewUser) -> None:
        """See `Transaction.insert_user`."""
        ...
    async def insert_identity(self, user_id: str, subject: ProviderSubject) -> None:
        """See `Transaction.insert_identity`."""
        ...
    async def set_profile(self, id: str, profile: Profile) -> bool:
        """See `Transaction.set_profile`."""
        ...
    async def set_image(self, id: str, image: str | None) -> bool:
        """See `Transaction.set_image`."""
        ...
    async def set_home_boards(self, id: str, boards: HomeBoards) -> bool:
        """See `Transaction.set_home_boards`."""
        ...
    async def set_search_preferences(self, id: str, preferences: SearchPreferences) -> bool:
        """See `Transaction.set_search_preferences`."""
        ...
    async def set_color_scheme(self, id: str, color_scheme: ColorScheme) -> bool:
        """See `Transaction.set_color_scheme`."""
        ...
    async def set_ping_icons_enabled(self, id: str, enabled: bool) -> bool:
        """See `Transaction.set_ping_icons_enabled`."""
        ...
    async def set_first_day_of_week(self, id: str, day: int) -> bool:
        """See `Transaction.set_first_day_of_week`."""
        ...
    async def set_disabled(self, id: str, disabled: bool) -> bool:
        """See `Transaction.set_disabled`."""
        ...
    async def set_password_if(self, id: str, old: str | None, new: str) -> bool:
        """See `Transaction.set_password_if`."""
        ...
    async def rehash_password_if(self, id: str, old: str, new: str) -> bool:
        """See `Transaction.rehash_password_if`."""
        ...
    async def delete_user(self, id: str) -> bool:
        """See `Transaction.delete_user`."""
        ...
    async def has_another_admin(self, except_: str) -> bool:
        """See `Transaction.has_another_admin`."""
        ...
    async def grant_admin(self, id: str) -> None:
        """See `Transaction.grant_admin`."""
        ...
    async def add_to_group(self, user_id: str, group_id: str) -> bool:
        """See `Transaction.add_to_group`."""
        ...
    async def has_invite(self, id: str, token: str, now: int) -> bool:
        """See `Transaction.has_invite`."""
        ...
    async def take_invite(self, id: str, token: str, now: int) -> bool:
        """See `Transaction.take_invite`."""
        ...
    async def can_view_board(self, user_id: str, board_id: str) -> bool:
        """See `Transaction.can_view_board`."""
        ...
    async def has_search_engine(self, id: str) -> bool:
        """See `Transaction.has_search_engine`."""
        ...
    async def get_app(self, id: str, viewer: Viewer) -> App | None:
        """See `Transaction.get_app`."""
        ...
    async def get_apps(self, ids: list[str], viewer: Viewer) -> list[App]:
        """See `Transaction.get_apps`."""
        ...
    async def list_apps(self, filter: AppFilter, slice: Slice) -> list[App]:
        """See `Transaction.list_apps`."""
        ...
    async def count_apps(self, filter: AppFilter) -> int:
        """See `Transaction.count_apps`."""
        ...
    async def insert_apps(self, apps: list[StoredApp]) -> None:
        """See `Transaction.insert_apps`."""
        ...
    async def update_app(self, app: StoredApp) -> bool:
        """See `Transaction.update_app`."""
        ...
    async def delete_app(self, id: str) -> bool:
        """See `Transaction.delete_app`."""
        ...
    async def drop(self) -> None:
        """Rolls back, unless the transaction is over: then it does nothing."""
        ...


class Users:
    """Accounts, profiles, preferences and passwords.

    Every function checks in this order: authentication, permission, input, ownership, existence,
    provider, uniqueness. "Own or admin" below: the caller acts on their own user, or holds
    `admin`. Otherwise another user's id is `forbidden`, whether it exists or not; for an administrator
    an id that does not exist is `not-found`. Every change is one transaction: all or nothing.

    A disabled user has no sessions and no API keys, and every way to sign in answers as for a wrong
    password. What the user owns stays. Disabled users do not count as administrators.

    `get-all` and `selectable` are refused with `conflict` if their users have more than 100,000,000 bytes of
    text, images included; `get-paginated` and `search` read them in parts."""
    def __init__(self, run: Callable[..., Any]) -> None:
        self._run = run

    def get_all(self, caller: Caller) -> list[UserSummary]:
        """All users by name. Permission `admin`."""
        found: list[UserSummary] = self._run("users", "get-all", caller)
        return found

    def get_paginated(self, caller: Caller, query: UserQuery) -> UserPage:
        """One page of users by name, without their images. Permission `admin`. A page past the end has no
        items, and the right count."""
        found: UserPage = self._run("users", "get-paginated", caller, query)
        return found

    def selectable(self, caller: Caller, exclude_external_providers: bool | None = None) -> list[UserOption]:
        """Users to choose from, by name. Any signed-in caller. `exclude-external-providers` leaves
        only users of the provider `credentials`; none = false."""
        found: list[UserOption] = self._run("users", "selectable", caller, exclude_external_providers)
        return found

    def search(self, caller: Caller, query: str, limit: int | None = None) -> list[UserMatch]:
        """The first users by name whose name contains the query, trimmed; `""` matches all. (Names are
        trimmed, so a pasted query with spaces around it would find nothing.) Permission `admin`.
        `limit` is 1 to 100; none = 10."""
        found: list[UserMatch] = self._run("users", "search", caller, query, limit)
        return found

    def get_by_id(self, caller: Caller, user_id: str) -> User:
        """One user. Own or admin."""
        found: User = self._run("users", "get-by-id", caller, user_id)
        return found

    def init_user(self, caller: Caller, account: NewAccount) -> str:
        """Creates the first user, with the permission `admin`, and returns its id. No authentication.
        `forbidden` once a user exists, for any input: decided in the transaction that creates the user."""
        found: str = self._run("users", "init-user", caller, account)
        return found

    def register(self, caller: Caller, registration: Registration) -> str:
        """Creates a user with an invite, which is then used up, and returns its id. Public. `forbidden`:
        the invite is unknown, used or expired, or its token is wrong. After that, `conflict`: the name
        is taken."""
        found: str = self._run("users", "register", caller, registration)
        return found

    def create(self, caller: Caller, account: NewAccount, group_ids: list[str]) -> str:
        """Creates a user who is a member of these groups (at most 1,000) and returns its id.
        Permission `admin`. `conflict`: the name is taken; `not-found`: no such group."""
        found: str = self._run("users", "create", caller, account, group_ids)
        return found

    def set_profile_image(self, caller: Caller, user_id: str, image: str | None = None) -> None:
        """Sets or removes a profile image. Own or admin. The image is a data URI of type PNG, JPEG,
        GIF or WebP in strict base64, begins with that format's signature, and has at most 350,000
        characters after trimming (tools often end base64 with a line end). If its size can be read, it has at
        most 8,192 pixels a side and 40,000,000 in all. It is stored without what says where, when and by whom
        it was made: of EXIF only the orientation is kept, and XMP, comments, texts and what follows the end
        of the picture are removed. An image without any of that is stored as it is."""
        self._run("users", "set-profile-image", caller, user_id, image)

    def edit_profile(self, caller: Caller, change: ProfileChange) -> None:
        """Changes name and email. Own or admin. `forbidden`: the user belongs to an external provider;
        `conflict`: the name is taken."""
        self._run("users", "edit-profile", caller, change)

    def change_password(self, caller: Caller, change: PasswordChange) -> None:
        """Changes a password and ends the user's other sessions. If an administrator sets it, the user's
        API keys end as well. Own or admin. `bad-request`: the caller's own password without the previous
        one; `forbidden`: the previous one is wrong, or the user belongs to an external provider; `conflict`:
        the password was changed during the call."""
        self._run("users", "change-password", caller, change)

    def change_home_boards(self, caller: Caller, user_id: str, boards: HomeBoards) -> None:
        """Sets the home boards. Own or admin. `not-found`: a board that does not exist, or that the user
        (not the caller) may not view."""
        self._run("users", "change-home-boards", caller, user_id, boards)

    def change_search_preferences(self, caller: Caller, user_id: str, preferences: SearchPreferences) -> None:
        """Sets the search preferences. Own or admin. `not-found`: no such search engine."""
        self._run("users", "change-search-preferences", caller, user_id, preferences)

    def change_color_scheme(self, caller: Caller, color_scheme: ColorScheme) -> None:
        """Sets the caller's colour scheme. Any signed-in caller."""
        self._run("users", "change-color-scheme", caller, color_scheme)

    def change_ping_icons_enabled(self, caller: Caller, user_id: str, enabled: bool) -> None:
        """Sets whether apps show the state of their ping. Own or admin."""
        self._run("users", "change-ping-icons-enabled", caller, user_id, enabled)

    def change_first_day_of_week(self, caller: Caller, user_id: str, first_day_of_week: int) -> None:
        """Sets the first day of the week: 0 = Sunday to 6 = Saturday. Own or admin."""
        self._run("users", "change-first-day-of-week", caller, user_id, first_day_of_week)

    def set_disabled(self, caller: Caller, user_id: str, disabled: bool) -> None:
        """Disables or enables a user. Permission `admin`. `not-found`: no such user; `conflict`: the last
        administrator."""
        self._run("users", "set-disabled", caller, user_id, disabled)

    def delete(self, caller: Caller, user_id: str) -> None:
        """Deletes a user and everything that belongs to them. Own or admin. Succeeds if there is no such
        user. `conflict`: the last administrator."""
        self._run("users", "delete", caller, user_id)



class Apps:
    """The services shown on boards. `app-full-all` implies `app-modify-all` implies `app-create`;
    `admin` implies all.

    A dashboard may limit callers to the apps on boards that they may view (`storage.viewer`). Every
    function then treats all other apps as if they did not exist. Callers with `app-create`, a permission
    that implies it, `board-view-all`, `board-modify-all` or `board-full-all` see all apps.

    `all` and `selectable` are refused with `conflict` if their apps have more than 100,000,000 bytes of
    text: use `get-paginated` then. `by-ids` is refused in the same way: ask for fewer ids then."""
    def __init__(self, run: Callable[..., Any]) -> None:
        self._run = run

    def all(self, caller: Caller) -> list[App]:
        """All apps by name. Any signed-in caller."""
        found: list[App] = self._run("apps", "all", caller)
        return found

    def get_paginated(self, caller: Caller, page: int, page_size: int, search: str | None = None) -> AppPage:
        """One page of the apps whose name contains `search` (trimmed; none and `""` match all), by
        name. Any signed-in caller. `page` counts from 1; `page-size` is 1 to 100. A page past the end
        has no items, and the right count."""
        found: AppPage = self._run("apps", "get-paginated", caller, page, page_size, search)
        return found

    def search(self, caller: Caller, query: str, limit: int | None = None) -> list[App]:
        """The first apps by name whose name contains the query, trimmed; `""` matches all. (Names are
        trimmed, so a pasted query with spaces around it would find nothing.) Any signed-in caller.
        `limit` is 1 to 100; none = 10."""
        found: list[App] = self._run("apps", "search", caller, query, limit)
        return found

    def selectable(self, caller: Caller) -> list[App]:
        """All apps by name, to choose from. Any signed-in caller."""
        found: list[App] = self._run("apps", "selectable", caller)
        return found

    def by_id(self, caller: Caller, id: str) -> App:
        """One app. Public."""
        found: App = self._run("apps", "by-id", caller, id)
        return found

    def by_ids(self, caller: Caller, ids: list[str]) -> list[App]:
        """The apps with these ids (at most 1,000) that exist, in the order of the ids, each once. Public."""
        found: list[App] = self._run("apps", "by-ids", caller, ids)
        return found

    def create(self, caller: Caller, input: AppInput) -> App:
        """Creates an app. Permission `app-create`."""
        found: App = self._run("apps", "create", caller, input)
        return found

    def create_many(self, caller: Caller, inputs: list[AppDraft]) -> list[App]:
        """Creates 1 to 1,000 apps, all or none, and returns them in the order given. Permission
        `app-create`."""
        found: list[App] = self._run("apps", "create-many", caller, inputs)
        return found

    def update(self, caller: Caller, change: AppChange) -> None:
        """Changes an app. Permission `app-modify-all`."""
        self._run("apps", "update", caller, change)

    def delete(self, caller: Caller, id: str) -> None:
        """Deletes an app, and removes it from every board. Permission `app-full-all`. Succeeds if there is
        no such app."""
        self._run("apps", "delete", caller, id)



class SignIn:
    """Authentication of users. What follows from it (a session, a cookie) is the host's part."""
    def __init__(self, run: Callable[..., Any]) -> None:
        self._run = run

    def password(self, username: str, password: str) -> SignedIn:
        """Checks a username and a password of the provider `credentials`. `unauthorized`, with the
        same message and after the same work, for an unknown user, a wrong password, a disabled user, and a
        user of another provider. The password is compared in NFC. If that does not fit and the text that was
        sent is another, that text is compared, because a hash may be older than this rule or come from
        another dashboard. A hash that is weaker than a new one, of bcrypt, or of a text that is not NFC is
        replaced in the same call (`storage.rehash-password-if`). A password of up to 4,096 characters is
        checked. (Checking an imported or weaker hash takes a different time, until its owner signs in.) Costs
        as much as a procedure of the cost `hash`.

        The password may be changed while it is checked, and that change ends the existing sessions. To
        prevent a new session after that with the old password, begin the session only if, in the
        transaction that begins it, the user exists, is not disabled, and still has this
        `password-version`. (Comparing hashes would not do: the hash may have been replaced by another one of
        the same password.) The session must not outlive a change whose transaction is still open either: where
        transactions are not serialisable, read the user under a lock (`FOR SHARE`), or take the lock of the
        writers first."""
        found: SignedIn = self._run("sign-in", "password", username, password)
        return found

    def external(self, identity: Identity, linking: Linking) -> SignedIn:
        """Finds the user that a provider vouches for and updates name, email and picture (an image that the
        user has set stays); at the first sign-in, creates or links the user. A linked user of
        `credentials` is not updated.

        A user of the provider who has the person's name and no subject yet (as `state.put-users` creates them)
        is linked to the person too. In a directory the name is enough, because the directory decides who has it.
        At an issuer, where people may choose their names, the email must be the user's as well, under the
        conditions of `linking`.

        `forbidden`: no user exists yet (`users.init-user` creates the first one,
        an administrator). `unauthorized`: the user is disabled. `bad-request`: the name or the subject breaks
        a rule. `conflict`: another user of the provider has the name of a person who signs in for the first time, and
        is not linked; or another subject of the provider is linked to the user. A known person whose new name another
        user has keeps the old one."""
        found: SignedIn = self._run("sign-in", "external", identity, linking)
        return found



class Names:
    """How names are compared."""
    def __init__(self, run: Callable[..., Any]) -> None:
        self._run = run

    def keys(self, names: list[str]) -> list[str]:
        """The name-key of each name: NFC, lower case by character without regard to a locale, NFC.
        For a dashboard that computes the name-keys of records that it has already, or compares names of
        its own."""
        found: list[str] = self._run("names", "keys", names)
        return found



class State:
    """Users and apps as a document states them: for a dashboard that applies a desired state.

    Every function needs the permission `admin` and takes lists of at most 1,000. The rules are
    those of `users` and `apps`; an issue's path begins with the position in the list. Checking,
    hashing and looking up icons take long and write nothing: a dashboard does them first. Then it
    puts all lists inside one transaction of its own, by answering each `storage.begin` with a part
    of it, so that a document is applied as a whole or not at all. A dashboard without desired state
    ignores this interface: nothing else needs it."""
    def __init__(self, run: Callable[..., Any]) -> None:
        self._run = run

    def check_users(self, caller: Caller, users: list[WantedUser]) -> None:
        """Refuses users that `put-users` would refuse regardless of what is stored."""
        self._run("state", "check-users", caller, users)

    def check_apps(self, caller: Caller, apps: list[WantedApp]) -> None:
        """Refuses apps that `put-apps` would refuse regardless of what is stored."""
        self._run("state", "check-apps", caller, apps)

    def hash_password(self, caller: Caller, password: str) -> str:
        """Checks a password and hashes it. Takes tens of milliseconds of processor time."""
        found: str = self._run("state", "hash-password", caller, password)
        return found

    def find_icons(self, caller: Caller, names: list[str]) -> list[str]:
        """For each name of an app, an icon that fits it, or else the default icon."""
        found: list[str] = self._run("state", "find-icons", caller, names)
        return found

    def put_users(self, caller: Caller, users: list[WantedUser]) -> list[str]:
        """Creates or changes these users, all or none, and returns their ids in the order given.
        Whether an administrator remains is for the dashboard to check, once it has put the whole document."""
        found: list[str] = self._run("state", "put-users", caller, users)
        return found

    def put_apps(self, caller: Caller, apps: list[WantedApp]) -> list[str]:
        """Creates or changes these apps, all or none, and returns their ids in the order given. No app may
        be in the list twice. `bad-request`: an id that storage cannot hold."""
        found: list[str] = self._run("state", "put-apps", caller, apps)
        return found



class Procedures:
    """The procedures that this component offers, so that a host in any language learns them from one place."""
    def __init__(self, run: Callable[..., Any]) -> None:
        self._run = run

    def describe(self) -> list[Procedure]:
        """Every procedure of `users` and `apps`, in the order of the interfaces. The answer never changes."""
        found: list[Procedure] = self._run("procedures", "describe")
        return found



class People:
    """What a dashboard with users of its own would have besides the contract: sessions, API keys, groups, invites, and the
    tables of all of it.

    **These functions check no permission**: the dashboard itself calls them. Let only holders of `admin` reach those of
    groups and invites, and a user only their own sessions and keys.

    `caller.context` is how storage knows who calls, and in which session: empty for the operator and for anonymous callers;
    else the id of the session (or nothing), a line feed, the SHA-256 of the session's next token in hexadecimal digits (or
    nothing), a line feed, and the user's id. `authenticate`, `caller-of` and `renew-with-password` make it.

    Names are trimmed, and compared by their name-keys. Tokens and keys are shown once: the database has only their SHA-256.
    Refusals have the codes of `portico:dashboard/types`; where a comment names none, only `unavailable` and `internal`
    can come."""
    def __init__(self, run: Callable[..., Any]) -> None:
        self._run = run

    def migrate(self) -> None:
        """Makes the tables, or upgrades them to the version that this component knows. Call it once, before anything else; of
        several at the same time, one does it. Refuses with `conflict` tables that a newer component has made, and tables
        with these names that are another program's."""
        self._run("sql/people", "migrate")

    def begin_session(self, user_id: str, password_version: int) -> NewSession:
        """Begins a session of a user whom `sign-in` has just authenticated, with the password version that it returned.
        `unauthorized`: the password was changed meanwhile, or the user is disabled or deleted."""
        found: NewSession = self._run("sql/people", "begin-session", user_id, password_version)
        return found

    def authenticate(self, secret: str) -> Authenticated | None:
        """Who sent a request with this session token or API key; none if it is unknown, has ended, or has not the form of either
        (which costs no statement). One look-up, and once a minute a write that notes the use."""
        found: Authenticated | None = self._run("sql/people", "authenticate", secret)
        return found

    def caller_of(self, user_id: str) -> Caller | None:
        """The caller without a session: for a dashboard that authenticates by itself (`{ authenticate }`). None for a user who
        is missing or disabled."""
        found: Caller | None = self._run("sql/people", "caller-of", user_id)
        return found

    def renew_with_password(self, caller: Caller) -> Renewal:
        """Changing one's own password keeps the session of the call. It should get another token, because who knew the old
        password may know the token too: pass this caller to `users.change-password`, and if that succeeds, send this
        token to the client. If it fails, the old token stays. A caller without a session is returned unchanged, with an
        empty token. Writes nothing."""
        found: Renewal = self._run("sql/people", "renew-with-password", caller)
        return found

    def end_session(self, token: str) -> None:
        """Ends the session with this token. Succeeds if there is none."""
        self._run("sql/people", "end-session", token)

    def end_other_sessions(self, user_id: str, except_: str | None = None) -> int:
        """Ends all sessions of a user except this one, and returns how many."""
        found: int = self._run("sql/people", "end-other-sessions", user_id, except_)
        return found

    def list_sessions(self, user_id: str) -> list[Session]:
        """A user's sessions, in the order of their ids, expired ones included until they are cleared away."""
        found: list[Session] = self._run("sql/people", "list-sessions", user_id)
        return found

    def get_person(self, user_id: str) -> Person | None:
        """A user, as a page shows who is signed in."""
        found: Person | None = self._run("sql/people", "get-person", user_id)
        return found

    def permissions_of(self, user_id: str) -> list[str]:
        """The permissions of a user from all groups, in order, each once."""
        found: list[str] = self._run("sql/people", "permissions-of", user_id)
        return found

    def list_groups(self) -> list[Group]:
        """All groups by name."""
        found: list[Group] = self._run("sql/people", "list-groups")
        return found

    def create_group(self, id: str | None, name: str, permissions: list[str]) -> str:
        """Creates a group and returns its id: a new one, or the one that is given. `bad-request`: the name does not have 1 to
        64 characters on one line, or a permission does not; `conflict`: the name or the id is taken. Permissions are those of
        Portico, and any of the dashboard's own; at most 1,000."""
        found: str = self._run("sql/people", "create-group", id, name, permissions)
        return found

    def rename_group(self, id: str, name: str) -> None:
        """Gives a group another name. `not-found`; `bad-request` and `conflict` as above."""
        self._run("sql/people", "rename-group", id, name)

    def set_group_permissions(self, id: str, permissions: list[str]) -> None:
        """Replaces the permissions of a group. `not-found`; `bad-request` as above; `conflict`: no administrator would be left."""
        self._run("sql/people", "set-group-permissions", id, permissions)

    def add_member(self, group_id: str, user_id: str) -> None:
        """Makes a user a member. Succeeds if they are one. `not-found`: no such group or user."""
        self._run("sql/people", "add-member", group_id, user_id)

    def remove_member(self, group_id: str, user_id: str) -> None:
        """Removes a member. Succeeds if they are not one. `conflict`: no administrator would be left."""
        self._run("sql/people", "remove-member", group_id, user_id)

    def delete_group(self, id: str) -> None:
        """Deletes a group. Succeeds if there is none. `conflict`: no administrator would be left."""
        self._run("sql/people", "delete-group", id)

    def create_invite(self, creator: str | None, expires_at: int) -> NewInvite:
        """Makes an invite, with which `users.register` works once. `not-found`: no such creator; `bad-request`: it would
        expire after the year 9999."""
        found: NewInvite = self._run("sql/people", "create-invite", creator, expires_at)
        return found

    def list_invites(self) -> list[Invite]:
        """All invites, the first to expire first; expired ones included."""
        found: list[Invite] = self._run("sql/people", "list-invites")
        return found

    def delete_invite(self, id: str) -> None:
        """Deletes an invite. Succeeds if there is none."""
        self._run("sql/people", "delete-invite", id)

    def create_key(self, user_id: str, name: str | None = None) -> NewKey:
        """Makes an API key of a user. `not-found`: no such user, or a disabled one; `bad-request`: the name does not have 1 to
        64 characters on one line."""
        found: NewKey = self._run("sql/people", "create-key", user_id, name)
        return found

    def list_keys(self, user_id: str) -> list[Key]:
        """A user's API keys, in the order of their ids."""
        found: list[Key] = self._run("sql/people", "list-keys", user_id)
        return found

    def delete_key(self, user_id: str, id: str) -> None:
        """Ends an API key of a user. Succeeds if there is none."""
        self._run("sql/people", "delete-key", user_id, id)

    def forget_board(self, id: str) -> None:
        """A board was deleted: no user has it as a home board any more."""
        self._run("sql/people", "forget-board", id)

    def forget_search_engine(self, id: str) -> None:
        """A search engine was deleted: no user has it as their default any more."""
        self._run("sql/people", "forget-search-engine", id)



class AsyncUsers:
    """`Users`, asynchronously."""
    def __init__(self, run: Callable[..., Awaitable[Any]]) -> None:
        self._run = run

    async def get_all(self, caller: Caller) -> list[UserSummary]:
        """See `Users.get_all`."""
        found: list[UserSummary] = await self._run("users", "get-all", caller)
        return found

    async def get_paginated(self, caller: Caller, query: UserQuery) -> UserPage:
        """See `Users.get_paginated`."""
        found: UserPage = await self._run("users", "get-paginated", caller, query)
        return found

    async def selectable(self, caller: Caller, exclude_external_providers: bool | None = None) -> list[UserOption]:
        """See `Users.selectable`."""
        found: list[UserOption] = await self._run("users", "selectable", caller, exclude_external_providers)
        return found

    async def search(self, caller: Caller, query: str, limit: int | None = None) -> list[UserMatch]:
        """See `Users.search`."""
        found: list[UserMatch] = await self._run("users", "search", caller, query, limit)
        return found

    async def get_by_id(self, caller: Caller, user_id: str) -> User:
        """See `Users.get_by_id`."""
        found: User = await self._run("users", "get-by-id", caller, user_id)
        return found

    async def init_user(self, caller: Caller, account: NewAccount) -> str:
        """See `Users.init_user`."""
        found: str = await self._run("users", "init-user", caller, account)
        return found

    async def register(self, caller: Caller, registration: Registration) -> str:
        """See `Users.register`."""
        found: str = await self._run("users", "register", caller, registration)
        return found

    async def create(self, caller: Caller, account: NewAccount, group_ids: list[str]) -> str:
        """See `Users.create`."""
        found: str = await self._run("users", "create", caller, account, group_ids)
        return found

    async def set_profile_image(self, caller: Caller, user_id: str, image: str | None = None) -> None:
        """See `Users.set_profile_image`."""
        await self._run("users", "set-profile-image", caller, user_id, image)

    async def edit_profile(self, caller: Caller, change: ProfileChange) -> None:
        """See `Users.edit_profile`."""
        await self._run("users", "edit-profile", caller, change)

    async def change_password(self, caller: Caller, change: PasswordChange) -> None:
        """See `Users.change_password`."""
        await self._run("users", "change-password", caller, change)

    async def change_home_boards(self, caller: Caller, user_id: str, boards: HomeBoards) -> None:
        """See `Users.change_home_boards`."""
        await self._run("users", "change-home-boards", caller, user_id, boards)

    async def change_search_preferences(self, caller: Caller, user_id: str, preferences: SearchPreferences) -> None:
        """See `Users.change_search_preferences`."""
        await self._run("users", "change-search-preferences", caller, user_id, preferences)

    async def change_color_scheme(self, caller: Caller, color_scheme: ColorScheme) -> None:
        """See `Users.change_color_scheme`."""
        await self._run("users", "change-color-scheme", caller, color_scheme)

    async def change_ping_icons_enabled(self, caller: Caller, user_id: str, enabled: bool) -> None:
        """See `Users.change_ping_icons_enabled`."""
        await self._run("users", "change-ping-icons-enabled", caller, user_id, enabled)

    async def change_first_day_of_week(self, caller: Caller, user_id: str, first_day_of_week: int) -> None:
        """See `Users.change_first_day_of_week`."""
        await self._run("users", "change-first-day-of-week", caller, user_id, first_day_of_week)

    async def set_disabled(self, caller: Caller, user_id: str, disabled: bool) -> None:
        """See `Users.set_disabled`."""
        await self._run("users", "set-disabled", caller, user_id, disabled)

    async def delete(self, caller: Caller, user_id: str) -> None:
        """See `Users.delete`."""
        await self._run("users", "delete", caller, user_id)



class AsyncApps:
    """`Apps`, asynchronously."""
    def __init__(self, run: Callable[..., Awaitable[Any]]) -> None:
        self._run = run

    async def all(self, caller: Caller) -> list[App]:
        """See `Apps.all`."""
        found: list[App] = await self._run("apps", "all", caller)
        return found

    async def get_paginated(self, caller: Caller, page: int, page_size: int, search: str | None = None) -> AppPage:
        """See `Apps.get_paginated`."""
        found: AppPage = await self._run("apps", "get-paginated", caller, page, page_size, search)
        return found

    async def search(self, caller: Caller, query: str, limit: int | None = None) -> list[App]:
        """See `Apps.search`."""
        found: list[App] = await self._run("apps", "search", caller, query, limit)
        return found

    async def selectable(self, caller: Caller) -> list[App]:
        """See `Apps.selectable`."""
        found: list[App] = await self._run("apps", "selectable", caller)
        return found

    async def by_id(self, caller: Caller, id: str) -> App:
        """See `Apps.by_id`."""
        found: App = await self._run("apps", "by-id", caller, id)
        return found

    async def by_ids(self, caller: Caller, ids: list[str]) -> list[App]:
        """See `Apps.by_ids`."""
        found: list[App] = await self._run("apps", "by-ids", caller, ids)
        return found

    async def create(self, caller: Caller, input: AppInput) -> App:
        """See `Apps.create`."""
        found: App = await self._run("apps", "create", caller, input)
        return found

    async def create_many(self, caller: Caller, inputs: list[AppDraft]) -> list[App]:
        """See `Apps.create_many`."""
        found: list[App] = await self._run("apps", "create-many", caller, inputs)
        return found

    async def update(self, caller: Caller, change: AppChange) -> None:
        """See `Apps.update`."""
        await self._run("apps", "update", caller, change)

    async def delete(self, caller: Caller, id: str) -> None:
        """See `Apps.delete`."""
        await self._run("apps", "delete", caller, id)



class AsyncSignIn:
    """`SignIn`, asynchronously."""
    def __init__(self, run: Callable[..., Awaitable[Any]]) -> None:
        self._run = run

    async def password(self, username: str, password: str) -> SignedIn:
        """See `SignIn.password`."""
        found: SignedIn = await self._run("sign-in", "password", username, password)
        return found

    async def external(self, identity: Identity, linking: Linking) -> SignedIn:
        """See `SignIn.external`."""
        found: SignedIn = await self._run("sign-in", "external", identity, linking)
        return found



class AsyncNames:
    """`Names`, asynchronously."""
    def __init__(self, run: Callable[..., Awaitable[Any]]) -> None:
        self._run = run

    async def keys(self, names: list[str]) -> list[str]:
        """See `Names.keys`."""
        found: list[str] = await self._run("names", "keys", names)
        return found



class AsyncState:
    """`State`, asynchronously."""
    def __init__(self, run: Callable[..., Awaitable[Any]]) -> None:
        self._run = run

    async def check_users(self, caller: Caller, users: list[WantedUser]) -> None:
        """See `State.check_users`."""
        await self._run("state", "check-users", caller, users)

    async def check_apps(self, caller: Caller, apps: list[WantedApp]) -> None:
        """See `State.check_apps`."""
        await self._run("state", "check-apps", caller, apps)

    async def hash_password(self, caller: Caller, password: str) -> str:
        """See `State.hash_password`."""
        found: str = await self._run("state", "hash-password", caller, password)
        return found

    async def find_icons(self, caller: Caller, names: list[str]) -> list[str]:
        """See `State.find_icons`."""
        found: list[str] = await self._run("state", "find-icons", caller, names)
        return found

    async def put_users(self, caller: Caller, users: list[WantedUser]) -> list[str]:
        """See `State.put_users`."""
        found: list[str] = await self._run("state", "put-users", caller, users)
        return found

    async def put_apps(self, caller: Caller, apps: list[WantedApp]) -> list[str]:
        """See `State.put_apps`."""
        found: list[str] = await self._run("state", "put-apps", caller, apps)
        return found



class AsyncProcedures:
    """`Procedures`, asynchronously."""
    def __init__(self, run: Callable[..., Awaitable[Any]]) -> None:
        self._run = run

    async def describe(self) -> list[Procedure]:
        """See `Procedures.describe`."""
        found: list[Procedure] = await self._run("procedures", "describe")
        return found



class AsyncPeople:
    """`People`, asynchronously."""
    def __init__(self, run: Callable[..., Awaitable[Any]]) -> None:
        self._run = run

    async def migrate(self) -> None:
        """See `People.migrate`."""
        await self._run("sql/people", "migrate")

    async def begin_session(self, user_id: str, password_version: int) -> NewSession:
        """See `People.begin_session`."""
        found: NewSession = await self._run("sql/people", "begin-session", user_id, password_version)
        return found

    async def authenticate(self, secret: str) -> Authenticated | None:
        """See `People.authenticate`."""
        found: Authenticated | None = await self._run("sql/people", "authenticate", secret)
        return found

    async def caller_of(self, user_id: str) -> Caller | None:
        """See `People.caller_of`."""
        found: Caller | None = await self._run("sql/people", "caller-of", user_id)
        return found

    async def renew_with_password(self, caller: Caller) -> Renewal:
        """See `People.renew_with_password`."""
        found: Renewal = await self._run("sql/people", "renew-with-password", caller)
        return found

    async def end_session(self, token: str) -> None:
        """See `People.end_session`."""
        await self._run("sql/people", "end-session", token)

    async def end_other_sessions(self, user_id: str, except_: str | None = None) -> int:
        """See `People.end_other_sessions`."""
        found: int = await self._run("sql/people", "end-other-sessions", user_id, except_)
        return found

    async def list_sessions(self, user_id: str) -> list[Session]:
        """See `People.list_sessions`."""
        found: list[Session] = await self._run("sql/people", "list-sessions", user_id)
        return found

    async def get_person(self, user_id: str) -> Person | None:
        """See `People.get_person`."""
        found: Person | None = await self._run("sql/people", "get-person", user_id)
        return found

    async def permissions_of(self, user_id: str) -> list[str]:
        """See `People.permissions_of`."""
        found: list[str] = await self._run("sql/people", "permissions-of", user_id)
        return found

    async def list_groups(self) -> list[Group]:
        """See `People.list_groups`."""
        found: list[Group] = await self._run("sql/people", "list-groups")
        return found

    async def create_group(self, id: str | None, name: str, permissions: list[str]) -> str:
        """See `People.create_group`."""
        found: str = await self._run("sql/people", "create-group", id, name, permissions)
        return found

    async def rename_group(self, id: str, name: str) -> None:
        """See `People.rename_group`."""
        await self._run("sql/people", "rename-group", id, name)

    async def set_group_permissions(self, id: str, permissions: list[str]) -> None:
        """See `People.set_group_permissions`."""
        await self._run("sql/people", "set-group-permissions", id, permissions)

    async def add_member(self, group_id: str, user_id: str) -> None:
        """See `People.add_member`."""
        await self._run("sql/people", "add-member", group_id, user_id)

    async def remove_member(self, group_id: str, user_id: str) -> None:
        """See `People.remove_member`."""
        await self._run("sql/people", "remove-member", group_id, user_id)

    async def delete_group(self, id: str) -> None:
        """See `People.delete_group`."""
        await self._run("sql/people", "delete-group", id)

    async def create_invite(self, creator: str | None, expires_at: int) -> NewInvite:
        """See `People.create_invite`."""
        found: NewInvite = await self._run("sql/people", "create-invite", creator, expires_at)
        return found

    async def list_invites(self) -> list[Invite]:
        """See `People.list_invites`."""
        found: list[Invite] = await self._run("sql/people", "list-invites")
        return found

    async def delete_invite(self, id: str) -> None:
        """See `People.delete_invite`."""
        await self._run("sql/people", "delete-invite", id)

    async def create_key(self, user_id: str, name: str | None = None) -> NewKey:
        """See `People.create_key`."""
        found: NewKey = await self._run("sql/people", "create-key", user_id, name)
        return found

    async def list_keys(self, user_id: str) -> list[Key]:
        """See `People.list_keys`."""
        found: list[Key] = await self._run("sql/people", "list-keys", user_id)
        return found

    async def delete_key(self, user_id: str, id: str) -> None:
        """See `People.delete_key`."""
        await self._run("sql/people", "delete-key", user_id, id)

    async def forget_board(self, id: str) -> None:
        """See `People.forget_board`."""
        await self._run("sql/people", "forget-board", id)

    async def forget_search_engine(self, id: str) -> None:
        """See `People.forget_search_engine`."""
        await self._run("sql/people", "forget-search-engine", id)
