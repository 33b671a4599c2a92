"""Networks of robots, for export_networks.py: policies, world models, perception.

Each is a small version of a published architecture, with random weights.
"""
import math

import torch
from torch import nn
from torch.nn import functional


def layers(*sizes, activation=nn.ELU):
    """Linear layers with activations between them."""
    found = []
    for inputs, outputs in zip(sizes, sizes[1:]):
        found += [nn.Linear(inputs, outputs), activation()]
    return nn.Sequential(*found[:-1])


class Step(nn.Module):
    """A time as sines and cosines."""

    def __init__(self, size):
        super().__init__()
        self.half = size // 2

    def forward(self, time):
        rates = torch.exp(torch.arange(self.half) * -(math.log(10000) / (self.half - 1)))
        angles = time[:, None] * rates[None]
        return torch.cat((angles.sin(), angles.cos()), -1)


def block(inputs, outputs):
    return nn.Sequential(nn.Conv1d(inputs, outputs, 5, padding=2), nn.GroupNorm(8, outputs), nn.Mish())


class Residual(nn.Module):
    def __init__(self, inputs, outputs, condition):
        super().__init__()
        self.first, self.second = block(inputs, outputs), block(outputs, outputs)
        self.condition = nn.Sequential(nn.Mish(), nn.Linear(condition, outputs * 2))
        self.beside = nn.Conv1d(inputs, outputs, 1) if inputs != outputs else nn.Identity()

    def forward(self, x, condition):
        y = self.first(x)
        scale, shift = self.condition(condition).reshape(y.shape[0], 2, -1, 1).unbind(1)
        return self.second(scale * y + shift) + self.beside(x)


class Diffusion(nn.Module):
    """One step of a diffusion policy: a U-Net over a chunk of actions."""

    def __init__(self, actions=7, seen=64, sizes=(128, 256, 512), size=128):
        super().__init__()
        self.step = nn.Sequential(Step(size), nn.Linear(size, size * 4), nn.Mish(), nn.Linear(size * 4, size))
        condition, pairs = size + seen, list(zip((actions, *sizes), sizes))
        self.down = nn.ModuleList(
            nn.ModuleList([Residual(i, o, condition), Residual(o, o, condition)]) for i, o in pairs)
        self.shrink = nn.ModuleList(nn.Conv1d(o, o, 3, 2, 1) for o in sizes[:-1])
        self.middle = nn.ModuleList(Residual(sizes[-1], sizes[-1], condition) for _ in range(2))
        self.up = nn.ModuleList(
            nn.ModuleList([Residual(o * 2, i, condition), Residual(i, i, condition)]) for i, o in pairs[:0:-1])
        self.grow = nn.ModuleList(nn.ConvTranspose1d(i, i, 4, 2, 1) for i, _ in pairs[:0:-1])
        self.last = nn.Sequential(block(sizes[0], sizes[0]), nn.Conv1d(sizes[0], actions, 1))

    def forward(self, chunk, time, seen):
        x, condition, kept = chunk.transpose(1, 2), torch.cat([self.step(time), seen], -1), []
        for i, pair in enumerate(self.down):
            for each in pair:
                x = each(x, condition)
            kept.append(x)
            x = self.shrink[i](x) if i < len(self.shrink) else x
        for each in self.middle:
            x = each(x, condition)
        for pair, grow in zip(self.up, self.grow):
            x = torch.cat((x, kept.pop()), 1)
            for each in pair:
                x = each(x, condition)
            x = grow(x)
        return self.last(x).transpose(1, 2)


class PointNet(nn.Module):
    """What a cloud of points is."""

    def __init__(self):
        super().__init__()
        found = []
        for inputs, outputs in ((3, 64), (64, 128), (128, 1024)):
            found += [nn.Conv1d(inputs, outputs, 1), nn.BatchNorm1d(outputs), nn.ReLU()]
        self.points, self.head = nn.Sequential(*found), layers(1024, 512, 40, activation=nn.ReLU)

    def forward(self, points):
        return self.head(self.points(points.transpose(1, 2)).max(2)[0])


class Recurrent(nn.Module):
    """A policy of legs, with the state of an LSTM."""

    def __init__(self):
        super().__init__()
        self.memory, self.head = nn.LSTM(48, 256), layers(256, 256, 128, 12)

    def forward(self, seen, hidden, cell):
        y, (hidden, cell) = self.memory(seen[None], (hidden, cell))
        return self.head(y[0]), hidden, cell


class Adaptation(nn.Module):
    """A policy of legs that finds what the ground is like from 50 past steps."""

    def __init__(self):
        super().__init__()
        self.each = nn.Linear(42, 32)
        self.history = nn.Sequential(
            nn.Conv1d(32, 32, 8, 4), nn.ReLU(), nn.Conv1d(32, 32, 5), nn.ReLU(), nn.Conv1d(32, 32, 5), nn.ReLU(),
            nn.Flatten(), nn.Linear(96, 8))
        self.policy = layers(50, 128, 128, 12, activation=nn.ReLU)

    def forward(self, seen, past):
        ground = self.history(functional.relu(self.each(past)).transpose(1, 2))
        return self.policy(torch.cat([seen, ground], -1))


class Temporal(nn.Module):
    """Convolutions over a history, each twice as wide as the one before."""

    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Conv1d(64 if i else 12, 64, 3, dilation=2**i) for i in range(5))
        self.head = nn.Linear(64, 6)

    def forward(self, x):
        for i, layer in enumerate(self.layers):
            y = functional.relu(layer(functional.pad(x, (2 * 2**i, 0))))
            x = x + y if i else y
        return self.head(x[:, :, -1])


class World(nn.Module):
    """A step of a world model: a GRU with normalization, and classes."""

    def __init__(self):
        super().__init__()
        self.inputs = nn.Sequential(nn.Linear(1030, 512), nn.LayerNorm(512), nn.SiLU())
        self.gates, self.norm = nn.Linear(1024, 1536), nn.LayerNorm(1536)
        self.prior = nn.Sequential(nn.Linear(512, 512), nn.LayerNorm(512), nn.SiLU(), nn.Linear(512, 1024))

    def forward(self, classes, action, state):
        x = self.inputs(torch.cat([classes, action], -1))
        reset, candidate, update = self.norm(self.gates(torch.cat([x, state], -1))).chunk(3, -1)
        update = (update - 1).sigmoid()
        state = update * torch.tanh(reset.sigmoid() * candidate) + (1 - update) * state
        return functional.softmax(self.prior(state).reshape(-1, 32, 32), -1), state


class Imagine(nn.Module):
    """A picture from the state of a world model."""

    def __init__(self):
        super().__init__()
        self.first = nn.Linear(256, 1024)
        found = []
        for inputs, outputs, kernel in ((1024, 128, 5), (128, 64, 5), (64, 32, 6), (32, 3, 6)):
            found += [nn.ConvTranspose2d(inputs, outputs, kernel, 2), nn.ELU()]
        self.picture = nn.Sequential(*found[:-1])

    def forward(self, state):
        return self.picture(self.first(state).reshape(-1, 1024, 1, 1))


class Keypoints(nn.Module):
    """Points of an image that are found again, and their descriptors."""

    def __init__(self):
        super().__init__()
        sizes = (1, 64, 64, 64, 64, 128, 128, 128, 128)
        found = []
        for i, (inputs, outputs) in enumerate(zip(sizes, sizes[1:])):
            found += [nn.Conv2d(inputs, outputs, 3, 1, 1), nn.ReLU(), *([nn.MaxPool2d(2)] if i in (1, 3, 5) else [])]
        self.image = nn.Sequential(*found)
        self.points = nn.Sequential(nn.Conv2d(128, 256, 3, 1, 1), nn.ReLU(), nn.Conv2d(256, 65, 1))
        self.descriptors = nn.Sequential(nn.Conv2d(128, 256, 3, 1, 1), nn.ReLU(), nn.Conv2d(256, 256, 1))

    def forward(self, image):
        x = self.image(image)
        points = functional.softmax(self.points(x), 1)[:, :-1]
        n, _, h, w = points.shape
        points = points.permute(0, 2, 3, 1).reshape(n, h, w, 8, 8).permute(0, 1, 3, 2, 4).reshape(n, h * 8, w * 8)
        return points, functional.normalize(self.descriptors(x), dim=1)


class Ensemble(nn.Module):
    """Five models of the dynamics, and how much they differ."""

    def __init__(self):
        super().__init__()
        sizes = ((30, 200), (200, 200), (200, 24))
        self.weights = nn.ParameterList(nn.Parameter(torch.randn(5, i, o) / i**0.5) for i, o in sizes)
        self.biases = nn.ParameterList(nn.Parameter(torch.zeros(5, 1, o)) for _, o in sizes)

    def forward(self, states):
        x = states.expand(5, -1, -1)
        for i, (weights, bias) in enumerate(zip(self.weights, self.biases)):
            x = torch.baddbmm(bias, x, weights)
            x = functional.silu(x) if i < 2 else x
        return x.mean(0), x.var(0)


def atari():
    return nn.Sequential(
        nn.Conv2d(4, 32, 8, 4), nn.ReLU(), nn.Conv2d(32, 64, 4, 2), nn.ReLU(), nn.Conv2d(64, 64, 3), nn.ReLU(),
        nn.Flatten(), nn.Linear(3136, 512), nn.ReLU(), nn.Linear(512, 18))


class Both(nn.Module):
    """An LSTM that runs over a sequence in both directions."""

    def __init__(self):
        super().__init__()
        self.sequence, self.head = nn.LSTM(24, 64, 2, bidirectional=True, batch_first=True), nn.Linear(128, 5)

    def forward(self, x):
        return self.head(self.sequence(x)[0])


def some(*shapes):
    return tuple(torch.randn(*shape) for shape in shapes)


# Functions that make a network and its inputs, by name.
POLICIES = {
    "legs_mlp": lambda: (layers(235, 512, 256, 128, 12), some((1, 235))),
    "legs_lstm": lambda: (Recurrent(), some((1, 48), (1, 1, 256), (1, 1, 256))),
    "legs_adaptation": lambda: (Adaptation(), some((1, 42), (1, 50, 42))),
    "diffusion_policy": lambda: (Diffusion(), (torch.randn(1, 16, 7), torch.tensor([50.0]), torch.randn(1, 64))),
    "pointnet": lambda: (PointNet(), some((1, 1024, 3))),
    "temporal": lambda: (Temporal(), some((1, 12, 100))),
    "both_ways_lstm": lambda: (Both(), some((1, 50, 24))),
    "atari_dqn": lambda: (atari(), some((1, 4, 84, 84))),
    "world_model": lambda: (World(), some((1, 1024), (1, 6), (1, 512))),
    "world_picture": lambda: (Imagine(), some((1, 256))),
    "keypoints": lambda: (Keypoints(), some((1, 1, 240, 320))),
    "ensemble": lambda: (Ensemble(), some((1, 64, 30))),
}
