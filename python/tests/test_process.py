"""What ends, forks or starts with threads: each in a process of its own."""

import pathlib
import subprocess
import sys

import pytest

TESTDATA = pathlib.Path(__file__).parents[2] / "tests" / "testdata"

_LOAD = f"""
import asyncio, os, sys, threading, time
import numpy as np
import takt
module = takt.load({str(TESTDATA / "api/simple_mul.vmfb")!r})
x = np.ones(4, np.float32)
"""


def run(body):
    """What the program prints. It must end well, and soon."""
    done = subprocess.run([sys.executable, "-c", _LOAD + body], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@pytest.mark.parametrize("turn", range(3))
def test_the_first_calls_may_come_from_several_threads(turn):
    assert run("""
sums = []
threads = [threading.Thread(target=lambda: sums.append(module.mul(x, x).sum())) for _ in range(8)]
for each in threads: each.start()
for each in threads: each.join()
print(*sums)
""") == ["4.0"] * 8


@pytest.mark.parametrize("work", ["while True: module.mul(x, x)",
                                  "module.function('mul').submit(x, x, wait=takt.Fence()).result()"])
def test_the_process_may_end_while_a_thread_is_in_a_call(work):
    assert run(f"""
def work():
    {work}
for _ in range(3): threading.Thread(target=work, daemon=True).start()
time.sleep(0.2)
print("end")
""") == ["end"]


def test_a_child_of_fork_ends_beside_a_stream():
    assert run("""
instance = takt.Instance()
stream = instance.stream(module.on(instance).function("mul"), period=0.01)
stream.set_input(x, x)
time.sleep(0.05)
child = os.fork()
if child == 0:
    try: stream.wait_idle()
    except takt.FailedPrecondition: print("refused", flush=True)
    sys.exit(3)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
""") == ["refused", "3"]


def test_a_child_of_fork_calls_and_has_an_instance_of_its_own():
    assert run("""
module.mul(x, x)
async def call(function): return await function.call_async(x, x + 1)
child = os.fork()
if child == 0:
    print(module.mul(x, x)[0], flush=True)
    try: asyncio.run(call(module.function("mul")))
    except takt.FailedPrecondition: print("refused", flush=True)
    with takt.Instance() as own: print(asyncio.run(call(module.on(own).function("mul")))[0], flush=True)
    sys.exit(0)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
""") == ["1.0", "refused", "2.0", "0"]


def test_a_callback_must_not_wait_for_its_own_instance():
    assert run("""
said, kept = [], [takt.Fence()]  # A call whose fence is gone is over at once.
def on_result(result):
    for wait in (lambda: module.on(instance).function("mul")(x, x), lambda: stream.wait_idle(),
                 lambda: module.on(instance).function("mul").submit(x, x, wait=kept[0]).result()):
        try: wait()
        except takt.FailedPrecondition: said.append("refused")
    kept.clear()
    said.append(str(module.mul(x, x)[0]))  # Of another instance.
    done.set()
done = threading.Event()
with takt.Instance() as instance:
    stream = instance.stream(module.on(instance).function("mul"), on_result=on_result)
    stream.set_input(x, x)
    done.wait()
print(*said)
""") == ["refused"] * 3 + ["1.0"]


def test_what_compiles_is_imported_when_it_is_needed():
    assert run("""
print(*(name in sys.modules for name in ("takt.compiling", "takt.tuning", "onnx")))
print(takt.compile.__name__, takt.Artifact.__name__, takt.tuning.__name__, takt.compiling.__name__)
""") == ["False"] * 3 + ["compile", "Artifact", "takt.tuning", "takt.compiling"]
