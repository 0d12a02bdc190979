"""How many processors a process may use, by affinity and by the quotas of its control groups."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from memcli.system import cores, usable_cores


@pytest.fixture(autouse=True)
def _sixteen_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 16)
    monkeypatch.setattr(os, "process_cpu_count", lambda: 16, raising=False)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(16)), raising=False)


def counted(tmp_path: Path, groups: str, files: dict[str, str]) -> int:
    (tmp_path / "cgroup").write_text(groups)
    for name, content in files.items():
        path = tmp_path / "groups" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    return usable_cores(str(tmp_path), str(tmp_path / "groups"))


@pytest.mark.parametrize(
    ("quota", "expected"),
    [
        ("max 100000", 16),
        ("200000 100000", 2),
        ("150000 100000", 2),
        ("10000 100000", 1),
        ("6400000 100000", 16),
        ("0 100000", 16),
        ("100000 0", 16),
        ("nonsense", 16),
        ("", 16),
    ],
)
def test_quotas_of_version_2(tmp_path: Path, quota: str, expected: int) -> None:
    assert counted(tmp_path, "0::/a/b\n", {"a/b/cpu.max": quota}) == expected


def test_a_group_above_binds_too(tmp_path: Path) -> None:
    files = {"a/b/cpu.max": "max 100000", "a/cpu.max": "300000 100000"}
    assert counted(tmp_path, "0::/a/b\n", files) == 3


def test_a_path_from_outside_a_container_leads_to_its_root(tmp_path: Path) -> None:
    assert counted(tmp_path, "0::/../../docker/x\n", {"cpu.max": "400000 100000"}) == 4


@pytest.mark.parametrize("folder", ["cpu", "cpu,cpuacct"])
def test_quotas_of_version_1(tmp_path: Path, folder: str) -> None:
    files = {
        f"{folder}/pod/cpu.cfs_quota_us": "500000\n",
        f"{folder}/pod/cpu.cfs_period_us": "100000\n",
        f"{folder}/cpu.cfs_quota_us": "-1\n",
        f"{folder}/cpu.cfs_period_us": "100000\n",
    }
    told = "5:memory:/\n4:cpuset:/\n3:cpu,cpuacct:/pod\n2:name=systemd:/a:b\n0::/\n"
    assert counted(tmp_path, told, files) == 5


def test_without_control_groups_affinity_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert usable_cores(str(tmp_path / "none"), str(tmp_path)) == 16
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {3, 7, 9}, raising=False)
    assert usable_cores(str(tmp_path / "none"), str(tmp_path)) == 3
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    monkeypatch.setattr(os, "process_cpu_count", lambda: None, raising=False)
    assert usable_cores(str(tmp_path / "none"), str(tmp_path)) == 1


def test_a_number_that_is_set_counts(tmp_path: Path) -> None:
    assert cores(5) == 5
    assert 1 <= cores(0) <= 16


if sys.platform == "linux":

    def test_a_process_that_is_bound_to_one_processor_knows() -> None:
        code = (
            "import os; os.sched_setaffinity(0, {min(os.sched_getaffinity(0))});"
            "from memcli.system import usable_cores; print(usable_cores())"
        )
        done = subprocess.run(
            [sys.executable, "-c", code], check=True, capture_output=True, text=True
        )
        assert done.stdout == "1\n"
