"""Networks with a result for each pixel, and of faces, as robots have them: for export_networks.py.

Their layers and channels are those of the papers that are named; depths and pictures are smaller.
"""
import torch
import torchvision
from torch import nn
from torch.nn import functional


def layer(ins, outs, kernel=3, stride=1, groups=1, activation=nn.ReLU):
    convolution = nn.Conv2d(ins, outs, kernel, stride, kernel // 2, groups=groups, bias=False)
    return nn.Sequential(convolution, nn.BatchNorm2d(outs), activation())


def face_layer(ins, outs, kernel=3, stride=1, groups=1):
    return layer(ins, outs, kernel, stride, groups, activation=lambda: nn.PReLU(outs))


class Bottleneck(nn.Module):
    def __init__(self, ins, outs, stride, width):
        super().__init__()
        self.layers = nn.Sequential(
            face_layer(ins, width, 1), face_layer(width, width, 3, stride, width),
            nn.Conv2d(width, outs, 1, bias=False), nn.BatchNorm2d(outs))
        self.adds = stride == 1 and ins == outs

    def forward(self, x):
        return x + self.layers(x) if self.adds else self.layers(x)


def face_embedding():
    """MobileFaceNet (Chen and others, 2018): PReLU and depthwise convolutions."""
    return nn.Sequential(
        face_layer(3, 64, 3, 2), face_layer(64, 64, 3, 1, 64), Bottleneck(64, 64, 2, 128),
        *(Bottleneck(64, 64, 1, 128) for _ in range(4)), Bottleneck(64, 128, 2, 256),
        *(Bottleneck(128, 128, 1, 256) for _ in range(6)), Bottleneck(128, 128, 2, 512),
        *(Bottleneck(128, 128, 1, 256) for _ in range(2)), face_layer(128, 512, 1),
        nn.Conv2d(512, 512, 7, groups=512, bias=False), nn.BatchNorm2d(512), nn.Flatten(), nn.Linear(512, 128))


class RoadSegmentation(nn.Module):
    """ERFNet (Romera and others, 2017): convolutions of rows and columns, transposed ones at the end."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Conv2d(3, 13, 3, 2, 1), nn.Conv2d(16, 48, 3, 2, 1)
        self.blocks = nn.ModuleList(nn.Sequential(
            nn.Conv2d(64, 64, (3, 1), 1, (1, 0)), nn.ReLU(), nn.Conv2d(64, 64, (1, 3), 1, (0, 1)), nn.BatchNorm2d(64),
            nn.ReLU(), nn.Conv2d(64, 64, (3, 1), 1, (reach, 0), (reach, 1)), nn.ReLU(),
            nn.Conv2d(64, 64, (1, 3), 1, (0, reach), (1, reach)), nn.BatchNorm2d(64)) for reach in (1, 2, 4))
        self.up, self.classes = nn.ConvTranspose2d(64, 16, 3, 2, 1, 1), nn.ConvTranspose2d(16, 20, 2, 2)

    def forward(self, x):
        for halved in (self.first, self.second):
            x = functional.relu(torch.cat([halved(x), functional.max_pool2d(x, 2, 2)], 1))
        for block in self.blocks:
            x = functional.relu(block(x) + x)
        return self.classes(functional.relu(self.up(x)))


class Centers(nn.Module):
    """CenterNet (Zhou and others, 2019): transposed convolutions, a heat map, its greatest places."""

    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            layer(3, 32, 7, 2), *(layer(32 << i, 64 << i, 3, 2) for i in range(3)),
            *(nn.Sequential(nn.ConvTranspose2d(ins, ins // 2, 4, 2, 1, bias=False), nn.BatchNorm2d(ins // 2), nn.ReLU())
              for ins in (256, 128)))
        self.heads = nn.ModuleList(
            nn.Sequential(nn.Conv2d(64, 64, 3, 1, 1), nn.ReLU(), nn.Conv2d(64, outs, 1)) for outs in (20, 2, 2))

    def forward(self, x):
        x = self.body(x)
        heat = torch.sigmoid(self.heads[0](x))
        heat = heat * (functional.max_pool2d(heat, 3, 1, 1) == heat).float()
        return *torch.topk(heat.flatten(1), 50), self.heads[1](x), self.heads[2](x)


class OpticalFlow(nn.Module):
    """FlowNetS (Dosovitskiy and others, 2015), two levels of it."""

    def __init__(self):
        super().__init__()
        def down(ins, outs, kernel):
            return nn.Sequential(nn.Conv2d(ins, outs, kernel, 2, kernel // 2), nn.LeakyReLU(0.1))

        def up(ins, outs):
            return nn.Sequential(nn.ConvTranspose2d(ins, outs, 4, 2, 1), nn.LeakyReLU(0.1))

        self.down = nn.ModuleList(down(*each) for each in ((6, 32, 7), (32, 64, 5), (64, 128, 5), (128, 256, 3)))
        self.up = nn.ModuleList([up(256, 64), up(194, 32)])
        self.flow = nn.ModuleList(nn.Conv2d(ins, 2, 3, 1, 1) for ins in (256, 194, 98))
        self.wider = nn.ModuleList(nn.ConvTranspose2d(2, 2, 4, 2, 1, bias=False) for _ in range(2))

    def forward(self, before, after):
        levels = [torch.cat([before, after], 1)]
        for down in self.down:
            levels.append(down(levels[-1]))
        x = levels[-1]
        for i in range(2):
            x = torch.cat([levels[3 - i], self.up[i](x), self.wider[i](self.flow[i](x))], 1)
        return self.flow[2](x)


class KeyPoints(nn.Module):
    """SuperPoint (DeTone and others, 2018): a score for each pixel, kept where it is the greatest, and descriptors."""

    def __init__(self):
        super().__init__()
        layers = []
        for ins, outs, pools in ((1, 64, 0), (64, 64, 1), (64, 64, 0), (64, 64, 1), (64, 128, 0), (128, 128, 1)):
            layers += [nn.Conv2d(ins, outs, 3, 1, 1), nn.ReLU(), *[nn.MaxPool2d(2)] * pools]
        self.body = nn.Sequential(*layers)
        self.points, self.words = (nn.Sequential(nn.Conv2d(128, 256, 3, 1, 1), nn.ReLU(), nn.Conv2d(256, outs, 1))
                                   for outs in (65, 256))

    def forward(self, x):
        x = self.body(x)
        scores = torch.softmax(self.points(x), 1)[:, :-1]
        scores = functional.pixel_shuffle(scores, 8)
        scores = torch.where(scores == functional.max_pool2d(scores, 9, 1, 4), scores, torch.zeros_like(scores))
        words = self.words(x)
        return scores, words / torch.norm(words, dim=1, keepdim=True)


class Depth(nn.Module):
    """Monodepth2 (Godard and others, 2019): padding by reflection, and ELU."""

    def __init__(self):
        super().__init__()
        def reflected(ins, outs):
            return nn.Sequential(nn.ReflectionPad2d(1), nn.Conv2d(ins, outs, 3), nn.ELU())

        parts = list(torchvision.models.resnet18(weights=None).children())
        self.down = nn.ModuleList([nn.Sequential(*parts[:3]), nn.Sequential(*parts[3:5]), parts[5]])
        self.before = nn.ModuleList(reflected(ins, ins // 2) for ins in (128, 64, 32))
        self.behind = nn.ModuleList(reflected(ins, outs) for ins, outs in ((128, 64), (96, 32)))
        self.last = nn.Sequential(nn.ReflectionPad2d(1), nn.Conv2d(16, 1, 3), nn.Sigmoid())

    def forward(self, x):
        levels = []
        for down in self.down:
            x = down(x)
            levels.append(x)
        for i in range(2):
            wide = functional.interpolate(self.before[i](x), scale_factor=2)
            x = self.behind[i](torch.cat([wide, levels[1 - i]], 1))
        return self.last(functional.interpolate(self.before[2](x), scale_factor=2))


# Each network, and the shapes of its inputs.
DENSE = {
    "face_embedding": (face_embedding, [(1, 3, 112, 112)]),
    "road_segmentation": (RoadSegmentation, [(1, 3, 128, 256)]),
    "centers": (Centers, [(1, 3, 256, 256)]),
    "optical_flow": (OpticalFlow, [(1, 3, 128, 192)] * 2),
    "key_points": (KeyPoints, [(1, 1, 120, 160)]),
    "depth_resnet": (Depth, [(1, 3, 96, 320)]),
}
