"""Writes the movements of multihop-mobile.toml and multihop-mesh.toml, and prints their flows:
python3 experiments/validation/movements.py

Random waypoint in 1000 m x 1000 m: each station that moves begins at a uniform point, rests for 2 s, and goes on to a
uniform point at a uniform speed of 10 to 30 m/s. The generator is splitmix64, so that any program can make the same
numbers.
"""

from pathlib import Path

SIDE, SLOWEST, FASTEST, PAUSE, LAYOUTS = 1000.0, 10.0, 30.0, 2.0, range(1, 6)
WORD = (1 << 64) - 1


def uniform(seed):
    """Numbers from 0 to 1, 1 excluded."""
    state = seed & WORD
    while True:
        state = (state + 0x9E3779B97F4A7C15) & WORD
        mixed = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & WORD
        mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & WORD
        yield ((mixed ^ (mixed >> 31)) >> 11) / (1 << 53)


def movement(seed, stations, duration):
    """The lines of a movement file of ns-2's setdest."""
    draw = uniform(seed)
    point = lambda: (round(next(draw) * SIDE, 3), round(next(draw) * SIDE, 3))
    places, legs = [], []
    for station in range(stations):
        x, y = point()
        places += [f"$node_({station}) set X_ {x}", f"$node_({station}) set Y_ {y}"]
        at = PAUSE
        while at < duration:
            to_x, to_y = point()
            speed = round(SLOWEST + (FASTEST - SLOWEST) * next(draw), 4)
            legs.append((round(at, 4), station, to_x, to_y, speed))
            at += ((to_x - x) ** 2 + (to_y - y) ** 2) ** 0.5 / speed + PAUSE
            x, y = to_x, to_y
    return places + [f'$ns_ at {at} "$node_({i}) setdest {x} {y} {speed}"' for at, i, x, y, speed in sorted(legs)]


def pairs(seed, stations=16, flows=8):
    """Pairs of a random permutation of the stations, numbered from 1, each with a start in the first 10 s."""
    draw = uniform(seed * 1000003 + 29)
    order = list(range(1, stations + 1))
    for i in reversed(range(1, stations)):
        j = int(next(draw) * (i + 1))
        order[i], order[j] = order[j], order[i]
    return [(f"n[{a}]", f"n[{b}]", f"{round(next(draw) * 10, 4)}s") for a, b in zip(order[0::2], order[1::2])][:flows]


def two_each(seed, stations):
    """Two flows from each station to others, each with a start in the first 10 s: the first ones, then the second."""
    draw = uniform(seed * 1000003 + 17)
    flows = []
    for i in range(stations):
        for _ in range(2):
            to = int(next(draw) * (stations - 1))
            to += to >= i
            flows.append((f"mobile[{i + 1}]", f"mobile[{to + 1}]", f"{round(next(draw) * 10, 4)}s"))
    return flows[0::2] + flows[1::2]


def write(folder, lines):
    folder = Path(__file__).with_suffix("") / folder
    folder.mkdir(parents=True, exist_ok=True)
    for seed in LAYOUTS:
        (folder / f"{seed}.tcl").write_text("\n".join(lines(seed)) + "\n")


def show(layouts):
    for key, values in zip(("from", "to", "start"), zip(*(zip(*flows) for flows in layouts))):
        print(f"flow.0.{key}", *map(list, values), sep="\n    ")


if __name__ == "__main__":
    write(".", lambda seed: movement(seed, 16, 150.0))
    show(pairs(seed) for seed in LAYOUTS)
    # Fewer stations that move are the first ones.
    write("mesh", lambda seed: movement(seed, 6, 200.0))
    for mobiles in (4, 5, 6):
        show(two_each(seed, mobiles) for seed in LAYOUTS)
