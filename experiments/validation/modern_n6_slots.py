"""A Monte Carlo of the slots of modern-n6.toml that switches what ns-3 does one at a time.

One saturated station of each access category, 802.11ac, 80 MHz, MCS 7, in ns-3's durations. Times are in nanoseconds.
Three switches: Duration fields reserve the whole TXOP; a station senses a frame 4 us after its start
(PhyEntity::EndPreambleDetectionPeriod), so that backoffs that end within this time collide; after a request for a block
acknowledgment the data of the same TXOP have 20 MHz. Beacons are left out.
"""

import random

SLOT, SIFS, BLOCK_ACK, REQUEST, CF_END, TIMEOUT = 9_000, 16_000, 32_000, 32_000, 52_000, 45_000
# Data bits of a symbol of MCS 7 at 80 and at 20 MHz.
WIDE, NARROW = 1170, 260
# AIFSN, CWmin, CWmax, TXOP limit.
SETS = {"BK": (7, 15, 1023, 0), "BE": (3, 15, 1023, 0), "VI": (2, 7, 15, 4_096_000), "VO": (2, 3, 7, 2_080_000)}
WINDOW, LONGEST = 64, 5_484_000


def ppdu(packets, bits):
    """How long a PPDU of so many packets of 1500 B lasts."""
    return 36_000 + 4_000 * -(-(8 * (1544 * (packets - 1) + 1542) + 22) // bits)


def most(time, bits):
    """The most packets of a PPDU that takes no longer with its block acknowledgment."""
    fits = (n for n in range(WINDOW, 0, -1) if ppdu(n, bits) <= min(time - SIFS - BLOCK_ACK, LONGEST))
    return next(fits, 0)


def opportunity(start, limit, asks, narrow):
    """The packets of a TXOP, and when its last answer ends; `asks`: it begins with a request."""
    packets, now, end, bits = 0, start, start, WIDE
    while True:
        left = limit - (now - start) if limit else LONGEST + SIFS + BLOCK_ACK
        if asks:
            end, asks, bits = now + REQUEST + SIFS + BLOCK_ACK, False, NARROW if narrow else WIDE
        else:
            n = most(left, bits)
            if n == 0:
                return packets, end
            packets, end = packets + n, now + ppdu(n, bits) + SIFS + BLOCK_ACK
        now = end + SIFS
        if now - start >= limit:
            return packets, end


def run(categories, whole, window, narrow, seconds=200, seed=1):
    """The goodput of each category in Mb/s; packets count 1472 B."""
    rng, sets = random.Random(seed), [SETS[c] for c in categories]
    all_of = range(len(sets))
    ifs = [SIFS + s[0] * SLOT for s in sets]
    cw = [s[1] for s in sets]
    slots = [rng.randint(0, c) for c in cw]
    counts_from, asks, failures, got = list(ifs), [False] * len(sets), [0] * len(sets), [0] * len(sets)
    now = 0
    while now < seconds * 1e9:
        at = [counts_from[i] + SLOT * slots[i] for i in all_of]
        first = min(at)
        senders = [i for i in all_of if at[i] - first < max(window, 1)]
        sensed = first + window
        for i in all_of:
            if i not in senders and sensed >= counts_from[i]:
                slots[i] = max(0, slots[i] - ((sensed - counts_from[i]) // SLOT + 1))
        if len(senders) == 1:
            i, limit = senders[0], sets[senders[0]][3]
            packets, end = opportunity(at[i], limit, asks[i], narrow)
            got[i] += packets
            asks[i], failures[i], cw[i] = False, 0, sets[i][1]
            slots[i] = rng.randint(0, cw[i])
            reserved = now = end
            if whole and at[i] + limit > end:
                truncated = end + SIFS + CF_END <= at[i] + limit
                reserved = end + SIFS + CF_END if truncated else at[i] + limit
                now = reserved if truncated else end
            for k in all_of:
                counts_from[k] = (now if k == i else reserved) + ifs[k]
            continue
        frame = {i: REQUEST if asks[i] else ppdu(most(sets[i][3] or LONGEST, WIDE), WIDE) for i in senders}
        now = max(at[i] + frame[i] for i in senders)
        for i in all_of:
            counts_from[i] = max(now, at[i] + frame[i] + TIMEOUT if i in frame else 0) + ifs[i]
        for i in senders:
            asks[i], failures[i] = True, failures[i] + 1
            cw[i] = min(2 * cw[i] + 1, sets[i][2])
            if failures[i] >= 8:
                failures[i], cw[i] = 0, sets[i][1]
            slots[i] = rng.randint(0, cw[i])
    return [n * 1472 * 8 / seconds / 1e6 for n in got]


if __name__ == "__main__":
    switches = [(False, 0, False), (True, 0, False), (True, 4_000, False), (True, 4_000, True)]
    for categories in (["BK", "BE", "VI", "VO"], ["BE", "VI"]):
        for whole, window, narrow in switches:
            got = run(categories, whole, window, narrow)
            each = ", ".join(f"{c} {g:.1f}" for c, g in zip(categories, got))
            named = [("whole TXOP", whole), ("4 us", window), ("20 MHz", narrow)]
            print(f"{' + '.join(name for name, on in named if on) or 'single'}: {sum(got):.1f} Mb/s, {each}")
