"""How often a password may be guessed: by name, and by address. Bounded in memory, for one process."""

import ipaddress
import time
import unicodedata
from collections import OrderedDict
from collections.abc import Callable

#: A name and an address, each of which may be empty.
Key = tuple[str, str]
#: When attempts failed.
Failures = OrderedDict[Key, list[float]]


class Throttle:
    """Counts failed attempts. After `by_name` of one name or `by_address` from one address, further ones are refused until
    the first of them is `seconds` old. Several processes each count for themselves.

    Where a name has signed in from an address, it has a count of its own there, and no other: strangers who guess passwords
    for the name, or share the address, do not lock its owner out. An address that is not known (`""`) counts nothing."""

    #: How many names are remembered, and as many addresses, and pairs of both. Beyond that, the one that was used least
    #: recently is forgotten.
    MOST = 32_768

    def __init__(
        self,
        by_name: int = 10,
        by_address: int = 30,
        seconds: float = 900.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._limits = (by_name, by_address)
        self._seconds = seconds
        self._clock = clock
        self._by_name: Failures = OrderedDict()
        self._by_address: Failures = OrderedDict()
        #: By name and address, where that name has signed in.
        self._by_both: Failures = OrderedDict()

    def begin(self, name: str, address: str) -> float:
        """How many seconds an attempt has to wait: 0 lets it begin, and counts it as failed until `succeed`."""
        now = self._clock()
        counts = self._counts_of(name_key(name), network(address))
        wait = 0.0
        for known, key, most in counts:
            recent = [at for at in known.get(key, []) if at > now - self._seconds]
            if len(recent) >= most:
                wait = max(wait, recent[0] + self._seconds - now)
        # What is refused counts nowhere.
        if wait == 0.0:
            for known, key, _ in counts:
                recent = [at for at in known.get(key, []) if at > now - self._seconds]
                self._put(known, key, [*recent, now])
        return wait

    def _counts_of(self, name: str, address: str) -> list[tuple[Failures, Key, int]]:
        by_name, by_address = self._limits
        if (name, address) in self._by_both:
            return [(self._by_both, (name, address), by_name)]
        counts: list[tuple[Failures, Key, int]] = [(self._by_name, (name, ""), by_name)]
        if address:
            counts.append((self._by_address, ("", address), by_address))
        return counts

    def _put(self, known: Failures, key: Key, failures: list[float]) -> None:
        known[key] = failures
        known.move_to_end(key)
        if len(known) > self.MOST:
            known.popitem(last=False)

    def succeed(self, name: str, address: str) -> None:
        """The attempt succeeded: the failures of this name are forgotten, and the address has one less."""
        name, address = name_key(name), network(address)
        if (name, address) not in self._by_both:
            self._by_name.pop((name, ""), None)
            if failures := self._by_address.get(("", address)):
                failures.pop()
        if address:
            self._put(self._by_both, (name, address), [])


#: Names have at most 255 characters; one that has more than this is no account's, and is not normalized.
LONGEST_NAME = 4_096


def name_key(name: str) -> str:
    """The name-key of a name (`names.keys`) without outer white space: names with the same key are one account's."""
    name = name.strip()
    if len(name) <= LONGEST_NAME:
        composed = unicodedata.normalize("NFC", name)
        name = unicodedata.normalize("NFC", "".join(letter.lower() for letter in composed))
    return name[:256]


def network(address: str) -> str:
    """The address; of IPv6 the first 64 bits, which one client has to itself."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(found, ipaddress.IPv6Address):
        if found.ipv4_mapped:
            return str(found.ipv4_mapped)
        return str(ipaddress.ip_network((found, 64), strict=False))
    return str(found)
