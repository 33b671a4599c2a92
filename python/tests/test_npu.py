import numpy as np
import pytest

import takt


def test_a_product_runs_on_the_npu_of_this_cpu(testdata):
    with takt.Instance(workers=1) as robot:
        npu = robot.npu("host")
        assert npu.npu_statistics()["operations"] == 0
        assert npu.npu_capabilities()["name"]
        module = robot.load(testdata / "npu/gemm.vmfb", device=npu)
        random = np.random.default_rng(1)
        left = random.integers(-128, 128, (64, 512)).astype(np.int8)
        right = random.integers(-128, 128, (512, 512)).astype(np.int8)
        result = module.i8(left, right)
        assert np.array_equal(result, left.astype(np.int32) @ right.astype(np.int32))
        statistics = npu.npu_statistics()
        assert statistics["operations"] + statistics["unsupported"] > 0


def test_an_unknown_driver_is_an_error():
    with takt.Instance(workers=0) as robot:
        with pytest.raises(takt.Error, match="no_such_driver"):
            robot.npu("./no_such_driver.so")
        assert robot.device("local-sync").npu_statistics() is None
