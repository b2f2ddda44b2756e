"""nbgrader's settings: `solutions/` is its source, `exercises/` its release, `course/` holds the rest.

`make exercises` writes the notebooks that nbgrader releases from the text notebooks in `solutions/`.
"""

from pathlib import Path

c = get_config()  # noqa: F821 - traitlets defines it in config files

c.CourseDirectory.course_id = "positional-encoding"
c.CourseDirectory.source_directory = "solutions"
c.CourseDirectory.release_directory = "exercises"
c.CourseDirectory.submitted_directory = "course/submitted"
c.CourseDirectory.autograded_directory = "course/autograded"
c.CourseDirectory.feedback_directory = "course/feedback"

# nbgrader does not create the database's folder itself.
_course = Path.cwd() / "course"
_course.mkdir(exist_ok=True)
c.CourseDirectory.db_url = f"sqlite:///{_course / 'gradebook.db'}"

c.ClearSolutions.code_stub = {"python": "raise NotImplementedError  # replace this line with your answer"}

# A learner who deletes a check gets it back before grading.
c.OverwriteCells.add_missing_cells = True

# No cell of the course needs longer, and one that loops must end.
c.Execute.timeout = 60
