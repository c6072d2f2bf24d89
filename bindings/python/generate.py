"""Writes portico_dashboard/contract.py and portico_dashboard/wire.py from the WIT files of the contract: the types and
functions that people see, and how values cross the boundary.

    python generate.py            writes both files
    python generate.py --check    fails if they are not what it would write
"""

import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import indent
from typing import Any

REPOSITORY = Path(__file__).parent.parent.parent
#: The packages: the prefix of their interfaces' names in Python, and their folder.
PACKAGES = {"": REPOSITORY / "wit", "sql/": REPOSITORY / "component" / "sql" / "wit"}
HERE = Path(__file__).parent / "portico_dashboard"

PRIMITIVES = {"bool": "bool", "string": "str", "u8": "int", "u16": "int", "u32": "int", "u64": "int", "s64": "int"}
#: In these interfaces the dashboard implements the functions.
IMPLEMENTED = {"storage", "sql/database"}
#: The classes of functions that the component offers.
OFFERED = ("users", "apps", "sign-in", "names", "state", "procedures", "sql/people")
#: Words of Python that names of the contract collide with.
KEYWORDS = {"except"}

TOKEN = re.compile(r"///[^\n]*|//[^\n]*|@[a-z]+\([^)]*\)|->|[{}()<>:;,=]|[^\s{}()<>:;,=]+")


@dataclass
class Function:
    name: str
    doc: str
    parameters: list[tuple[str, Any]]
    result: Any
    static: bool = False


@dataclass
class Type:
    kind: str
    doc: str
    #: Fields or cases: name, type (None: no payload), doc.
    members: list[tuple[str, Any, str]] = field(default_factory=list)
    #: Of an alias.
    target: Any = None


@dataclass
class Interface:
    name: str
    doc: str
    names: dict[str, str] = field(default_factory=dict)
    types: dict[str, Type] = field(default_factory=dict)
    functions: list[Function] = field(default_factory=list)
    resources: dict[str, list[Function]] = field(default_factory=dict)


class Parser:
    """Reads the part of WIT that the contract uses."""

    def __init__(self, text: str, prefix: str) -> None:
        self.tokens = [token for token in TOKEN.findall(text) if not re.match(r"//(?!/)", token)]
        self.at = 0
        self.prefix = prefix

    def peek(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self, expected: str | None = None) -> str:
        token = self.peek()
        if expected is not None and token != expected:
            raise ValueError(f"{expected} expected, found {self.tokens[self.at : self.at + 8]}")
        self.at += 1
        return token

    def doc(self) -> str:
        lines = []
        while self.peek().startswith(("///", "@")):
            token = self.take()
            if token.startswith("///"):
                lines.append(token[3:].removeprefix(" "))
        return "\n".join(lines)

    def interfaces(self) -> Iterator[Interface]:
        while self.peek():
            doc = self.doc()
            word = self.take()
            if word == "interface":
                yield self.interface(doc)
            elif word == "world":
                while self.take() != "}":
                    pass
            else:
                while self.take() != ";":
                    pass

    def interface(self, doc: str) -> Interface:
        found = Interface(self.prefix + self.take(), doc)
        self.take("{")
        while self.peek() != "}":
            doc = self.doc()
            word = self.take()
            if word == "use":
                self.use(found)
            elif word == "type":
                name = self.take()
                self.take("=")
                found.types[name] = Type("alias", doc, target=self.type(found))
                self.take(";")
            elif word in ("record", "enum", "variant"):
                name = self.take()
                found.names[name] = f"{found.name}.{name}"
                found.types[name] = Type(word, doc, list(self.members(found, word)))
            elif word == "resource":
                name = self.take()
                found.names[name] = f"{found.name}.{name}"
                self.take("{")
                found.resources[name] = []
                while self.peek() != "}":
                    doc = self.doc()
                    found.resources[name].append(self.function(found, self.take(), doc))
                self.take("}")
            else:
                found.functions.append(self.function(found, word, doc))
        self.take("}")
        return found

    def use(self, into: Interface) -> None:
        path = self.take()
        # `portico:dashboard/types@1.0.0.` or `types.`, in pieces.
        while self.peek() != "{":
            path += self.take()
        interface = re.sub(r"@[0-9.]+$", "", path.rstrip(".")).split("/")[-1]
        self.take("{")
        while self.peek() != "}":
            name = self.take()
            into.names[name] = f"{interface}.{name}"
            if self.peek() == ",":
                self.take()
        self.take("}")
        self.take(";")

    def members(self, on: Interface, kind: str) -> Iterator[tuple[str, Any, str]]:
        self.take("{")
        while self.peek() != "}":
            doc = self.doc()
            name = self.take()
            type: Any = None
            if kind == "record":
                self.take(":")
                type = self.type(on)
            elif kind == "variant" and self.peek() == "(":
                self.take("(")
                type = self.type(on)
                self.take(")")
            if self.peek() == ",":
                self.take()
            yield name, type, doc
        self.take("}")

    def function(self, on: Interface, name: str, doc: str) -> Function:
        self.take(":")
        static = self.peek() == "static"
        if static:
            self.take()
        self.take("func")
        self.take("(")
        parameters = []
        while self.peek() != ")":
            parameter = self.take()
            self.take(":")
            parameters.append((parameter, self.type(on)))
            if self.peek() == ",":
                self.take()
        self.take(")")
        result = None
        if self.peek() == "->":
            self.take()
            result = self.type(on)
        self.take(";")
        return Function(name, doc, parameters, result, static)

    def type(self, on: Interface) -> Any:
        name = self.take()
        if name == "_":
            return None
        if name in ("list", "option", "result", "tuple", "borrow"):
            inner: list[Any] = []
            if self.peek() == "<":
                self.take("<")
                while True:
                    inner.append(self.type(on))
                    if self.take() == ">":
                        break
            return (name, *inner)
        if name in PRIMITIVES:
            return name
        if name in on.types and on.types[name].kind == "alias":
            return on.types[name].target
        return ("ref", on.names.get(name, f"{on.name}.{name}"))


def read() -> dict[str, Interface]:
    """All interfaces. Aliases of other interfaces are resolved by `resolve`."""
    found: dict[str, Interface] = {}
    for prefix, folder in PACKAGES.items():
        for file in sorted(folder.glob("*.wit")):
            for interface in Parser(file.read_text("utf-8"), prefix).interfaces():
                found[interface.name] = interface
    return found


INTERFACES = read()


def resolve(type: Any) -> Any:
    """Aliases as what they stand for."""
    if isinstance(type, tuple) and type[0] == "ref":
        interface, _, name = type[1].partition(".")
        known = INTERFACES[interface].types.get(name)
        return resolve(known.target) if known and known.kind == "alias" else type
    if isinstance(type, tuple):
        return (type[0], *map(resolve, type[1:]))
    return type


def snake(name: str) -> str:
    name = name.replace("-", "_")
    return f"{name}_" if name in KEYWORDS else name


def pascal(name: str) -> str:
    return "".join(part[:1].upper() + part[1:] for part in name.split("-"))


#: Names that more than one interface has, or that say too little alone.
RENAMED = {
    "sql/database.error": "SqlRefusal",
    "sql/database.access": "SqlAccess",
    "sql/database.transaction": "SqlTransaction",
    "sql/database.value": "SqlValue",
    "sql/database.cell": "SqlCell",
    "types.error": "ContractError",
    "storage.error": "StorageRefusal",
    "log.level": "LogLevel",
    "procedures.access": "ProcedureAccess",
}


def class_name(reference: str) -> str:
    return RENAMED.get(reference) or pascal(reference.partition(".")[2])


def hint(type: Any) -> str:
    """The type in Python."""
    type = resolve(type)
    match type:
        case None:
            return "None"
        case str():
            return PRIMITIVES[type]
        case ("ref", name):
            return class_name(name)
        case ("list", "u8"):
            return "bytes"
        case ("list", item):
            return f"list[{hint(item)}]"
        case ("option", item):
            return f"{hint(item)} | None"
        case ("borrow", item):
            return hint(item)
        case ("result",):
            return "None"
        case ("result", ok, *_):
            return hint(ok)
    raise ValueError(f"{type}")


def docstring(text: str, fallback: str = "") -> str:
    text = text.strip() or fallback
    text = text.replace("\\", "\\\\").replace('"""', "'''")
    return f'"""{text}{" " if text.endswith(chr(34)) else ""}"""'


def default(type: Any) -> str:
    match resolve(type):
        case ("option", _):
            return " = None"
        case ("ref", "types.text-change"):
            return " = field(default_factory=lambda: TextChangeKeep())"
        case ("ref", "state.timestamp-change"):
            return " = field(default_factory=lambda: TimestampChangeKeep())"
    return ""


def types() -> Iterator[str]:
    for interface in INTERFACES.values():
        for name, type in interface.types.items():
            reference = f"{interface.name}.{name}"
            title = class_name(reference)
            if type.kind == "record":
                lines = [docstring(type.doc)]
                for member, of, doc in type.members:
                    value = ' = ""' if (reference, member) == ("types.caller", "context") else default(of)
                    lines.append(f"{snake(member)}: {hint(of)}{value}\n{docstring(doc)}")
                body = "\n".join(lines)
                yield f"@dataclass(kw_only=True)\nclass {title}:\n{indent(body, '    ')}\n"
            elif type.kind == "enum":
                cases = ", ".join(f'"{member}"' for member, _, _ in type.members)
                yield f"{title} = Literal[{cases}]\n{docstring(type.doc)}\n"
            elif type.kind == "variant":
                for member, of, doc in type.members:
                    lines = [docstring(doc), f'tag: ClassVar[Literal["{member}"]] = "{member}"']
                    if of is not None:
                        lines.append(f"value: {hint(of)}")
                    body = indent("\n".join(lines), "    ")
                    yield f"@dataclass(frozen=True)\nclass {title}{pascal(member)}:\n{body}\n"
                cases = " | ".join(f"{title}{pascal(member)}" for member, _, _ in type.members)
                yield f"{title}: TypeAlias = {cases}\n{docstring(type.doc)}\n"


def signature(function: Function, parameters: list[tuple[str, Any]], how: str, offers: bool = False) -> str:
    listed, optional = [], True
    for name, type in reversed(parameters):
        optional = optional and default(type) != "" and offers
        listed.append(f"{snake(name)}: {hint(type)}{' = None' if optional else ''}")
    listed = ["self", *reversed(listed)]
    return f"{how} {snake(function.name)}({', '.join(listed)}) -> {hint(function.result)}:"


def protocols() -> Iterator[str]:
    for prefix, how in (("", "def"), ("Async", "async def")):
        for name in sorted(IMPLEMENTED & INTERFACES.keys()):
            interface = INTERFACES[name]
            for resource, functions in interface.resources.items():
                lines = [docstring(f"One transaction, as a dashboard implements it{' asynchronously' * bool(prefix)}.")]
                for function in functions:
                    parameters = [one for one in function.parameters if one[0] != "this"]
                    see = f"See `{class_name(f'{name}.{resource}')}.{snake(function.name)}`."
                    body = indent(docstring(see if prefix else function.doc) + "\n...", "    ")
                    lines.append(f"{signature(function, parameters, how)}\n{body}")
                doc = "Rolls back, unless the transaction is over: then it does nothing."
                lines.append(f"{how} drop(self) -> None:\n{indent(docstring(doc), '    ')}\n    ...")
                title = prefix + class_name(f"{name}.{resource}")
                yield f"class {title}(Protocol):\n{indent(chr(10).join(lines), '    ')}\n"


def offered() -> Iterator[str]:
    for prefix, how, call in (("", "def", "self._run"), ("Async", "async def", "await self._run")):
        run = "Callable[..., Any]" if not prefix else "Callable[..., Awaitable[Any]]"
        for name in OFFERED:
            if name not in INTERFACES:
                continue
            interface = INTERFACES[name]
            lines = [
                docstring(f"`{pascal(name.rpartition('/')[2])}`, asynchronously." if prefix else interface.doc),
                f"def __init__(self, run: {run}) -> None:\n    self._run = run\n",
            ]
            for function in interface.functions:
                parameters = [one for one in function.parameters if one[0] not in ("context",)]
                values = "".join(f", {snake(parameter)}" for parameter, _ in parameters)
                called = f'{call}("{name}", "{function.name}"{values})'
                result = hint(function.result)
                if result == "None":
                    body = called
                else:
                    body = f"found: {result} = {called}\nreturn found"
                doc = f"See `{pascal(name.rpartition('/')[2])}.{snake(function.name)}`." if prefix else function.doc
                body = indent(f"{docstring(doc)}\n{body}", "    ")
                lines.append(f"{signature(function, parameters, how, offers=True)}\n{body}\n")
            title = prefix + pascal(name.rpartition("/")[2])
            yield f"class {title}:\n{indent(chr(10).join(lines), '    ')}\n"


HEADER = '''"""{}

Written by generate.py from the WIT files: change those.
"""

'''


def contract() -> str:
    imports = """# ruff: noqa: E501
from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Protocol, TypeAlias
"""
    parts = [*types(), *protocols(), *offered()]
    title = "The types and functions of the contract, with its comments."
    # Aliases of unions are evaluated when they are defined: after their classes.
    return HEADER.format(title) + imports + "\n" + "\n\n".join(parts)


def wire() -> str:
    """Types by name, and functions by interface: what `codec.py` makes converters of."""
    lines = [HEADER.format("How the values of the contract cross the boundary.") + "# ruff: noqa: E501"]
    lines.append("from typing import Any\n\n#: Kind, class in contract.py, and members.")
    lines.append("TYPES: dict[str, tuple[str, str, list[tuple[str, Any]]]] = {")
    for interface in INTERFACES.values():
        for name, type in interface.types.items():
            if type.kind != "alias":
                reference = f"{interface.name}.{name}"
                members = [(member, resolve(of)) for member, of, _ in type.members]
                lines.append(f"    {reference!r}: ({type.kind!r}, {class_name(reference)!r}, {members!r}),")
    lines.append("}\n\n#: Parameters and result.")
    lines.append("FUNCTIONS: dict[str, dict[str, tuple[list[tuple[str, Any]], Any]]] = {")
    for interface in INTERFACES.values():
        lines.append(f"    {interface.name!r}: {{")
        for function in interface.functions:
            lines.append(f"        {function.name!r}: {shape(function)},")
        for resource, functions in interface.resources.items():
            for function in functions:
                how = "static" if function.static else "method"
                own = [] if function.static else [("self", ("borrow", ("ref", f"{interface.name}.{resource}")))]
                lines.append(f"        '[{how}]{resource}.{function.name}': {shape(function, own)},")
        lines.append("    },")
    lines.append("}")
    return "\n".join(lines) + "\n"


def shape(function: Function, own: list[tuple[str, Any]] | None = None) -> str:
    parameters = [*(own or []), *((name, resolve(type)) for name, type in function.parameters)]
    return repr((parameters, resolve(function.result)))


def main() -> None:
    outputs: dict[str, Callable[[], str]] = {"contract.py": contract, "wire.py": wire}
    for name, text in outputs.items():
        file = HERE / name
        wanted = re.sub(r"[ \t]+\n", "\n", text()).rstrip() + "\n"
        if "--check" in sys.argv:
            if file.read_text("utf-8") != wanted:
                sys.exit(f"{name} is not what the WIT files say: run generate.py")
        else:
            file.write_text(wanted, "utf-8")


if __name__ == "__main__":
    main()
