"""The kernel of the engine `cuda`: warps take components that are ready until none is left. No layers, no barriers.

A component is ready when all that it calls are done: each has a counter of those that are not, and who finishes one
counts down those of its callers. Small components are solved by a lane each, large ones by a warp (`gpu.cuda.team`).
Nobody waits for a component that nobody is at, so one warp alone can finish a problem. Work comes in slices: lanes of a
warp meet again after each, and after some slices the kernel returns, so that the host can stop it or start it again.

ints  int32: fields I_..., then tables: counters of what is waited for, queues, callers by component (CSR), and for each
      component 1 if a warp is to solve it.
"""

# mypy: allow-untyped-defs, allow-untyped-calls, disable-error-code="assignment,operator"

from __future__ import annotations

import numpy as np

from gpu.cuda.build import kernel
from gpu.cuda.platforms.fields import X_DONE, X_TEAM, X_WORTH
from gpu.cuda.platforms.sequential import (
    block,
    box_of,
    fence,
    pause,
    plus,
    post,
    read,
    swap,
    swap_if,
    team_barrier,
    thread,
    threads,
)
from gpu.cuda.team import P_STOP, serve
from gpu.fixpoint import solve_run
from gpu.transfer import FIRST, LAST, LIMIT, NEXT, WORK

I_DONE, I_HEAD, I_TAIL, I_SIZE_ALL = 0, 1, 3, 5
"""Components done; ends of the two queues, of small components and of large ones."""
T_WAITS, T_QUEUES, T_CALLER_OFF, T_CALLERS, T_LARGE, T_TOTAL, T_SLICES, T_BUDGET, T_WORTH, T_TEAMS, T_LANE, T_TEAM_AT, \
    T_TEAM_SIZE, T_SETTINGS = range(14)  # fmt: skip
"""Settings: addresses of tables in `ints`; components; slices of a launch and their units of work; steps from which on
a team is called; warps that can be teams; integers of a lane's fields, where those of teams begin, and their size."""
NEVER = 1 << 62


@kernel
def pop(ints, settings, large):
    """A component that is ready, of one queue; or -1: there is none, or another was faster."""
    head = read(ints, I_HEAD + large)
    if head >= read(ints, I_TAIL + large):
        return np.int64(-1)
    if swap_if(ints, I_HEAD + large, head, head + 1) != head:
        return np.int64(-1)
    at = settings[T_QUEUES] + large * settings[T_TOTAL] + head
    component = read(ints, at)
    while component < 0:  # its number is about to be written
        pause()
        component = read(ints, at)
    fence()
    return np.int64(component)


@kernel
def finish(ints, settings, component):
    """A component is done: callers that wait for nothing else are ready."""
    fence()
    off = settings[T_CALLER_OFF] + component
    for i in range(ints[off], ints[off + 1]):
        caller = np.int64(ints[settings[T_CALLERS] + i])
        if plus(ints, settings[T_WAITS] + caller, -1) == 1:
            large = np.int64(ints[settings[T_LARGE] + caller])
            at = settings[T_QUEUES] + large * settings[T_TOTAL] + plus(ints, I_TAIL + large, 1)
            fence()
            swap(ints, at, caller)
    plus(ints, I_DONE, 1)


@kernel
def give(s, component):
    """Makes a worker take a component."""
    s[NEXT], s[LAST], s[FIRST] = component, component + 1, -1


@kernel
def work(code, words, s, ints, components, component_at, fact_at, settings):
    """A slice of work on the component that a worker is at."""
    component = s[NEXT]
    s[WORK], s[LIMIT] = 0, settings[T_BUDGET]
    solve_run(code, words, s, components, component_at, fact_at)
    if s[NEXT] >= s[LAST]:
        finish(ints, settings, component)


@kernel
def solve_ready(code, words, fields, ints, boxes, components, component_at, fact_at, settings):
    """Entry point: one warp per block. `fields`: those of all lanes, then those of teams; `components`: 0, 1, 2 ..."""
    lane, warp, box = thread(), block(), box_of(boxes)
    mine = (warp * threads() + lane) * settings[T_LANE]
    s = fields[mine : mine + settings[T_LANE]]
    theirs = settings[T_TEAM_AT] + min(warp, settings[T_TEAMS] - 1) * settings[T_TEAM_SIZE]
    team = fields[theirs : theirs + settings[T_TEAM_SIZE]]
    for _ in range(settings[T_SLICES]):
        if lane == 0:
            box[X_WORTH], box[X_TEAM] = NEVER, 0
            if warp < settings[T_TEAMS]:
                if team[NEXT] >= team[LAST]:
                    component = pop(ints, settings, 1)
                    if component >= 0:
                        give(team, component)
                if team[NEXT] < team[LAST]:
                    box[X_WORTH], box[X_TEAM] = settings[T_WORTH], 1
            box[X_DONE] = read(ints, I_DONE)
        team_barrier()
        done, as_team = box[X_DONE], box[X_TEAM]
        team_barrier()
        if done == settings[T_TOTAL]:
            break
        if as_team != 0:
            if lane == 0:
                work(code, words, team, ints, components, component_at, fact_at, settings)
                post(P_STOP, 0, 0, 0, 0)
                team_barrier()
                box[X_WORTH] = NEVER
            else:
                serve(code, words, team)
            team_barrier()
        if s[NEXT] >= s[LAST]:
            component = pop(ints, settings, 0)
            if component >= 0:
                give(s, component)
        if s[NEXT] < s[LAST]:
            work(code, words, s, ints, components, component_at, fact_at, settings)
        elif as_team == 0:
            pause()
        team_barrier()
