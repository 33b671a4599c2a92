#!/usr/bin/env python3
"""Makes the three networks of the double pendulum on a cart and compiles them;
learning.py says how. Takes about two minutes on two cores.

usage: train.py [DIRECTORY]        default: models, beside this file
needs: mujoco==3.13.0 numpy onnx onnxruntime iree-base-compiler[onnx], and the
       Python package takt
"""
import pathlib
import sys

import learning
import mujoco
import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
PUSH = 1.5  # Radians per second, at most.
FALLEN = 0.6  # Radians.


class CartPole(learning.Robot):
    FORCE_MAX = 12.0
    NOISE = np.array([2e-5, 2e-4, 2e-4])  # Metres, radians, radians.

    def stand(self):
        pass

    def push(self):
        self.data.qvel[2] += self.random.choice([-1, 1]) * PUSH * self.random.uniform(0.5, 1)

    def fallen(self):
        q = self.data.qpos
        return abs(q[1]) > FALLEN or abs(q[1] + q[2]) > FALLEN or abs(q[0]) > 0.48

    def read(self):
        return self.data.qpos

    def state(self):
        return np.concatenate([self.data.qpos, self.data.qvel])


def gains(model):
    """Of the regulator at the upright position."""
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    a, b = np.zeros((6, 6)), np.zeros((6, 1))
    mujoco.mjd_transitionFD(model, data, 1e-6, True, a, b, None, None)
    rates = np.log(np.abs(np.linalg.eigvals(a))) / learning.STEP
    print("growth rates of a fall, 1/s:", np.sort(rates)[-2:].round(1))
    steps = round(learning.POLICY_PERIOD / learning.STEP)
    b = sum(np.linalg.matrix_power(a, i) @ b for i in range(steps))
    a = np.linalg.matrix_power(a, steps)
    return learning.regulator(a, b, [10, 1, 1, 1, 0.01, 0.01, 1e-6], 0.2)


def pose(random):
    return np.clip(random.normal(size=3) * [0.12, 0.3, 0.4], -0.4, 1.5)


def main():
    directory = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "models"
    model = mujoco.MjModel.from_xml_path(str(HERE / "robot.xml"))
    learning.train(lambda seed: CartPole(model, seed), gains(model), pose, directory)


if __name__ == "__main__":
    main()
