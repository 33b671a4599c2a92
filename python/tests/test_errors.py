import numpy as np
import pytest

import takt


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
