import numpy as np
import pytest

import takt
import takt.plan
import takt.trace


def test_every_code_has_a_class_of_its_own():
    codes = [cls.code for cls in takt.Error.__subclasses__()]
    assert len(codes) == len(set(codes))


def test_shapes_and_types_are_checked(simple):
    with pytest.raises(takt.InvalidArgument, match="input 0: expected 4xf32, got 3xf32"):
        simple.mul(np.ones(3, np.float32), np.ones(4, np.float32))
    with pytest.raises(takt.InvalidArgument, match="input 1: expected 4xf32, got 4xf64"):
        simple.mul(np.ones(4, np.float32), np.ones(4))


def test_errors_are_pythons_kinds_as_well(simple):
    with pytest.raises(ValueError):
        simple.mul(np.ones(3, np.float32), np.ones(4, np.float32))
    with pytest.raises(LookupError):
        takt.load("/there/is/no/such.vmfb")


def test_the_number_of_inputs_is_checked(simple):
    with pytest.raises(TypeError, match="takes 2 inputs, got 1"):
        simple.mul(np.ones(4, np.float32))
    with pytest.raises(TypeError, match="takes 2 inputs, got 3"):
        simple.mul(*[np.ones(4, np.float32)] * 3)
    with pytest.raises(TypeError, match="no input, and no option, 'left'"):
        simple.mul(np.ones(4, np.float32), left=np.ones(4, np.float32))


@pytest.mark.parametrize("wrong, said", [
    ("abc", "numpy makes no array of it: could not convert"),
    ([[1.0], [1.0, 2.0]], "numpy makes no array of it: "),
    (np.array([object()]), "expected numbers, got an array of object"),
])
def test_what_is_no_array_of_numbers_has_a_place(simple, wrong, said):
    with pytest.raises(takt.InvalidArgument, match="simple.mul: input 1: ") as error:
        simple.mul(np.ones(4, np.float32), wrong)
    assert said in str(error.value)


def test_an_input_is_given_once(simple):
    ones = np.ones(4, np.float32)
    with pytest.raises(TypeError, match="simple.mul got its input 'input0' twice"):
        simple.mul(ones, ones, input0=ones)


def test_files_that_are_no_modules(tmp_path):
    path = tmp_path / "broken.vmfb"
    path.write_bytes(b"PK\x03\x04" + bytes(100))
    with pytest.raises(takt.Error, match="broken.vmfb"):
        takt.load(path)


def test_options_are_checked(simple):
    ones = np.ones(4, np.float32)
    with pytest.raises(takt.InvalidArgument, match="timeout"):
        simple.mul(ones, ones, timeout=-1)
    with pytest.raises(takt.InvalidArgument, match="priority"):
        simple.mul(ones, ones, priority=256)
    with pytest.raises(takt.InvalidArgument, match="no CPU"):
        simple.mul(ones, ones, cpus=[-1])


def test_policies_are_checked():
    with pytest.raises(takt.InvalidArgument, match="job-shop"):
        takt.Instance(policy="best")


def test_there_are_no_fewer_workers_than_none():
    with pytest.raises(takt.InvalidArgument, match="workers: expected a number from 0 on, got -1"):
        takt.Instance(workers=-1)
    assert takt.Instance(workers=0).worker_count == 0


NUL = "expected a str without NUL characters, got "


@pytest.mark.parametrize("name, call", [
    ("worker_cpus", lambda robot, mul, text: takt.Instance(worker_cpus=text)),
    ("policy", lambda robot, mul, text: takt.Instance(policy=text)),
    ("cores_path", lambda robot, mul, text: takt.Instance(cores_path=text)),
    ("device", lambda robot, mul, text: robot.device(text)),
    ("driver", lambda robot, mul, text: robot.npu(text)),
    ("driver_options", lambda robot, mul, text: robot.npu("sim", driver_options=text)),
    ("lease_path", lambda robot, mul, text: robot.npu("sim", lease_path=text)),
    ("path", lambda robot, mul, text: robot.load(text)),
    ("path", lambda robot, mul, text: robot.load(mul, parameters=text)),
    ("scope", lambda robot, mul, text: robot.load(mul, parameters={text: "x"})),
    ("function", lambda robot, mul, text: robot.load(mul).function(text)),
    ("pool", lambda robot, mul, text: robot.scheduler.set_speed(text, 1)),
    ("path", lambda robot, mul, text: robot.scheduler.save_profile(text)),
    ("path", lambda robot, mul, text: robot.scheduler.load_profile(text)),
    ("path", lambda robot, mul, text: takt.trace.Trace.load(text)),
    ("path", lambda robot, mul, text: takt.plan.Plan.load(text)),
    ("name", lambda robot, mul, text: takt.plan.Plan.decode(b"", text)),
    ("capture_path", lambda robot, mul, text: _stream(robot, mul, capture_path=text)),
    ("path", lambda robot, mul, text: _stream(robot, mul).write_capture(text)),
])
def test_texts_with_nul_characters_are_refused(name, call, testdata, tmp_path):
    text = f"{tmp_path}/a\0b"
    with takt.Instance(workers=1) as robot, pytest.raises(takt.InvalidArgument, match=f"^{name}: {NUL}") as error:
        call(robot, testdata / "api/simple_mul.vmfb", text)
    assert repr(text)[1:] in str(error.value)
    assert not list(tmp_path.iterdir())


def _stream(robot, mul, **options):
    return robot.stream(robot.load(mul).function("mul"), arrival="input", capture_jobs=1, **options)
