"""The course side: release exercises to learners, and grade what comes back.

`release` makes what learners get. `cli` is the command `posenc`; `run` grades a class with it, submission by
submission (`one`), in `processes` of this machine or on a `cluster`. A submission is read in `handed_in`,
goes through the `sandbox`, is judged in `judging`, kept in `recorded` and given back in `handed_back`;
`report` tells how the class did. `nbgrader_plugin` is the way in from `nbgrader autograde`.
"""
