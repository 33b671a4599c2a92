"""Networks of sequences of any length, and of images of any size, as robots have them: for export_networks.py."""
import torch
from torch import nn
from torch.nn import functional


class Attention(nn.Module):
    def __init__(self, width, heads=6):
        super().__init__()
        self.heads, self.all, self.last = heads, nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x):
        parts = [each.unflatten(-1, (self.heads, -1)).transpose(1, 2) for each in self.all(x).chunk(3, -1)]
        return self.last(functional.scaled_dot_product_attention(*parts).transpose(1, 2).flatten(2))


class Encoder(nn.Module):
    """A transformer."""

    def __init__(self, width=384, layers=4):
        super().__init__()
        self.first, self.last = nn.Linear(64, width), nn.Linear(width, 32)
        self.attentions = nn.ModuleList(nn.Sequential(nn.LayerNorm(width), Attention(width)) for _ in range(layers))
        self.products = nn.ModuleList(nn.Sequential(
            nn.LayerNorm(width), nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))
            for _ in range(layers))

    def forward(self, x):
        x = self.first(x)
        for attention, product in zip(self.attentions, self.products):
            x = x + attention(x)
            x = x + product(x)
        return self.last(x)


class Recurrent(nn.Module):
    def __init__(self, kind, both_ways):
        super().__init__()
        self.layers = kind(40, 128, 2, batch_first=True, bidirectional=both_ways)
        self.last = nn.Linear(256 if both_ways else 128, 12)

    def forward(self, x):
        return self.last(self.layers(x)[0])


class Temporal(nn.Module):
    """Convolutions that reach further and further (TCN)."""

    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(
            nn.Conv1d(64 if i else 16, 64, 3, padding=2**i, dilation=2**i) for i in range(4))

    def forward(self, x):
        x = torch.relu(self.layers[0](x))
        for layer in self.layers[1:]:
            x = x + torch.relu(layer(x))
        return x


class Wave(nn.Module):
    """A wave of what it sounds like, as HiFi-GAN (Kong and others, 2020) makes it."""

    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Conv1d(20, 64, 7, padding=3), nn.Conv1d(16, 1, 7, padding=3)
        self.up = nn.ModuleList(nn.ConvTranspose1d(64 >> i, 32 >> i, 8, 4, 2) for i in range(2))
        self.more = nn.ModuleList(nn.Conv1d(32 >> i, 32 >> i, 3, padding=3, dilation=3) for i in range(2))

    def forward(self, x):
        x = self.first(x)
        for up, more in zip(self.up, self.more):
            x = up(functional.leaky_relu(x, 0.1))
            x = x + more(functional.leaky_relu(x, 0.1))
        return torch.tanh(self.last(functional.leaky_relu(x)))


class Block(nn.Module):
    def __init__(self, ins, outs):
        super().__init__()
        self.first, self.second = (nn.Sequential(
            nn.Conv1d(size, outs, 5, padding=2), nn.GroupNorm(8, outs), nn.Mish()) for size in (ins, outs))
        self.time, self.rest = nn.Linear(32, outs), nn.Conv1d(ins, outs, 1)

    def forward(self, x, time):
        return self.second(self.first(x) + self.time(time)[:, :, None]) + self.rest(x)


class Denoiser(nn.Module):
    """A step of a diffusion policy (Chi and others, 2023) over any number of actions."""

    def __init__(self):
        super().__init__()
        self.a, self.b, self.c = Block(7, 64), Block(64, 128), Block(128, 64)
        self.down, self.up = nn.Conv1d(64, 64, 3, 2, 1), nn.ConvTranspose1d(128, 64, 4, 2, 1)
        self.last = nn.Conv1d(64, 7, 1)

    def forward(self, x, time):
        a = self.a(x.transpose(1, 2), time)
        b = self.b(self.down(a), time)
        return self.last(self.c(torch.cat([self.up(b), a], 1), time)).transpose(1, 2)


class Segmentation(nn.Module):
    """A U-Net (Ronneberger and others, 2015) for images of any size."""

    def __init__(self, norm=nn.BatchNorm2d):
        super().__init__()
        def layer(ins, outs):
            return nn.Sequential(nn.Conv2d(ins, outs, 3, padding=1), norm(outs), nn.ReLU())
        self.down = nn.ModuleList([layer(3, 16), layer(16, 32), layer(32, 64)])
        self.up = nn.ModuleList([nn.ConvTranspose2d(64, 32, 2, 2), nn.ConvTranspose2d(32, 16, 2, 2)])
        self.joined = nn.ModuleList([layer(64, 32), layer(32, 16)])
        self.last = nn.Conv2d(16, 2, 1)

    def forward(self, x):
        before = []
        for layer in self.down[:-1]:
            before.append(layer(x))
            x = functional.max_pool2d(before[-1], 2)
        x = self.down[-1](x)
        for up, joined in zip(self.up, self.joined):
            x = joined(torch.cat([up(x), before.pop()], 1))
        return self.last(x)


class Pyramid(nn.Module):
    """Features of several sizes (Lin and others, 2017), each added to the next larger one, and a map of the image."""

    def __init__(self):
        super().__init__()
        sizes = [3, 24, 48, 96]
        self.down = nn.ModuleList(nn.Sequential(
            nn.Conv2d(ins, outs, 3, 2, 1), nn.BatchNorm2d(outs), nn.SiLU()) for ins, outs in zip(sizes, sizes[1:]))
        self.same = nn.ModuleList(nn.Conv2d(ins, 64, 1) for ins in sizes[1:])
        self.last = nn.Sequential(nn.Conv2d(64, 32, 3, padding=1), nn.ReLU(), nn.Conv2d(32, 5, 1))

    def forward(self, x):
        found = [x]
        for layer in self.down:
            found.append(layer(found[-1]))
        y = self.same[-1](found[-1])
        for same, larger in zip(self.same[-2::-1], found[-2:0:-1]):
            y = same(larger) + functional.interpolate(y, size=larger.shape[2:])
        return functional.interpolate(self.last(y), size=x.shape[2:], mode="bilinear")


class Tokens(nn.Module):
    """A layer of SegFormer (Xie and others, 2021): each pixel looks at a smaller image."""

    def __init__(self, width=64, heads=2):
        super().__init__()
        self.heads, self.first, self.fewer = heads, nn.Conv2d(3, width, 7, 4, 3), nn.Conv2d(width, width, 4, 4)
        self.norm, self.query, self.rest = nn.LayerNorm(width), nn.Linear(width, width), nn.Linear(width, 2 * width)
        self.joined, self.near = nn.Linear(width, width), nn.Conv2d(width, width, 3, padding=1, groups=width)
        self.last = nn.Conv2d(width, 10, 1)

    def forward(self, x):
        def split(rows):
            return rows.unflatten(-1, (self.heads, -1)).transpose(1, 2)

        image = self.first(x)
        rows = self.norm(image.flatten(2).transpose(1, 2))
        key, value = self.rest(self.fewer(
            rows.transpose(1, 2).reshape(image.shape)).flatten(2).transpose(1, 2)).chunk(2, -1)
        found = functional.scaled_dot_product_attention(split(self.query(rows)), split(key), split(value))
        image = (rows + self.joined(found.transpose(1, 2).flatten(2))).transpose(1, 2).reshape(image.shape)
        return self.last(image + functional.gelu(self.near(image)))


class Conformer(nn.Module):
    """A block of a Conformer (Gulati and others, 2020)."""

    def __init__(self, width=144):
        super().__init__()
        self.product = nn.Sequential(
            nn.LayerNorm(width), nn.Linear(width, 4 * width), nn.SiLU(), nn.Linear(4 * width, width))
        self.attention = nn.Sequential(nn.LayerNorm(width), Attention(width, 4))
        self.norm, self.last = nn.LayerNorm(width), nn.LayerNorm(width)
        self.gate = nn.Conv1d(width, 2 * width, 1)
        self.convolved = nn.Sequential(
            nn.Conv1d(width, width, 15, padding=7, groups=width), nn.BatchNorm1d(width), nn.SiLU(),
            nn.Conv1d(width, width, 1))

    def forward(self, x):
        x = x + 0.5 * self.product(x)
        x = x + self.attention(x)
        y = functional.glu(self.gate(self.norm(x).transpose(1, 2)), 1)
        return self.last(x + self.convolved(y).transpose(1, 2))


class Words(nn.Module):
    """What is said, of a spectrum: convolutions and a recurrent layer."""

    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(1, 16, 3, (2, 1), 1), nn.ReLU(), nn.Conv2d(16, 32, 3, (2, 1), 1), nn.ReLU())
        self.turns = nn.GRU(320, 64, bidirectional=True, batch_first=True)
        self.last = nn.Linear(128, 10)

    def forward(self, x):
        return self.last(self.turns(self.layers(x).permute(0, 3, 1, 2).flatten(2))[0])


# How each is made, the shapes of its inputs, and which of the first input's sizes are open.
SEQUENCES = {
    "open_encoder": (Encoder, [(1, 50, 64)], [1]),
    "open_gru": (lambda: Recurrent(nn.GRU, False), [(1, 50, 40)], [1]),
    "open_lstm": (lambda: Recurrent(nn.LSTM, False), [(1, 50, 40)], [1]),
    "open_both_ways": (lambda: Recurrent(nn.LSTM, True), [(1, 50, 40)], [1]),
    "open_temporal": (Temporal, [(1, 16, 100)], [2]),
    "open_wave": (Wave, [(1, 20, 50)], [2]),
    "open_denoiser": (Denoiser, [(1, 16, 7), (1, 32)], [1]),
    "open_segmentation": (Segmentation, [(1, 3, 64, 96)], [2, 3]),
    "open_norms": (lambda: Segmentation(lambda outs: nn.GroupNorm(8, outs)), [(1, 3, 64, 96)], [2, 3]),
    "open_pyramid": (Pyramid, [(1, 3, 64, 96)], [2, 3]),
    "open_tokens": (Tokens, [(1, 3, 64, 96)], [2, 3]),
    "open_conformer": (Conformer, [(1, 40, 144)], [1]),
    "open_words": (Words, [(1, 1, 40, 60)], [3]),
}
