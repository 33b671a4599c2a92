import gc
import signal
import threading
import time

import numpy as np
import pytest

import takt


def test_multiplies_arrays(simple):
    a = np.array([1, 2, 3, 4], np.float32)
    result = simple.mul(a, a)
    assert result.dtype == np.float32
    assert result.tolist() == [1, 4, 9, 16]


def test_takes_inputs_by_name(simple):
    a = np.arange(4, dtype=np.float32)
    b = np.full(4, 10, np.float32)
    assert simple.mul(input1=b, input0=a).tolist() == [0, 10, 20, 30]
    assert simple.mul(a, input1=b).tolist() == [0, 10, 20, 30]


def test_a_list_of_fractions_is_none_of_integers(needs_compiler, tmp_path):
    double = takt.compile("""func.func @double(%x: tensor<4xi64>) -> tensor<4xi64> {
  %0 = arith.addi %x, %x : tensor<4xi64>
  return %0 : tensor<4xi64>
}
""", cache=tmp_path).load(device="local-sync").double
    assert double([1, 2, 3, 4]).tolist() == [2, 4, 6, 8]
    with pytest.raises(takt.InvalidArgument, match="f64"):
        double([1.5, 2, 3, 4])


def test_results_are_arrays_of_their_own(needs_compiler, tmp_path):
    """Although a module returns its argument, and one value twice."""
    keep = takt.compile("""func.func @keep(%x: tensor<64x64xf32>)
    -> (tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>) {
  %0 = arith.addf %x, %x : tensor<64x64xf32>
  %1 = arith.constant dense<3.0> : tensor<64x64xf32>
  return %x, %0, %0, %1 : tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>
}
""", cache=tmp_path).load(device="local-sync").keep
    memory = np.empty(64 * 64 * 4 + 64, np.uint8)
    begin = -memory.ctypes.data % 64  # Calls use the array where it lies.
    x = memory[begin:begin + 64 * 64 * 4].view(np.float32).reshape(64, 64)
    x[:] = 1
    first, second = keep(x), keep(x)
    x[:] = 7
    for i, results in enumerate((first, second)):
        assert [result[0, 0] for result in results] == [1, 2, 2, 3]
        for k, result in enumerate(results):
            result[:] = 10 * i + k
    assert [result[0, 0] for result in (*first, *second)] == [0, 1, 2, 3, 10, 11, 12, 13] and (x == 7).all()
    again = keep(first[0])  # A result as an argument.
    first[0][:] = 5
    assert again[0][0, 0] == 0


def test_converts_lists_to_the_declared_type(simple):
    assert simple.mul([1, 2, 3, 4], [2, 2, 2, 2]).tolist() == [2, 4, 6, 8]


def test_takes_what_is_not_dense(simple):
    every_second = np.arange(8, dtype=np.float32)[::2]
    ones = np.ones(4, np.float32)
    assert simple.mul(every_second, ones).tolist() == [0, 2, 4, 6]


def test_takes_arrays_by_dlpack(simple):
    class OnlyDlpack:
        def __init__(self, array):
            self._array = array

        def __dlpack__(self, **options):
            return self._array.__dlpack__(**options)

        def __dlpack_device__(self):
            return self._array.__dlpack_device__()

    a = OnlyDlpack(np.array([1, 2, 3, 4], np.float32))
    assert simple.mul(a, a).tolist() == [1, 4, 9, 16]


def test_results_are_offered_by_dlpack(simple):
    ones = np.ones(4, np.float32)
    assert np.from_dlpack(simple.mul(ones, ones)).tolist() == [1, 1, 1, 1]


def test_large_aligned_arrays_are_used_where_they_lie(simple):
    rows = 100_000
    memory = np.zeros(rows * 2 * 4 + 64, np.uint8)
    begin = -memory.ctypes.data % 64
    array = memory[begin : begin + rows * 8].view(np.float32).reshape(rows, 2)
    array[...] = 3
    result = simple.double(array)
    assert result.shape == (rows, 2)
    assert (result == 6).all()


def test_results_outlive_the_module(testdata):
    module = takt.load(testdata / "api/simple_mul.vmfb")
    result = module.mul([1, 2, 3, 4], [1, 1, 1, 1])
    del module
    assert result.tolist() == [1, 2, 3, 4]
    result += 1  # The memory is the caller's.
    assert result.tolist() == [2, 3, 4, 5]


def test_dynamic_shapes(simple):
    assert simple.double(np.ones((3, 2), np.float32)).shape == (3, 2)
    assert simple.double(np.ones((0, 2), np.float32)).shape == (0, 2)


def test_the_signature_has_names_types_and_shapes(simple):
    inputs = simple.mul.inputs
    assert [each["name"] for each in inputs] == ["input0", "input1"]
    assert inputs[0]["dtype"] == "float32"
    assert inputs[0]["shape"] == (4,)
    assert simple.double.inputs[0]["shape"] == (None, 2)


def test_functions_are_attributes(simple):
    assert simple.functions == ["mul", "double"]
    assert simple.mul is simple.mul
    with pytest.raises(AttributeError, match="mul"):
        simple.divide
    with pytest.raises(TypeError, match="not one function"):
        simple([1, 2, 3, 4])


def test_a_module_is_loaded_from_bytes(testdata):
    data = (testdata / "api/simple_mul.vmfb").read_bytes()
    assert takt.load(data).mul([1, 2, 3, 4], [1, 1, 1, 1]).tolist() == [1, 2, 3, 4]


def test_missing_imports_are_named(testdata):
    with pytest.raises(takt.NotFound, match="robot"):
        takt.load(testdata / "api/counter.vmfb", device="local-sync")


def test_calls_of_many_threads(simple):
    failures = []

    def call(number):
        a = np.full(4, number, np.float32)
        for _ in range(200):
            if simple.mul(a, a).tolist() != [number * number] * 4:
                failures.append(number)

    threads = [threading.Thread(target=call, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_submit_and_result(simple):
    ones = np.ones(4, np.float32)
    invocation = simple.mul.submit(ones, ones)
    first = invocation.result(timeout=60)
    assert first.tolist() == [1, 1, 1, 1]
    assert invocation.done
    assert invocation.result() is first


def test_fences_order_calls(simple):
    ones = np.ones(4, np.float32)
    begin, end = takt.Fence(), takt.Fence()
    invocation = simple.mul.submit(ones, ones, wait=begin, signal=end)
    assert not end.reached
    with pytest.raises(takt.DeadlineExceeded):
        end.wait(timeout=0.001)
    begin.signal()
    end.wait(timeout=60)
    assert end.reached
    assert invocation.result(timeout=60).tolist() == [1, 1, 1, 1]


def test_a_failed_fence_fails_the_call(simple):
    ones = np.ones(4, np.float32)
    begin = takt.Fence()
    invocation = simple.mul.submit(ones, ones, wait=begin)
    begin.fail("the camera is gone")
    with pytest.raises(takt.Error, match="the camera is gone"):
        invocation.result(timeout=60)


def test_a_call_that_waits_is_cancelled(simple):
    ones = np.ones(4, np.float32)
    begin = takt.Fence()
    invocation = simple.mul.submit(ones, ones, wait=begin)
    invocation.cancel()
    with pytest.raises(takt.Cancelled):
        invocation.result(timeout=60)


def test_a_wait_for_a_result_has_a_limit(simple):
    ones = np.ones(4, np.float32)
    begin = takt.Fence()
    invocation = simple.mul.submit(ones, ones, wait=begin)
    with pytest.raises(takt.DeadlineExceeded):
        invocation.result(timeout=0.01)
    begin.signal()
    assert invocation.result(timeout=60).tolist() == [1, 1, 1, 1]


def test_an_interrupt_ends_a_wait(simple):
    import _thread

    ones = np.ones(4, np.float32)
    begin = takt.Fence()
    invocation = simple.mul.submit(ones, ones, wait=begin)
    interrupter = threading.Thread(target=lambda: (time.sleep(0.05), _thread.interrupt_main()))
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # A job in the background ignores interrupts.
    try:
        with pytest.raises(KeyboardInterrupt):
            interrupter.start()
            invocation.result()
    finally:
        signal.signal(signal.SIGINT, before)
    interrupter.join()
    begin.signal()
    assert invocation.result(timeout=60).tolist() == [1, 1, 1, 1]


def test_the_memory_of_results_comes_back(testdata):
    with takt.Instance(workers=1) as instance:
        device = instance.device("local-sync")
        function = instance.load(testdata / "api/simple_mul.vmfb", device=device).function("mul")
        a = np.ones(4, np.float32)
        kept = function(a, a)
        for _ in range(3):
            function(a, a)
            function.submit(a, a).result()
        gc.collect()
        assert device.statistics()["bytes_reserved"] == kept.nbytes
        del kept
        gc.collect()
        assert device.statistics()["bytes_reserved"] == 0


def test_bytes_in_another_order_are_converted(simple):
    x = np.arange(4, dtype=np.float32)
    swapped = x.astype(x.dtype.newbyteorder())
    np.testing.assert_array_equal(simple.mul(swapped, memoryview(swapped)), x * x)


@pytest.mark.parametrize("options, message", [
    ({"priority": 1.5}, "priority: expected an int, got 1.5"),
    ({"priority": "high"}, "priority: expected an int, got 'high'"),
    ({"priority": -1}, "priority: expected 0 to 255, got -1"),
    ({"cpus": "0-1"}, "cpus: expected an int, got '0'"),
    ({"memory_limit": -1}, "memory_limit: expected an int from 0 on, got -1"),
    ({"step_limit": -1}, "step_limit: expected an int from 0 on, got -1"),
    ({"timeout": "1"}, "timeout: expected seconds, got '1'"),
])
def test_an_option_of_a_wrong_type_is_named(simple, options, message):
    x = np.ones(4, np.float32)
    with pytest.raises(takt.InvalidArgument) as error:
        simple.mul(x, x, **options)
    assert message in str(error.value)


def test_a_module_shows_its_file_or_its_length(testdata):
    path = testdata / "api/simple_mul.vmfb"
    assert repr(takt.Module(path)) == f"<takt.Module {path.resolve()}>"
    assert repr(takt.Module(path.read_bytes())) == f"<takt.Module of {path.stat().st_size} bytes>"


def test_functions_are_among_the_names_of_a_module(testdata):
    module = takt.load(testdata / "api/simple_mul.vmfb")
    with takt.Instance(workers=1) as instance:
        assert {"mul", "functions"} <= set(dir(module)) and {"mul", "functions"} <= set(dir(module.on(instance)))
    assert "mul" not in dir(takt.Module(testdata / "api/simple_mul.vmfb"))  # A look does not load it.
