"""How the networks of the balancing robots are made: for train.py and
train_two_wheeled.py.

  policy     state, distance to the target, last forces -> forces. A perceptron
             that imitates a linear-quadratic regulator of the robot's model.
  estimator  the last 8 readings of the sensors and the last 8 forces -> the
             state: place, two angles, and the velocities of the three. A linear
             filter plus a perceptron, both fitted to simulated runs.
  detector   camera image -> position of the ball on the rail. Fixed random
             convolutions; what reads the ball's place out of them is trained.

All random numbers come from fixed seeds.
"""
import os

os.environ.setdefault("MUJOCO_GL", "osmesa")

import mujoco
import numpy as np
import onnx
import onnx.helper as oh
import onnx.numpy_helper
import onnxruntime

STEP = 0.0005  # Of the simulation; the robots' models have the same.
POLICY_PERIOD = 0.005
ESTIMATOR_PERIOD = 0.002
READINGS = 8  # Of the sensors, in the estimator's input.
IMAGE_HEIGHT, IMAGE_WIDTH = 320, 480
BALL_RANGE = 0.22
STATE = 6
# Every x86-64 processor since 2013 runs such modules.
TARGET = "x86_64:x86-64-v3"


def regulator(a, b, q, r):
    """The gains of the linear-quadratic regulator. `a` and `b` say what becomes
    of a state and of forces in a period of the policy; the forces that it
    chooses act one period later, as in the robot."""
    states, forces = b.shape
    a = np.block([[a, b], [np.zeros((forces, states + forces))]])
    b = np.eye(states + forces)[:, states:]
    q, r = np.diag(q), r * np.eye(forces)
    p = q
    for _ in range(8000):
        k = np.linalg.solve(r + b.T @ p @ b, b.T @ p @ a)
        p = q + a.T @ p @ (a - b @ k)
    return k


class Robot:
    """A simulated robot with its sensors, and the delay from an observation to
    its forces. A robot has FORCE_MAX, the standard deviations NOISE of a
    reading, and stand(), push(), fallen(), read() and state()."""

    def __init__(self, model, seed):
        self.model, self.data = model, mujoco.MjData(model)
        self.random = np.random.default_rng(seed)
        self.readings = np.zeros((READINGS, len(self.NOISE)))
        self.forces = np.zeros((READINGS, model.nu))
        self.pending = []
        self.stand()

    def run(self, estimate, act, seconds, delay=0.002, stall=0.0, record=None):
        """Pushes the robot every half second and stalls the policy at the same
        time. Returns when the robot fell, or None."""
        stalled_until, target, force = -1.0, 0.0, np.zeros(self.model.nu)
        state = np.zeros(STATE)
        for k in range(round(seconds / STEP)):
            now = k * STEP
            if k % 1000 == 999:
                self.push()
                stalled_until = now + stall
            if k % 4000 == 0 and record is not None:
                target = self.random.uniform(-BALL_RANGE, BALL_RANGE)
            if k % round(ESTIMATOR_PERIOD / STEP) == 0:
                noisy = self.read() + self.random.normal(size=len(self.NOISE)) * self.NOISE
                self.readings = np.vstack([self.readings[1:], noisy])
                self.forces = np.vstack([self.forces[1:], force])
                sensed = np.concatenate([self.readings.ravel(), self.forces.ravel()])
                state = estimate(sensed, self)
                if record is not None:
                    record.append((sensed, self.state(), target))
            if k % round(POLICY_PERIOD / STEP) == 0 and now >= stalled_until:
                error = state.copy()
                error[0] = np.clip(error[0] - target, -0.1, 0.1)
                wanted = np.clip(act(np.append(error, force)), -self.FORCE_MAX, self.FORCE_MAX)
                self.pending.append((now + delay, wanted))
            while self.pending and self.pending[0][0] <= now:
                force = self.pending.pop(0)[1]
            self.data.ctrl[:] = force
            mujoco.mj_step(self.model, self.data)
            if self.fallen():
                return now
        return None


class Perceptron:
    """Two hidden layers of tanh, fitted by Adam. Inputs and outputs are scaled
    to a variance of one."""

    def __init__(self, seed, inputs, hidden, outputs):
        random = np.random.default_rng(seed)
        sizes = [inputs, hidden, hidden, outputs]
        self.w = [random.normal(size=(n, m)) / np.sqrt(n) for n, m in zip(sizes, sizes[1:])]
        self.b = [np.zeros(m) for m in sizes[1:]]
        self.random = random

    def layers(self, x):
        a = [(x - self.x_mean) / self.x_scale]
        for w, b in zip(self.w[:-1], self.b[:-1]):
            a.append(np.tanh(a[-1] @ w + b))
        return a

    def __call__(self, x):
        return self.layers(x)[-1] @ self.w[-1] * self.y_scale + self.b[-1] * self.y_scale

    def fit(self, x, y, steps, batch=256, rate=2e-3):
        self.x_mean, self.x_scale = x.mean(0), x.std(0) + 1e-9
        self.y_scale = y.std(0) + 1e-9
        y = y / self.y_scale
        parameters = self.w + self.b
        first = [np.zeros_like(p) for p in parameters]
        second = [np.zeros_like(p) for p in parameters]
        for step in range(1, steps + 1):
            pick = self.random.integers(len(x), size=batch)
            a = self.layers(x[pick])
            delta = (a[-1] @ self.w[-1] + self.b[-1] - y[pick]) * 2 / batch
            dw, db = [], []
            for i in reversed(range(3)):
                dw.insert(0, a[i].T @ delta)
                db.insert(0, delta.sum(0))
                delta = (delta @ self.w[i].T) * (1 - a[i] ** 2)
            lr = rate * 0.5 * (1 + np.cos(np.pi * step / steps))
            for p, g, m, v in zip(parameters, dw + db, first, second):
                m += 0.1 * (g - m)
                v += 0.001 * (g * g - v)
                p -= lr * (m / (1 - 0.9**step)) / (np.sqrt(v / (1 - 0.999**step)) + 1e-8)


class Graph:
    """An ONNX graph that is written node by node."""

    def __init__(self):
        self.nodes, self.weights, self.count = [], [], 0

    def weight(self, array):
        array = np.ascontiguousarray(array)
        if array.dtype == np.float64:
            array = array.astype(np.float32)
        name = f"w{len(self.weights)}"
        self.weights.append(onnx.numpy_helper.from_array(array, name))
        return name

    def node(self, kind, *inputs, output=None, **attributes):
        inputs = [i if isinstance(i, str) else self.weight(np.asarray(i)) for i in inputs]
        self.count += 1
        output = output or f"t{self.count}"
        self.nodes.append(oh.make_node(kind, inputs, [output], **attributes))
        return output

    def perceptron(self, net, x):
        """Scales are folded into the first and the last layer."""
        w, b = [m.copy() for m in net.w], [v.copy() for v in net.b]
        b[0] = b[0] - (net.x_mean / net.x_scale) @ w[0]
        w[0] = w[0] / net.x_scale[:, None]
        w[-1], b[-1] = w[-1] * net.y_scale, b[-1] * net.y_scale
        for i in range(3):
            x = self.node("Gemm", x, w[i], b[i])
            if i < 2:
                x = self.node("Tanh", x)
        return x

    def model(self, name, input_name, input_shape, output_name, output_shape):
        f32 = onnx.TensorProto.FLOAT
        graph = oh.make_graph(
            self.nodes, name,
            [oh.make_tensor_value_info(input_name, f32, input_shape)],
            [oh.make_tensor_value_info(output_name, f32, output_shape)],
            self.weights)
        model = oh.make_model(graph, opset_imports=[oh.make_opsetid("", 17)], ir_version=8)
        onnx.checker.check_model(model)
        return model


def make_policy(gains, states, limit):
    """Imitates the regulator around the states of its own runs; these end with
    the forces. A force is at most `limit`."""
    random = np.random.default_rng(1)
    outputs, inputs = gains.shape
    scale = states.std(0)
    scale[0] = 0.05  # The distance to the target: up to 0.1 m.
    x = random.normal(size=(60000, inputs)) * scale * random.choice([0.3, 1, 2.5], size=(60000, 1))
    x[:, 0] = np.clip(x[:, 0], -0.1, 0.1)
    y = np.clip(-(x @ gains.T), -limit, limit)
    net = Perceptron(2, inputs, 64, outputs)
    net.fit(x, y, 12000)
    print("policy: rms error %.2f %% of %.3g N or Nm"
          % (100 * np.sqrt(np.mean((net(x) - y) ** 2)) / y.std(), y.std()))
    graph = Graph()
    graph.node("Clip", graph.perceptron(net, "observation"), np.float32(-limit), np.float32(limit), output="force")
    return net, graph.model("act", "observation", [1, inputs], "force", [1, outputs])


def make_estimator(sensed, states):
    """A linear filter by least squares, and a perceptron for what it leaves."""
    scale = states.std(0)
    ones = np.hstack([sensed, np.ones((len(sensed), 1))])
    ridge = 1e-9 * len(sensed) * np.eye(ones.shape[1])
    linear = np.linalg.solve(ones.T @ ones + ridge, ones.T @ states)
    rest = states - ones @ linear
    net = Perceptron(3, sensed.shape[1], 48, 6)
    net.fit(sensed, rest, 6000)
    left = rest - net(sensed)
    print("estimator: rms error of the angular rates %.4f, linear alone %.4f, of %.2f rad/s"
          % (np.sqrt(np.mean(left[:, 4:] ** 2)), np.sqrt(np.mean(rest[:, 4:] ** 2)), scale[4:].mean()))
    graph = Graph()
    graph.node("Add", graph.node("Gemm", "sensors", linear[:-1], linear[-1]),
               graph.perceptron(net, "sensors"), output="state")
    return (lambda x: np.append(x, 1) @ linear + net(x[None])[0],
            graph.model("update", "sensors", [1, sensed.shape[1]], "state", [1, 6]))


class Camera:
    """What the robot's camera sees, as the program renders it. `pose` puts the
    robot into a random posture."""

    def __init__(self, model, pose):
        self.model, self.data, self.pose = model, mujoco.MjData(model), pose
        self.renderer = mujoco.Renderer(model, IMAGE_HEIGHT, IMAGE_WIDTH)
        self.random = np.random.default_rng(5)

    def image(self):
        """A random posture, and the ball somewhere. Returns both."""
        self.data.qpos[:] = self.pose(self.random)
        x = self.random.uniform(-BALL_RANGE - 0.04, BALL_RANGE + 0.04)
        self.data.mocap_pos[0, 0] = x
        mujoco.mj_forward(self.model, self.data)
        self.renderer.update_scene(self.data, camera="front")
        return self.renderer.render().astype(np.float32) / 255, x


CHANNELS, POOL = 32, 4


def detector_graph(readout, bias):
    """Image -> map of where the ball is -> its mean. Its layers have the full
    resolution of the camera: a small file, and much work for each layer."""
    random = np.random.default_rng(7)

    def filters(outputs, inputs, size):
        return random.normal(size=(outputs, inputs, size, size)) * np.sqrt(2 / (inputs * size * size))

    graph = Graph()
    x = graph.node("Transpose", "image", perm=[0, 3, 1, 2])
    x = graph.node("Sub", x, np.float32(0.5))
    x = graph.node("Conv", x, filters(16, 3, 3), random.normal(size=16) * 0.1, pads=[1, 1, 1, 1])
    x = graph.node("Relu", x)
    x = graph.node("Conv", x, filters(CHANNELS, 16, 3), random.normal(size=CHANNELS) * 0.1, pads=[1, 1, 1, 1])
    first = x = graph.node("Relu", x)
    x = graph.node("Conv", x, filters(CHANNELS, CHANNELS, 5) * 0.1, random.normal(size=CHANNELS) * 0.1,
                   pads=[2, 2, 2, 2])
    x = graph.node("Add", first, graph.node("Relu", x))
    features = graph.node("Concat", first, x, axis=1)
    if readout is None:
        graph.node("AveragePool", features, kernel_shape=[POOL, POOL], strides=[POOL, POOL], output="features")
        shape = [1, 2 * CHANNELS, IMAGE_HEIGHT // POOL, IMAGE_WIDTH // POOL]
        return graph.model("detect", "image", [1, IMAGE_HEIGHT, IMAGE_WIDTH, 3], "features", shape)
    x = graph.node("AveragePool", features, kernel_shape=[POOL, POOL], strides=[POOL, POOL])
    x = graph.node("Conv", x, readout[None, :, None, None], bias)
    x = graph.node("Reshape", x, np.array([1, -1]))
    x = graph.node("Softmax", graph.node("Mul", x, np.float32(30)), axis=1)
    columns = np.tile(np.linspace(-1, 1, IMAGE_WIDTH // POOL), IMAGE_HEIGHT // POOL)
    graph.node("ReduceSum", graph.node("Mul", x, columns[None]), np.array([1]), keepdims=1, output="column")
    return graph.model("detect", "image", [1, IMAGE_HEIGHT, IMAGE_WIDTH, 3], "column", [1, 1])


def make_detector(camera):
    network = onnxruntime.InferenceSession(detector_graph(None, None).SerializeToString())
    rows, columns = IMAGE_HEIGHT // POOL, IMAGE_WIDTH // POOL
    gram, right, places = 0, 0, []
    for _ in range(160):
        image, x = camera.image()
        features = network.run(None, {"image": image[None]})[0][0].reshape(2 * CHANNELS, -1)
        # The ball is the only red thing: its pixels teach where it is.
        red = (image[:, :, 0] > 0.6) & (image[:, :, 1] < 0.5) & (image[:, :, 2] < 0.35)
        ball = red.reshape(rows, POOL, columns, POOL).mean((1, 3)).ravel()
        ones = np.vstack([features, np.ones(features.shape[1])]).T.astype(np.float64)
        weight = 1 + 20 * (ball > 0)[:, None]
        gram, right = gram + ones.T @ (weight * ones), right + (weight * ones).T @ ball
        place = np.linspace(-1, 1, columns)[None].repeat(rows, 0).ravel()
        places.append(((place * ball).sum() / ball.sum(), x))
    scale = np.sqrt(np.diag(gram))
    solution = np.linalg.solve(gram / np.outer(scale, scale) + 1e-7 * np.eye(len(gram)), right / scale) / scale
    # Metres of the rail for a column of the image, by the same pictures.
    column, x = np.array(places).T
    slope = (column @ x) / (column @ column)
    graph = detector_graph(solution[:-1], solution[-1:])
    final = graph.graph.node[-1]
    final.output[0] = "mean"
    graph.graph.initializer.append(onnx.numpy_helper.from_array(np.float32(slope).reshape(1, 1), "slope"))
    graph.graph.node.append(oh.make_node("Mul", ["mean", "slope"], ["position"]))
    graph.graph.output[0].name = "position"
    onnx.checker.check_model(graph)
    network = onnxruntime.InferenceSession(graph.SerializeToString())
    errors = []
    for _ in range(60):
        image, x = camera.image()
        errors.append(network.run(None, {"image": image[None]})[0][0, 0] - x)
    print("detector: rms error of the ball %.1f mm, largest %.1f mm"
          % (1e3 * np.sqrt(np.mean(np.square(errors))), 1e3 * np.abs(errors).max()))
    return graph


def train(make, gains, pose, directory, stall=0.0):
    """Makes the three networks of a robot. `make(seed)` makes a robot, `pose` is
    that of a Camera. In the runs from which the networks learn, the policy
    stalls up to `stall` seconds at each push."""
    record = []
    for seed in range(30):
        make(seed).run(lambda sensed, robot: robot.state(), lambda x: -(gains @ x), 6,
                       delay=0.001 + 0.0002 * seed, stall=stall * seed / 29, record=record)
    robot = make(0)
    sensed = np.array([r[0] for r in record])
    states = np.array([r[1] for r in record])
    act, policy = make_policy(gains, np.hstack([states, sensed[:, -robot.model.nu:]]), robot.FORCE_MAX)
    estimate, estimator = make_estimator(sensed, states)
    for stall in (0, 20, 40, 50, 60, 70, 80, 100):
        falls = sum(
            make(seed).run(lambda sensed, _: estimate(sensed), lambda x: act(x[None])[0], 4, stall=stall / 1e3)
            is not None for seed in range(10))
        print(f"policy stalls for {stall} ms at each push: {falls} of 10 fell")
    networks = {"policy": policy, "estimator": estimator, "detector": make_detector(Camera(robot.model, pose))}

    import takt

    directory.mkdir(parents=True, exist_ok=True)
    for name, network in networks.items():
        onnx.save(network, directory / f"{name}.onnx")
        takt.compile(directory / f"{name}.onnx", target=TARGET).save(directory / f"{name}.vmfb")
        print(name, (directory / f"{name}.vmfb").stat().st_size, "bytes")
