"""What bounds a call, and how long a call waits after collisions."""

import random
import time
from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """Times are in seconds."""

    #: How long a call may take. Time in storage counts; waiting after collisions does not.
    call: float = 2.0
    #: The same for a call that hashes a password, or grows with the number of records.
    long_call: float = 10.0
    #: How long a function of storage may take. One that is asynchronous is cancelled then. A thread cannot be ended: it is
    #: left to itself, and another one takes its place.
    storage: float = 10.0
    #: How long a call waits for a thread.
    wait: float = 10.0
    #: Linear memory of a call, in bytes. Hashing a password needs 20 MiB.
    memory: int = 128 << 20
    #: Threads for calls of bounded cost.
    threads: int = 4
    #: Threads for those that hash a password, or grow with the number of records.
    long_threads: int = 2
    #: How many calls may wait for the threads of one kind.
    waiting: int = 1_000
    #: How many threads may be left to themselves before calls are refused.
    abandoned: int = 16
    #: How many messages of a call are logged, and how many characters of each.
    messages: int = 20
    message_length: int = 2_000


#: The most random bytes at a time.
RANDOM_BYTES = 4_096

#: The bound of the wait after the first collision, the factor by which it grows with each further one, and the largest.
FIRST, GROWTH, LONGEST = 0.025, 3, 1.0


class Collisions:
    """The collisions of one call. Transactions that collided would collide again if all were retried at once, and the
    component cannot sleep: so `begin` waits for a random time."""

    def __init__(self) -> None:
        self._count = 0

    def wait(self) -> float:
        """Waits after a further collision. Returns how many seconds that took."""
        bound = min(LONGEST, FIRST * float(GROWTH**self._count))
        self._count += 1
        began = time.monotonic()
        time.sleep(random.uniform(0.0, bound))
        return time.monotonic() - began
