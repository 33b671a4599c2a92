import pathlib

import pytest

import takt
from takt.compiler import compiler_version

TESTDATA = pathlib.Path(__file__).parents[2] / "tests" / "testdata"


@pytest.fixture
def testdata():
    return TESTDATA


@pytest.fixture
def simple():
    """mul(4xf32, 4xf32) and double(?x2xf32), on the calling thread."""
    return takt.load(TESTDATA / "api/simple_mul.vmfb", device="local-sync")


@pytest.fixture
def needs_compiler():
    try:
        compiler_version()
    except takt.CompileError as error:
        pytest.skip(str(error))
