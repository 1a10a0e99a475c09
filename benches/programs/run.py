"""Runs other people's CUDA programs, unchanged, as scenes of warpaint, and compares the results with numpy's.

usage: run.py REPOS_FOLDER WARPAINT [NAME...]

REPOS_FOLDER has the repositories as OWNER/NAME. Each folder beside this file is a program: manifest.toml drives the
kernels as the program's host code does, check.py makes the inputs, names the program's file, and compares.
A scene is the manifest, as a comment, before the text of the file; nothing else is changed.
"""
import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
LIMIT = 300  # seconds that a program may take


def load_check(folder):
    spec = importlib.util.spec_from_file_location(folder.name, folder / "check.py")
    check = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(check)
    return check


def run(command, folder):
    """Runs a command in a folder. Returns whether it went well, and the last line of what it said."""
    environment = {**os.environ, "PYTHONPATH": str(HERE)}
    try:
        done = subprocess.run(command, cwd=folder, env=environment, timeout=LIMIT, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    except subprocess.TimeoutExpired:
        return False, f"stopped after {LIMIT} seconds"
    if done.returncode != 0:
        print(done.stdout, end="")
    return done.returncode == 0, (done.stdout.strip().splitlines() or [""])[-1]


def run_program(folder, repositories, warpaint):
    """Returns a row of the table."""
    check = load_check(folder)
    source = repositories / check.SOURCE
    if not source.exists():
        return folder.name, check.SOURCE, str(check.STEPS), "the file is not there", "", "NO"
    with tempfile.TemporaryDirectory() as scratch:
        # The file's neighbours come along, since it may include them. ROOT is where the files that it includes lie,
        # where some do not lie below its own folder; such are refused, unless the scene is trusted.
        root = repositories / getattr(check, "ROOT", pathlib.Path(check.SOURCE).parent)
        shutil.copytree(root, pathlib.Path(scratch) / "root")
        work = (pathlib.Path(scratch) / "root" / source.relative_to(root)).parent
        scene = work / ("scene" + source.suffix)
        manifest = (folder / "manifest.toml").read_text()
        scene.write_bytes(b"/*---\n" + manifest.encode() + b"---*/\n" + source.read_bytes())

        command = [warpaint, "render", scene.name, "--device", "cpu", "--steps", str(check.STEPS),
                   "--step-timeout", str(LIMIT)]
        if hasattr(check, "ROOT"):
            command.append("--trust")
        for include in getattr(check, "INCLUDE", []):
            command += ["-I", str(repositories / include)]
        for output in check.OUTPUTS:
            command += ["--npy", f"{output}={output}.out.npy"]
        script = [sys.executable, str(folder / "check.py")]

        ok, said = run(script + ["prepare"], work)
        start = time.monotonic()
        if ok:
            ok, said = run(command, work)
        seconds = time.monotonic() - start
        if ok:
            ok, said = run(script + ["compare"], work)
    said = said.removeprefix("largest relative error ")
    return folder.name, check.SOURCE, str(check.STEPS), said, f"{seconds:.1f}", "yes" if ok else "NO"


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    repositories, warpaint = pathlib.Path(sys.argv[1]).resolve(), str(pathlib.Path(sys.argv[2]).resolve())
    names = sys.argv[3:] or sorted(path.parent.name for path in HERE.glob("*/check.py"))
    rows = [("name", "file", "steps", "largest error", "seconds", "ok")]
    for name in names:
        rows.append(run_program(HERE / name, repositories, warpaint))
        print(f"{name}: {rows[-1][3]}", flush=True)
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    print()
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())
    sys.exit(any(row[-1] == "NO" for row in rows[1:]))


main()
