import numpy as np
import pytest

import takt


def test_a_module_runs_on_the_npu_of_this_cpu(testdata):
    with takt.Instance(workers=1) as robot:
        npu = robot.npu("host")
        assert npu.npu_statistics()["operations"] == 0
        assert npu.npu_capabilities()["name"]
        module = robot.load(testdata / "models/matmul_i8.vmvx.tiled.vmfb", device=npu)
        function = module.function(module.functions[0])
        random = np.random.default_rng(1)
        inputs = [
            random.integers(-8, 8, each["shape"]).astype(each["dtype"])
            for each in function.inputs
        ]
        result = function(*inputs)
        expected = takt.load(
            testdata / "models/matmul_i8.vmvx.tiled.vmfb", device="local-sync"
        ).function(module.functions[0])(*inputs)
        assert np.array_equal(result, expected)


def test_an_unknown_driver_is_an_error():
    with takt.Instance(workers=0) as robot:
        with pytest.raises(takt.Error, match="no_such_driver"):
            robot.npu("./no_such_driver.so")
        assert robot.device("local-sync").npu_statistics() is None
