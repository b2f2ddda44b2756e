# Numbers that JSON can write and a float cannot hold.
# attacks: all
# verdict: malformed
# %%
import posenc_course.grading.sandbox.learner as learner

learner.encode = lambda value: {"complex": [10**400, 0]}
