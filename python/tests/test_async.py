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
