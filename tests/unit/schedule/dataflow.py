"""Who sends which data when, in plain Python: a slow twin of every algorithm, and a replay that watches the data.

Data is a set of contributions per rank and block, as bits. A message carries some blocks and is added to what the
receiver has, or replaces it.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from weftline.schedule.transfers import Transfers

Block = tuple[int, ...]
Held = dict[Block, int]


@dataclass(frozen=True)
class Message:
    """One transfer with its content; ``share`` is its part of the whole array."""

    source: int
    target: int
    blocks: tuple[Block, ...]
    adds: bool
    share: float


@dataclass(frozen=True)
class Plan:
    """Messages in the order of the transfers, what each rank has before, and what it must have after."""

    messages: list[Message]
    before: list[Held]
    after: list[Held]


def replay(plan: Plan, transfers: Transfers, seed: int) -> list[Held]:
    """Send the messages in a random order that needs and queues allow, each with what its sender has just then.

    A message arrives at a random later moment, but after those before it in its queue to the same receiver.
    Raises AssertionError where a contribution would be counted twice.
    """
    rng = random.Random(seed)
    held = [dict(blocks) for blocks in plan.before]
    count = len(plan.messages)
    needs = [transfers.need[transfers.need_ptr[t] : transfers.need_ptr[t + 1]].tolist() for t in range(count)]
    queue: list[int] = transfers.queue.tolist()
    line: dict[int, list[int]] = {}
    for index in range(count):
        line.setdefault(queue[index], []).append(index)
    missing = [len(row) for row in needs]
    wanted: dict[int, list[int]] = {}
    for index, row in enumerate(needs):
        for need in row:
            wanted.setdefault(need, []).append(index)
    ready = [row[0] for row in line.values() if missing[row[0]] == 0]
    heads = dict.fromkeys(line, 0)
    flying: list[tuple[int, Held]] = []
    done = 0
    while ready or flying:
        if ready and (not flying or rng.random() < 0.5):
            index = ready.pop(rng.randrange(len(ready)))
            message = plan.messages[index]
            flying.append((index, {block: held[message.source].get(block, 0) for block in message.blocks}))
            row = line[queue[index]]
            heads[queue[index]] += 1
            if heads[queue[index]] < len(row) and missing[row[heads[queue[index]]]] == 0:
                ready.append(row[heads[queue[index]]])
            continue
        at = rng.randrange(len(flying))
        way = (queue[flying[at][0]], plan.messages[flying[at][0]].target)
        at = next(i for i, (t, _) in enumerate(flying) if (queue[t], plan.messages[t].target) == way)
        index, content = flying.pop(at)
        message = plan.messages[index]
        for block, bits in content.items():
            known = held[message.target].get(block, 0)
            assert not (message.adds and known & bits), "a contribution is counted twice"
            held[message.target][block] = known | bits if message.adds else bits
        done += 1
        for after in wanted.get(index, []):
            missing[after] -= 1
            row = line[queue[after]]
            if missing[after] == 0 and heads[queue[after]] < len(row) and row[heads[queue[after]]] == after:
                ready.append(after)
    assert done == count, "messages wait for each other"
    return held


def holds(held: list[Held], wanted: list[Held]) -> bool:
    """Tell whether every rank has what it must have; more does no harm."""
    return all(held[rank].get(block, 0) == bits for rank, blocks in enumerate(wanted) for block, bits in blocks.items())


def everything(ranks: int, blocks: Iterable[Block]) -> tuple[list[Held], list[Held]]:
    """An all-reduce: each rank has its own contribution to every block, and wants all of them."""
    blocks = list(blocks)
    full = (1 << ranks) - 1
    return [dict.fromkeys(blocks, 1 << r) for r in range(ranks)], [dict.fromkeys(blocks, full) for _ in range(ranks)]


def scattered(ranks: int, owner: Callable[[Block], int], blocks: Iterable[Block]) -> tuple[list[Held], list[Held]]:
    """A reduce-scatter: each block ends at its owner with all contributions."""
    before, after = everything(ranks, blocks)
    return before, [{b: bits for b, bits in row.items() if owner(b) == r} for r, row in enumerate(after)]


def gathered(ranks: int, owner: Callable[[Block], int], blocks: Iterable[Block]) -> tuple[list[Held], list[Held]]:
    """An all-gather: each block is with its owner, and wanted everywhere."""
    blocks = list(blocks)
    before = [{b: 1 << r for b in blocks if owner(b) == r} for r in range(ranks)]
    return before, [{b: 1 << owner(b) for b in blocks} for _ in range(ranks)]


def ring_plan(kind: str, ranks: int) -> Plan:
    """Block r - s goes from rank r in step s, added on the way round, then copied."""
    messages: list[Message] = []
    passes = {"all-reduce": (True, False), "reduce-scatter": (True,), "all-gather": (False,)}[kind]
    step = 0
    for adds in passes:
        for _ in range(ranks - 1):
            messages += [Message(r, (r + 1) % ranks, (((r - step) % ranks,),), adds, 1 / ranks) for r in range(ranks)]
            step += 1
    blocks = [(b,) for b in range(ranks)]
    if kind == "all-reduce":
        return Plan(messages, *everything(ranks, blocks))
    if kind == "all-gather":
        return Plan(messages, *gathered(ranks, lambda b: b[0], blocks))
    return Plan(messages, *scattered(ranks, lambda b: (b[0] - 1) % ranks, blocks))


def inside(adds: bool, start: int, hosts: int, members: int) -> list[Message]:
    """One pass inside every host; member m begins with the share m + start."""
    return [
        Message(
            host * members + m,
            host * members + (m + 1) % members,
            tuple(((m + start - step) % members, h) for h in range(hosts)),
            adds,
            1 / members,
        )
        for step in range(members - 1)
        for host in range(hosts)
        for m in range(members)
    ]


def between(steps: list[bool], offset: int, hosts: int, members: int) -> list[Message]:
    """Rings between hosts; member m works on the share m + offset."""
    return [
        Message(
            host * members + m,
            (host + 1) % hosts * members + m,
            (((m + offset) % members, (host - step) % hosts),),
            adds,
            1 / hosts / members,
        )
        for step, adds in enumerate(steps)
        for m in range(members)
        for host in range(hosts)
    ]


def hierarchical_plan(kind: str, hosts: int, members: int) -> Plan:
    """Blocks (member, host): rings inside each host over members, rings of each member between hosts.

    A reduce-scatter inside leaves share m + 1 with member m.
    """
    ranks, size = hosts * members, (hosts, members)
    blocks = [(share, host) for share in range(members) for host in range(hosts)]
    once = [True] * (hosts - 1)
    if kind == "all-reduce":
        both = once + [False] * (hosts - 1)
        messages = inside(True, 0, *size) + between(both, 1, *size) + inside(False, 1, *size)
        return Plan(messages, *everything(ranks, blocks))
    if kind == "reduce-scatter":

        def owner(b: Block) -> int:
            return (b[1] - 1) % hosts * members + (b[0] - 1) % members

        return Plan(inside(True, 0, *size) + between(once, 1, *size), *scattered(ranks, owner, blocks))
    messages = between([False] * (hosts - 1), 0, *size) + inside(False, 0, *size)
    return Plan(messages, *gathered(ranks, lambda b: b[1] * members + b[0], blocks))


def halving_plan(kind: str, ranks: int) -> Plan:
    """Watch which blocks each rank still works on, and send away those of the other side; then all back."""
    distances = [1 << k for k in range((ranks - 1).bit_length())]
    is_power = ranks & (ranks - 1) == 0
    down: list[list[Message]] = []
    mine = [set(range(ranks)) for _ in range(ranks)]
    for distance in distances if is_power else reversed(distances):
        row: list[Message] = []
        kept = [set(blocks) for blocks in mine]
        for rank in range(ranks):
            if is_power:
                target = rank ^ distance
                away = {b for b in mine[rank] if b & distance != rank & distance}
            else:
                target = (rank + distance) % ranks
                away = {(target + i) % ranks for i in range(min(distance, ranks - distance))}
            assert away <= mine[rank]
            kept[rank] -= away
            row.append(Message(rank, target, tuple((b,) for b in sorted(away)), True, len(away) / ranks))
        mine = kept
        down.append(row)
    assert all(blocks == {rank} for rank, blocks in enumerate(mine))
    up: list[list[Message]] = []
    for row in reversed(down):
        back = [Message(m.target, m.source, m.blocks, False, m.share) for m in row]
        up.append(sorted(back, key=lambda m: m.source))
    blocks = [(b,) for b in range(ranks)]
    rows = {"all-reduce": down + up, "reduce-scatter": down, "all-gather": up}[kind]
    messages = [m for row in rows for m in row]
    if kind == "all-reduce":
        return Plan(messages, *everything(ranks, blocks))
    if kind == "reduce-scatter":
        return Plan(messages, *scattered(ranks, lambda b: b[0], blocks))
    return Plan(messages, *gathered(ranks, lambda b: b[0], blocks))


def tree_messages(parent: list[int], chunks: int, share: float, mark: int, reduces: bool) -> list[Message]:
    """Of each chunk, the deepest ranks add to their parents first; then parents copy to their children."""
    ranks = range(len(parent))

    def depth(rank: int) -> int:
        return 0 if parent[rank] < 0 else 1 + depth(parent[rank])

    below = [rank for rank in ranks if parent[rank] >= 0]
    messages: list[Message] = []
    for chunk in range(chunks):
        block = ((mark, chunk),)
        if reduces:
            order = sorted(below, key=lambda r: (-depth(r), -r))
            messages += [Message(rank, parent[rank], block, True, share / chunks) for rank in order]
        order = sorted(below, key=lambda r: (depth(r), r))
        messages += [Message(parent[rank], rank, block, False, share / chunks) for rank in order]
    return messages


def heap(ranks: int) -> list[int]:
    """Parents of a binary heap."""
    return [-1 if rank == 0 else (rank - 1) // 2 for rank in range(ranks)]


def inorder(low: int, high: int, parent: int, span: int, out: dict[int, int]) -> None:
    """Numbers low..high as a binary tree of ``span`` = 2^k places whose middle stands above both halves."""
    if low > high:
        return
    while span > 1 and low + span // 2 - 1 > high:
        span //= 2
    middle = low + span // 2 - 1
    out[middle] = parent
    inorder(low, middle - 1, middle, span // 2, out)
    inorder(middle + 1, high, middle, span // 2, out)


def double(ranks: int) -> tuple[list[int], list[int]]:
    """Two trees by recursion; see schedule.trees for the numbering."""
    out: dict[int, int] = {}
    count = ranks if ranks % 2 else ranks - 1
    inorder(1, count, 0, 1 << count.bit_length(), out)
    if ranks % 2:
        first = [out[v] - 1 for v in range(1, count + 1)]
        second = [0] * ranks
        for rank in range(ranks):
            second[(rank + 1) % ranks] = -1 if first[rank] < 0 else (first[rank] + 1) % ranks
        return first, second
    first = [-1, *(out[v] for v in range(1, count + 1))]
    return first, [-1 if first[ranks - 1 - r] < 0 else ranks - 1 - first[ranks - 1 - r] for r in range(ranks)]


def tree_plan(ranks: int, chunks: int) -> Plan:
    """One tree."""
    return Plan(tree_messages(heap(ranks), chunks, 1.0, 0, True), *everything(ranks, [(0, c) for c in range(chunks)]))


def double_plan(ranks: int, chunks: int) -> Plan:
    """Two trees with half of the data each."""
    first, second = double(ranks)
    messages = tree_messages(first, chunks, 0.5, 0, True) + tree_messages(second, chunks, 0.5, 1, True)
    return Plan(messages, *everything(ranks, [(half, c) for half in range(2) for c in range(chunks)]))


def broadcast_plan(parent: list[int], chunks: int) -> Plan:
    """Rank 0 has all chunks, and all want them."""
    blocks = [(0, c) for c in range(chunks)]
    before, after = gathered(len(parent), lambda _: 0, blocks)
    return Plan(tree_messages(parent, chunks, 1.0, 0, False), before, after)


def pairs_plan(kind: str, ranks: int) -> Plan:
    """Block (i, j) goes from rank i to rank j; of gather and scatter, one of the two is 0."""
    if kind == "all-to-all":
        ends = [(r, (r + s) % ranks) for s in range(1, ranks) for r in range(ranks)]
    else:
        ends = [(r, 0) if kind == "gather" else (0, r) for r in range(1, ranks)]
    messages = [Message(a, b, ((a, b),), False, 1 / ranks) for a, b in ends]
    before: list[Held] = [{(a, b): 1 << a for a, b in ends if a == r} for r in range(ranks)]
    after: list[Held] = [{(a, b): 1 << a for a, b in ends if b == r} for r in range(ranks)]
    return Plan(messages, before, after)
