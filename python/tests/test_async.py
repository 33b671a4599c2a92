import asyncio

import numpy as np
import pytest

import takt


async def test_calls_are_awaited(simple):
    a = np.array([1, 2, 3, 4], np.float32)
    result = await simple.mul.call_async(a, a, deadline=5e-3)
    assert result.tolist() == [1, 4, 9, 16]


async def test_many_calls_at_once(simple):
    calls = [
        simple.mul.call_async(np.full(4, n, np.float32), np.ones(4, np.float32)) for n in range(50)
    ]
    results = await asyncio.gather(*calls)
    assert [result[0] for result in results] == list(range(50))


async def test_errors_arrive_where_the_call_is_awaited(simple):
    with pytest.raises(takt.InvalidArgument):
        await simple.mul.call_async(np.ones(3, np.float32), np.ones(4, np.float32))


async def test_cancelling_the_future_cancels_the_call(simple):
    ones = np.ones(4, np.float32)
    future = simple.mul.call_async(ones, ones)
    future.cancel()
    with pytest.raises(asyncio.CancelledError):
        await future
    assert (await simple.mul.call_async(ones, ones)).tolist() == [1, 1, 1, 1]


async def test_a_call_is_a_future_that_has_begun(simple):
    ones = np.ones(4, np.float32)
    for take in (asyncio.ensure_future, asyncio.gather, lambda call: asyncio.wait_for(call, 60)):
        assert np.array_equal(np.ravel(await take(simple.mul.call_async(ones, ones))), ones)
    call = simple.mul.call_async(ones, ones)
    with pytest.raises(TypeError, match="a coroutine was expected"):
        asyncio.create_task(call)
    assert (await call).tolist() == [1, 1, 1, 1]


def test_a_timeout_of_zero_is_no_limit_of_a_call_and_no_wait_for_its_result(simple):
    ones, fence = np.ones(4, np.float32), takt.Fence()
    assert simple.mul(ones, ones, timeout=0).tolist() == [1, 1, 1, 1]
    invocation = simple.mul.submit(ones, ones, wait=fence, timeout=0)
    with pytest.raises(takt.DeadlineExceeded):
        invocation.result(0)
    fence.signal()
    assert invocation.result().tolist() == [1, 1, 1, 1]
    assert invocation.result(0).tolist() == [1, 1, 1, 1]
