"""How often a password may be guessed: by name, and by address. Bounded in memory, for one process."""

import ipaddress
import time
from collections import OrderedDict
from collections.abc import Callable


class Throttle:
    """Counts failed attempts. After `by_name` of one name or `by_address` from one address, further ones are refused until
    the first of them is `seconds` old. Several processes each count for themselves."""

    #: How many names, and as many addresses, are remembered. Beyond that, the one that failed least recently is forgotten.
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
        self._failures: tuple[OrderedDict[str, list[float]], ...] = (OrderedDict(), OrderedDict())

    def begin(self, name: str, address: str) -> float:
        """How many seconds an attempt has to wait: 0 lets it begin, and counts it as failed until `succeed`."""
        now = self._clock()
        keys = (name_key(name), network(address))
        wait = 0.0
        for known, key, most in zip(self._failures, keys, self._limits, strict=True):
            recent = [at for at in known.get(key, []) if at > now - self._seconds]
            if len(recent) >= most:
                wait = max(wait, recent[0] + self._seconds - now)
        if wait == 0.0:
            for known, key in zip(self._failures, keys, strict=True):
                recent = [at for at in known.pop(key, []) if at > now - self._seconds]
                known[key] = [*recent, now]
                if len(known) > self.MOST:
                    known.popitem(last=False)
        return wait

    def succeed(self, name: str, address: str) -> None:
        """The attempt succeeded: the failures of this name are forgotten, and the address has one less."""
        by_name, by_address = self._failures
        by_name.pop(name_key(name), None)
        if failures := by_address.get(network(address)):
            failures.pop()


def name_key(name: str) -> str:
    """Names that differ in case or in outer white space are one account's."""
    return name.strip().lower()[:256]


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
