# What turns answers into plain data is replaced: every answer leaves as something else.
# attacks: all
# verdict: malformed
# %%
import posenc_course.grading.sandbox.learner as learner

learner.encode = lambda value: {"passed": True, "points": 100, "verdict": "right"}
