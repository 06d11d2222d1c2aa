"""Writes the movements of multihop-mobile.toml, and prints its flows: python3 experiments/validation/movements.py

Random waypoint in 1000 m x 1000 m: each of 16 stations begins at a uniform point, rests for 2 s, and goes on to a
uniform point at a uniform speed of 10 to 30 m/s. The generator is splitmix64, so that any program can make the same
numbers.
"""

from pathlib import Path

STATIONS, FLOWS, SIDE, SLOWEST, FASTEST, PAUSE, DURATION = 16, 8, 1000.0, 10.0, 30.0, 2.0, 150.0
WORD = (1 << 64) - 1


def uniform(seed):
    """Numbers from 0 to 1, 1 excluded."""
    state = seed & WORD
    while True:
        state = (state + 0x9E3779B97F4A7C15) & WORD
        mixed = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & WORD
        mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & WORD
        yield ((mixed ^ (mixed >> 31)) >> 11) / (1 << 53)


def movement(seed):
    """The lines of a movement file of ns-2's setdest."""
    draw = uniform(seed)
    point = lambda: (round(next(draw) * SIDE, 3), round(next(draw) * SIDE, 3))
    places, legs = [], []
    for station in range(STATIONS):
        x, y = point()
        places += [f"$node_({station}) set X_ {x}", f"$node_({station}) set Y_ {y}"]
        at = PAUSE
        while at < DURATION:
            to_x, to_y = point()
            speed = round(SLOWEST + (FASTEST - SLOWEST) * next(draw), 4)
            legs.append((round(at, 4), station, to_x, to_y, speed))
            at += ((to_x - x) ** 2 + (to_y - y) ** 2) ** 0.5 / speed + PAUSE
            x, y = to_x, to_y
    return places + [f'$ns_ at {at} "$node_({i}) setdest {x} {y} {speed}"' for at, i, x, y, speed in sorted(legs)]


def flows(seed):
    """Pairs of a random permutation of the stations, numbered from 1, each with a start in the first 10 s."""
    draw = uniform(seed * 1000003 + 29)
    order = list(range(1, STATIONS + 1))
    for i in reversed(range(1, STATIONS)):
        j = int(next(draw) * (i + 1))
        order[i], order[j] = order[j], order[i]
    return [(f"n[{a}]", f"n[{b}]", f"{round(next(draw) * 10, 4)}s") for a, b in zip(order[0::2], order[1::2])][:FLOWS]


if __name__ == "__main__":
    folder = Path(__file__).with_suffix("")
    folder.mkdir(exist_ok=True)
    for seed in range(1, 6):
        (folder / f"{seed}.tcl").write_text("\n".join(movement(seed)) + "\n")
    for key, values in zip(("from", "to", "start"), zip(*(zip(*flows(seed)) for seed in range(1, 6)))):
        print(f"flow.0.{key}", *map(list, values), sep="\n    ")
