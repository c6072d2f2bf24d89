"""How long a call waits after storage answered `retry`. Transactions that collided would collide again if all
were retried at once, and the component cannot sleep. So `begin` waits for a random time, whose upper bound
grows with each collision of the call. Like the database driver, it blocks its thread meanwhile.
"""

import random
import time

#: The bound after the first collision, in seconds.
FIRST = 0.025
#: The factor by which it grows with each further collision.
GROWTH = 3
#: The largest bound.
LONGEST = 1.0


class Collisions:
    """The collisions of one call."""

    def __init__(self) -> None:
        self._count = 0

    def wait(self) -> float:
        """Waits after a further collision. Returns how many seconds that took."""
        bound = min(LONGEST, FIRST * float(GROWTH**self._count))
        self._count += 1
        began = time.monotonic()
        time.sleep(random.uniform(0.0, bound))
        return time.monotonic() - began
