"""Where learners' notebooks run: no network, no course, no references, and limits on everything.

Outside stand `walls` (bubblewrap), `warm` (sessions of a warm parent), `cgroup` (memory and processes of
all of a session together) and `lending` (answers calls that an exercise allows). Inside: `zygote` (imports
once, forks one child a session), `namespaces` (what parts one child from all others), `learner` (runs
cells, answers calls) and `stand_in` with `borrowed` (what `posenc_lib` and `posenc_course`
are in there).
"""
