from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

# Put together from pieces, so that this file does not name what it forbids.
HOSTS = [
    "py" + "pi.org",
    "python" + "hosted.org",
    "npm" + "js.org",
    "npm" + "js.com",
    "deb." + "debian.org",
    "pkg." + "dev",
]
FOLDERS = ["work", "root", r"home/\w+", "opt/(?:pypi|wheels)", "tmp", "Users"]
HOST = re.compile("|".join(re.escape(host) for host in HOSTS))
MACHINE_PATH = re.compile(rf"(?<![\w.\-~:/}}\])$])/(?:{'|'.join(FOLDERS)})(?:/|\b)")


@pytest.fixture(scope="module")
def files(root: Path) -> list[Path]:
    """The files that belong to the repository."""
    if not (root / ".git").exists():
        pytest.skip("not a git repository")
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(command, cwd=root, check=True, capture_output=True, text=True).stdout.split("\0")
    return [root / name for name in names if name and (root / name).is_file()]


def find_lines(files: list[Path], pattern: re.Pattern[str]) -> list[str]:
    """List the lines of files in which a pattern occurs."""
    return [
        f"{path.name}:{number}: {line.strip()[:100]}"
        for path in files
        for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1)
        if pattern.search(line)
    ]


def test_no_file_names_a_registry(files: list[Path]) -> None:
    assert find_lines(files, HOST) == []


def test_no_file_names_a_folder_of_one_machine(files: list[Path]) -> None:
    assert find_lines(files, MACHINE_PATH) == []


@pytest.mark.parametrize("path", ["/" + "work/main", "in '/" + "root/x'", "/" + "home/me/y", "cd /" + "tmp/x"])
def test_a_machine_path_is_found(path: str) -> None:
    assert MACHINE_PATH.search(path)


def test_no_second_lock(files: list[Path]) -> None:
    assert {path.name for path in files} & {"uv.lock", "package-lock.json", "poetry.lock"} == set()


def test_every_locked_package_has_hashes(root: Path) -> None:
    for lock in sorted((root / "requirements").glob("*.txt")):
        blocks = re.split(r"\n(?=\S)", lock.read_text(encoding="utf-8"))
        assert [block for block in blocks if "==" in block and "--hash=sha256:" not in block] == []


def test_packages_that_two_locks_share_have_one_version(root: Path) -> None:
    versions: dict[str, set[str]] = {}
    for lock in sorted((root / "requirements").glob("*.txt")):
        for name, version in re.findall(r"^([a-z0-9.\-_]+)==(\S+)", lock.read_text(encoding="utf-8"), re.MULTILINE):
            versions.setdefault(name, set()).add(version)
    assert {name: found for name, found in versions.items() if len(found) > 1} == {}
