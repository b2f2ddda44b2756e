# The learner's side of the line is rewritten to report a success that nobody asked for.
# attacks: all
# verdict: malformed
# %%
import posenc_course.grading.sandbox.learner as learner

honest = learner.Learner._do


def forged(self, order):
    return {"outcome": ["passed", True, "", "", None], "verdict": "right", "points": 100} if "call" in order else honest(self, order)


learner.Learner._do = forged
