# A cell's outputs are nested until the judge falls over.
# attacks: all
# verdict: tampered
# %%
import json
import posenc_course.grading.sandbox.learner as learner

depth = 900


def forged(self, source):
    lines = json.loads("[" * depth + "]" * depth)
    return {"outputs": [{"output_type": "error", "ename": "E", "evalue": "", "traceback": [lines]}], "failed": False}


learner.Learner._cell = forged
