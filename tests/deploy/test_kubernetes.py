"""The values for Kubernetes: no cluster here, but what can be told without one."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml
from traitlets.config import Config

VALUES = Path(__file__).resolve().parents[2] / "deploy" / "kubernetes" / "values.yaml"
IMAGE = "root:x:0:0:root:/root:/bin/bash\n"


@pytest.fixture
def values():
    return yaml.safe_load(VALUES.read_text())


@pytest.fixture
def accounts(values, tmp_path):
    """The hub's extra configuration, run as the hub runs it, and the file of accounts that it keeps."""
    file = tmp_path / "passwd"
    file.write_text(IMAGE)
    settings = {"c": Config()}
    exec(values["hub"]["extraConfig"]["accounts"].replace("/class/accounts/passwd", str(file)), settings)
    return settings["c"].KubeSpawner, file


def spawner(name: str, number: int, *groups: str) -> SimpleNamespace:
    user = SimpleNamespace(name=name, id=number, groups=[SimpleNamespace(name=group) for group in groups])
    return SimpleNamespace(user=user, environment={})


def test_every_user_gets_an_account_of_their_own_once(accounts):
    kube, file = accounts
    before = file.stat().st_ino
    for each in (spawner("ada", 1), spawner("bob", 2), spawner("ada", 1)):
        kube.pre_spawn_hook(each)
    assert kube.uid(spawner("ada", 1)) != kube.uid(spawner("bob", 2))
    added = file.read_text().removeprefix(IMAGE).splitlines()
    assert [line.split(":")[:3] for line in added] == [["ada", "x", "100001"], ["bob", "x", "100002"]]
    assert file.stat().st_ino == before, "running pods hold this very file"


def test_only_instructors_see_the_formgrader(accounts):
    kube, _ = accounts
    learner, teacher = spawner("ada", 1, "students"), spawner("teacher", 3, "instructors")
    kube.pre_spawn_hook(learner)
    kube.pre_spawn_hook(teacher)
    assert learner.environment["JUPYTER_CONFIG_PATH"].split(":")[0].endswith("/jupyterhub/learner")
    assert "JUPYTER_CONFIG_PATH" not in teacher.environment


def test_the_pods_see_the_exchange_but_not_the_file_of_accounts_to_write_to(values):
    mounts = {mount["mountPath"]: mount for mount in values["singleuser"]["storage"]["extraVolumeMounts"]}
    assert values["singleuser"]["extraEnv"]["POSENC_EXCHANGE"] in mounts
    assert mounts["/etc/passwd"]["readOnly"]
    assert all("subPath" in mount for mount in mounts.values())
