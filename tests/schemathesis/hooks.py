"""What schemathesis has to know of the service, so that its run means something to the end.

- Records that are there: an id that is made up is mostly answered with "not found". Where a good
  request is made, half of them get the id of a record that was created before.
- What the run itself lives on: these records, its key, its user, and the group that makes it an
  administrator. A call that would take one of them away names a record that is not there instead.
  `openapi/schemathesis.rs` looks in the end whether it still is an administrator's run.
- A document that prunes would remove all of that at once: `prune` is false where it would be true.
- Lengths count after trimming: a text that is too long only by the blanks around it is rightly taken, and
  JSON Schema cannot say so. In bad requests such blanks become letters.
"""

import json
import os

import schemathesis

MISSING = "01890000-0000-7000-8000-000000000000"
KNOWN = json.loads(os.environ["PORTICO_KNOWN"])
PROTECTED = {*json.loads(os.environ["PORTICO_PROTECTED"]), *KNOWN.values()}


def kind_of(key, path):
    """Which kind of record a key names: `userId`, or `id` in a call of `user`."""
    if key == "id":
        words = path.split("/")
        # /api/trpc/app.byId, /api/apps/{id}
        return words[3].split(".")[0] if words[2] == "trpc" else words[2].rstrip("s")
    for suffix in ("Id", "Ids"):
        if key.endswith(suffix):
            return key.removesuffix(suffix)
    return {"users": "user", "groups": "group"}.get(key)


def is_taken_away(path, method):
    procedure = path.rsplit(".", 1)[-1]
    others = ("removeMember", "savePermissions", "setDisabled")
    return (
        method == "DELETE"
        or path.endswith(("/disabled", "/permissions"))
        or procedure.startswith("delete")
        or procedure in others
    )


def with_known(value, key, path):
    """The input with every other id replaced by that of a record that is there."""
    if key == "input" and isinstance(value, str):
        # The input of a query stands in the query string as JSON.
        return json.dumps(with_known(json.loads(value), None, path))
    if isinstance(value, dict):
        return {name: with_known(item, name, path) for name, item in value.items()}
    if isinstance(value, list):
        return [with_known(item, key, path) for item in value]
    # Ids that came from answers are those of records already.
    is_made_up = isinstance(value, str) and len(value) != len(MISSING)
    if key is not None and is_made_up and len(value) % 2 == 0:
        return KNOWN.get(kind_of(key, path), value)
    return value


def without_protected(value, key, path):
    """The input without what the run lives on."""
    if isinstance(value, dict):
        return {name: without_protected(item, name, path) for name, item in value.items()}
    if isinstance(value, list):
        return [without_protected(item, key, path) for item in value]
    return MISSING if isinstance(value, str) and value in PROTECTED else value


def without_blanks(value, key, path):
    """The input with texts of the same lengths that do not get shorter when trimmed."""
    if isinstance(value, dict):
        return {name: without_blanks(item, name, path) for name, item in value.items()}
    if isinstance(value, list):
        return [without_blanks(item, key, path) for item in value]
    if not isinstance(value, str):
        return value
    text = value.lstrip()
    start = len(value) - len(text)
    text = text.rstrip()
    return "x" * start + text + "x" * (len(value) - start - len(text))


@schemathesis.hook
def before_call(ctx, case, **kwargs):
    path, method = case.operation.path, case.operation.method.upper()
    if is_taken_away(path, method):
        change = without_protected
    elif case.meta is not None and case.meta.generation.mode.is_negative:
        change = without_blanks
    else:
        change = with_known
    if path.endswith("state.apply") and isinstance(case.body, dict) and case.body.get("prune") is True:
        case.body["prune"] = False
    for part in ("body", "path_parameters", "query"):
        value = getattr(case, part)
        if isinstance(value, (dict, list)) and value:
            setattr(case, part, change(value, None, path))
