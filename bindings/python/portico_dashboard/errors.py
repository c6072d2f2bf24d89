"""What can go wrong: `PorticoError` for callers, and what storage refuses with."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from . import contract

Code = Literal["bad-request", "unauthorized", "forbidden", "not-found", "conflict", "unavailable", "internal"]

#: The HTTP status of each code.
STATUS: dict[Code, int] = {
    "bad-request": 400,
    "unauthorized": 401,
    "forbidden": 403,
    "not-found": 404,
    "conflict": 409,
    "unavailable": 503,
    "internal": 500,
}


@dataclass(frozen=True)
class Issue:
    """One rule that an input breaks."""

    #: Where it is in the input, as clients write it (`iconUrl`); empty for the input as a whole.
    path: tuple[str | int, ...]
    #: The rule, and how it is broken.
    message: str


class PorticoError(Exception):
    """A call was refused, or failed. It changed nothing, unless its own commit came first."""

    def __init__(self, code: Code, message: str, issues: tuple[Issue, ...] = ()) -> None:
        super().__init__(message)
        self.code: Code = code
        self.message = message
        self.issues = issues

    @property
    def http_status(self) -> int:
        """The status that the router would return."""
        return STATUS[self.code]

    def __str__(self) -> str:
        broken = "; ".join(f"{'.'.join(map(str, issue.path)) or 'input'} {issue.message}" for issue in self.issues)
        return f"{self.code}: {self.message}{f' ({broken})' if broken else ''}"


class CallFailed(PorticoError):
    """The component or the dashboard's storage failed: `code` is `internal`, and `message` says what happened. It is for
    the log, not for clients."""

    def __init__(self, message: str) -> None:
        super().__init__("internal", message)


def refused(error: contract.ContractError) -> PorticoError:
    """What the component refused a call with."""
    tag = error.code.tag
    code: Code = tag if tag != "other" else "internal"
    issues = tuple(Issue(tuple(step.value for step in issue.path), issue.message) for issue in error.issues)
    return PorticoError(code, error.message, issues)


@dataclass
class WrongShape(Exception):
    """A value has not the type that the contract says."""

    wanted: str
    value: Any
    path: list[str | int] = field(default_factory=list)

    def within(self, step: str | int) -> WrongShape:
        """The same, of the value that contains it."""
        self.path.insert(0, step)
        return self

    def __str__(self) -> str:
        at = f"{'.'.join(map(str, self.path))}: " if self.path else ""
        # Without the value, which may be a secret.
        return f"{at}{self.wanted} was expected, and it is of the type {type(self.value).__name__}"


class StorageError(Exception):
    """Storage refuses. Raise one of the classes below in a function of storage."""

    def refusal(self) -> contract.StorageRefusal:
        """In the contract's form."""
        raise NotImplementedError


class Retry(StorageError):
    """Another transaction won: Portico tries the whole transaction again, after a wait."""

    def refusal(self) -> contract.StorageRefusal:
        return contract.StorageRefusalRetry()


@dataclass
class ConstraintViolated(StorageError):
    """A rule that storage itself enforces does not hold."""

    constraint: Literal["user-name", "identity", "reference", "id"]

    def refusal(self) -> contract.StorageRefusal:
        cases: dict[str, contract.Constraint] = {
            "user-name": contract.ConstraintUserName(),
            "identity": contract.ConstraintIdentity(),
            "reference": contract.ConstraintReference(),
            "id": contract.ConstraintId(),
        }
        return contract.StorageRefusalConstraint(cases[self.constraint])


class TooLarge(StorageError):
    """The records of the answer would have more than 100,000,000 bytes of text."""

    def refusal(self) -> contract.StorageRefusal:
        return contract.StorageRefusalTooLarge()


@dataclass
class Unavailable(StorageError):
    """Storage cannot work now. The text is for the log."""

    text: str

    def refusal(self) -> contract.StorageRefusal:
        return contract.StorageRefusalUnavailable(self.text)
