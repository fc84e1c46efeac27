"""The numbers that the threads of a block share."""

from __future__ import annotations

X_COMMAND, X_A, X_B, X_C, X_N, X_RESULT, X_WORTH, X_TEAM, X_DONE = range(9)
"""Fields of a team's box: what to do, with what; whether a lane found something; from how many steps on it is worth to
call the team; whether the team is at something; how many components are done."""
