#!/usr/bin/env python3
"""Makes the three networks of the robot on two wheels and compiles them;
learning.py says how. Takes about three minutes on two cores.

usage: train_two_wheeled.py [DIRECTORY]   default: two_wheeled/models, beside
                                          this file
needs: as train.py
"""
import pathlib
import sys

import learning
import mujoco
import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
RADIUS, TRACK = 0.025, 0.084  # Of the wheels, and between them, in metres.
PUSH, TURN = 5.0, 2.0  # Radians per second, at most.
FALLEN = 0.5  # Radians.


def joints(forward, pitch, yaw, height=RADIUS):
    """qpos of a robot whose wheels have rolled to this place and heading."""
    c, s = np.cos([pitch / 2, yaw / 2]), np.sin([pitch / 2, yaw / 2])
    turn = yaw * TRACK / 2 / RADIUS
    rolled = forward / RADIUS - pitch
    return np.array([forward, 0, height, c[1] * c[0], -s[1] * s[0], c[1] * s[0], s[1] * c[0],
                     rolled - turn, rolled + turn])


def pitch_and_yaw(q):
    w, x, y, z = q[3:7]
    yaw = np.arctan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))
    forward = 2 * (x * z + w * y) * np.cos(yaw) + 2 * (y * z - w * x) * np.sin(yaw)
    return np.arctan2(forward, 1 - 2 * (x * x + y * y)), yaw


class TwoWheeled(learning.Robot):
    FORCE_MAX = 0.02
    # The pitch and the yaw, their rates, and the encoders of the wheels.
    NOISE = np.array([5e-4, 1e-3, 5e-3, 5e-3, 1e-3, 1e-3])

    def stand(self):
        self.put(np.zeros(learning.STATE))

    def put(self, state):
        """The robot in this state; its wheels roll and press on the floor."""
        forward, pitch, yaw, speed, pitch_rate, yaw_rate = state
        self.data.qpos[:] = joints(forward, pitch, yaw, RADIUS - 1.2e-4)
        turn = yaw_rate * TRACK / 2 / RADIUS
        rolling = speed / RADIUS - pitch_rate
        self.data.qvel[:] = [speed * np.cos(yaw), speed * np.sin(yaw), 0, -yaw_rate * np.sin(pitch), pitch_rate,
                             yaw_rate * np.cos(pitch), rolling - turn, rolling + turn]

    def push(self):
        self.data.qvel[4] += self.random.choice([-1, 1]) * PUSH * self.random.uniform(0.5, 1)
        self.data.qvel[5] += self.random.uniform(-1, 1) * TURN

    def fallen(self):
        return abs(pitch_and_yaw(self.data.qpos)[0]) > FALLEN or abs(self.data.qpos[0]) > 0.48

    def read(self):
        d = self.data
        return np.array([*pitch_and_yaw(d.qpos), d.qvel[4], d.qvel[5], d.qpos[7], d.qpos[8]])

    def state(self):
        q, v = self.data.qpos, self.data.qvel
        pitch, yaw = pitch_and_yaw(q)
        return np.array([q[0], pitch, yaw, v[0] * np.cos(yaw) + v[1] * np.sin(yaw), v[4],
                         v[5] * np.cos(pitch) - v[3] * np.sin(pitch)])


def gains(model):
    """Of the regulator at the upright position. What a small change of the state
    or of a torque does in a period is tried out in the simulation, so that the
    wheels roll as they do there."""
    def after(state, torques):
        robot = TwoWheeled(model, 0)
        robot.put(state)
        robot.data.ctrl[:] = torques
        for _ in range(round(learning.POLICY_PERIOD / learning.STEP)):
            mujoco.mj_step(model, robot.data)
        return robot.state()

    small, still, none = 1e-3, np.zeros(learning.STATE), np.zeros(2)
    a = np.array([after(e, none) - after(-e, none) for e in small * np.eye(learning.STATE)]).T / (2 * small)
    b = np.array([after(still, e) - after(still, -e) for e in small * np.eye(2)]).T / (2 * small)
    rates = np.log(np.abs(np.linalg.eigvals(a))) / learning.POLICY_PERIOD
    print("growth rate of a fall, 1/s:", np.max(rates).round(1))
    return learning.regulator(a, b, [30, 3, 3, 1, 0.02, 0.05, 1e-6, 1e-6], 4000)


def pose(random):
    return joints(*np.clip(random.normal(size=3) * [0.12, 0.3, 0.2], -0.4, 0.6))


def main():
    directory = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "two_wheeled" / "models"
    model = mujoco.MjModel.from_xml_path(str(HERE / "two_wheeled" / "robot.xml"))
    learning.train(lambda seed: TwoWheeled(model, seed), gains(model), pose, directory, stall=0.05)


if __name__ == "__main__":
    main()
