#!/usr/bin/env python3
"""Exports networks by PyTorch's exporters: of torchvision, timm, ultralytics, transformers, policies.py, dense.py
and sequences.py.

The graphs are what users have: with chains of operations for shapes, masks and weights that
make_networks.py does not write. Weights are random. benchmarks/networks.py measures them.

usage: export_networks.py OUT [--only NAME,NAME] [--dynamo] [--half]
       --dynamo  by torch.export, PyTorch's newer exporter
       --half    in float16, as NAME.half.onnx
needs: torch, torchvision, onnx, onnxscript; for some networks timm, transformers, ultralytics
"""
import argparse
import pathlib
import sys

import torch
import torchvision
from torch import nn

from dense import DENSE
from policies import POLICIES
from sequences import SEQUENCES

TORCHVISION = (
    "convnext_tiny densenet121 efficientnet_b0 googlenet maxvit_t mnasnet1_0 mobilenet_v3_large "
    "mobilenet_v3_small regnet_y_400mf resnet18 shufflenet_v2_x1_0 swin_t").split()
TIMM = {
    "cait_xxs24_224": 224, "deit_tiny_patch16_224": 224, "edgenext_x_small": 256, "efficientvit_b0": 224,
    "efficientvit_m1": 224, "fastvit_t8": 256, "fbnetc_100": 224, "gernet_s": 224, "ghostnet_100": 224,
    "hrnet_w18_small": 224, "lcnet_050": 224, "levit_128s": 224, "mixer_s32_224": 224, "mobileone_s0": 224,
    "mobilenetv3_small_050": 224, "mobilenetv4_conv_small": 224, "mobilevit_xs": 256, "poolformer_s12": 224,
    "repvit_m0_9": 224, "resnet10t": 176, "rexnet_100": 224, "tf_efficientnetv2_b0": 192,
    "tiny_vit_5m_224": 224, "xcit_nano_12_p16_224": 224,
}
# Functions of transformer_models.py.
TRANSFORMERS = (
    "clip depth_anything decision_transformer detr dinov2 llama mamba owlvit sam segformer siglip vitpose").split()
YOLO = "yolo11n yolo11n-pose yolov3-tiny yolov5n yolov8n yolov8n-seg yolov10n".split()
VIDEO = "mc3_18 r2plus1d_18 r3d_18 swin3d_t".split()
SEGMENTATION = {"deeplabv3_mobilenet_v3_large", "lraspp_mobilenet_v3_large"}


class Output(nn.Module):
    """The tensors of what a network returns."""

    def __init__(self, network):
        super().__init__()
        self.network = network

    def forward(self, *inputs):
        result = self.network(*inputs)
        if isinstance(result, dict):
            return result["out"]
        if isinstance(result, (tuple, list)):
            return tuple(each for each in result if torch.is_tensor(each))
        return result


class ActionChunks(nn.Module):
    """A policy of actions by transformers, from a picture and the joints."""

    def __init__(self, size=256, chunk=50, joints=14):
        super().__init__()
        layers = list(torchvision.models.resnet18(weights=None).children())
        self.picture = nn.Sequential(*layers[:-2], nn.Conv2d(512, size, 1))
        self.joints = nn.Linear(joints, size)
        encoder = nn.TransformerEncoderLayer(size, 8, 1024, batch_first=True)
        self.encoder = nn.TransformerEncoder(encoder, 3, enable_nested_tensor=False)
        self.decoder = nn.TransformerDecoder(nn.TransformerDecoderLayer(size, 8, 1024, batch_first=True), 2)
        self.queries = nn.Parameter(torch.randn(1, chunk, size) * 0.1)
        self.places = nn.Parameter(torch.randn(1, 50, size) * 0.1)
        self.actions = nn.Linear(size, joints)

    def forward(self, picture, joints):
        seen = self.picture(picture).flatten(2).transpose(1, 2)
        known = torch.cat([self.joints(joints)[:, None], seen], 1) + self.places
        return self.actions(self.decoder(self.queries, self.encoder(known)))


class CausalPolicy(nn.Module):
    """A transformer over a history, in which no step sees a later one."""

    def __init__(self, size=128, steps=60):
        super().__init__()
        self.first = nn.Linear(20, size)
        layer = nn.TransformerEncoderLayer(size, 4, 512, batch_first=True, norm_first=True, activation="gelu")
        self.layers = nn.TransformerEncoder(layer, 4, enable_nested_tensor=False)
        self.last = nn.Linear(size, 7)
        self.register_buffer("mask", nn.Transformer.generate_square_subsequent_mask(steps))

    def forward(self, history):
        return torch.tanh(self.last(self.layers(self.first(history), mask=self.mask, is_causal=True)))


class Flow(nn.Module):
    """The optical flow between two pictures."""

    def __init__(self):
        super().__init__()
        self.network = torchvision.models.get_model("raft_small", weights=None)

    def forward(self, first, second):
        return self.network(first, second, num_flow_updates=3)[-1]


def volumes(ins, outs, kernel=3, **options):
    return nn.Sequential(nn.Conv3d(ins, outs, kernel, padding=kernel // 2, bias=False, **options),
                         nn.BatchNorm3d(outs), nn.ReLU())


class Occupancy(nn.Module):
    """What is where in a grid of voxels, at three resolutions."""

    def __init__(self):
        super().__init__()
        self.first, self.pool, self.second = volumes(1, 16), nn.MaxPool3d(2), volumes(16, 32)
        self.third, self.up = volumes(32, 64, stride=2), nn.ConvTranspose3d(64, 32, 2, 2)
        self.fourth, self.whole = volumes(64, 32), nn.ConvTranspose3d(32, 16, 4, 2, 1)
        self.last = nn.Conv3d(32, 3, 1)

    def forward(self, x):
        whole = self.first(x)
        half = self.second(self.pool(whole))
        again = self.fourth(torch.cat([self.up(self.third(half)), half], 1))
        return self.last(torch.cat([self.whole(again), whole], 1))


class Gestures(nn.Module):
    """What a video of few images shows, by depthwise convolutions."""

    def __init__(self, size=24):
        super().__init__()
        self.first = nn.Conv3d(3, size, (1, 3, 3), (1, 2, 2), (0, 1, 1))
        self.blocks = nn.ModuleList(nn.Sequential(
            volumes(size, 2 * size, 1), volumes(2 * size, 2 * size, groups=2 * size), nn.SiLU(),
            nn.Conv3d(2 * size, size, 1)) for _ in range(2))
        self.last = nn.Linear(size, 10)

    def forward(self, x):
        x = self.first(x)
        for block in self.blocks:
            x = torch.relu(x + block(x))
        return self.last(x.mean((2, 3, 4)))


def picture(size):
    return (torch.randn(1, 3, size, size),)


def networks():
    """Functions that make a network and its inputs, by name; and which of the first input's sizes stay open, if any."""
    found = {
        "act": lambda: (ActionChunks(), (*picture(224), torch.randn(1, 14))),
        "occupancy": lambda: (Occupancy(), (torch.randn(1, 1, 16, 48, 48),)),
        "gestures": lambda: (Gestures(), (torch.randn(1, 3, 8, 80, 80),)),
        "causal_policy": lambda: (CausalPolicy(), (torch.randn(1, 60, 20),)),
        **POLICIES,
    }
    for name, (make, shapes) in DENSE.items():
        found[name] = lambda make=make, shapes=shapes: (make(), tuple(torch.randn(*shape) for shape in shapes))
    for name, (make, shapes, axes) in SEQUENCES.items():
        found[name] = lambda make=make, shapes=shapes, axes=axes: (
            make(), tuple(torch.randn(*shape) for shape in shapes), axes)
    found["raft_small"] = lambda: (Flow(), (torch.randn(1, 3, 128, 160), torch.randn(1, 3, 128, 160)))
    for name in TORCHVISION:
        options = {"init_weights": False, "aux_logits": False} if name == "googlenet" else {}
        found[name] = lambda name=name, options=options: (
            torchvision.models.get_model(name, weights=None, **options), picture(224))
    for name in VIDEO:  # Eight images.
        found[name] = lambda name=name: (
            torchvision.models.get_model(name, weights=None), (torch.randn(1, 3, 8, 112, 112),))
    for name in SEGMENTATION:
        found[name] = lambda name=name: (
            torchvision.models.get_model(name, weights=None, weights_backbone=None), picture(256))
    for name, size in TIMM.items():
        found[name] = lambda name=name, size=size: (timm_network(name), picture(size))
    for name in TRANSFORMERS:
        found[name] = lambda name=name: transformers_network(name)
    for name in YOLO:
        found[name] = lambda name=name: (yolo_network(name), picture(320))
    return found


def timm_network(name):
    import timm

    return timm.create_model(name, pretrained=False, exportable=True)


def transformers_network(name):
    import transformer_models

    return getattr(transformer_models, name)()


def yolo_network(name):
    import ultralytics

    network = ultralytics.YOLO(f"{name}.yaml").model.float()
    for module in network.modules():
        if hasattr(module, "export"):
            module.export, module.format = True, "onnx"
    return network


def export(make, path, is_dynamo, is_half):
    torch.manual_seed(1)
    network, inputs, *axes = make()
    if is_half:
        network, inputs = network.half(), tuple(each.half() for each in inputs)
    for module in network.modules():  # Statistics as of a network that has learned.
        if isinstance(module, nn.modules.batchnorm._BatchNorm):
            module.running_mean.normal_(0, 0.1)
            module.running_var.uniform_(0.5, 1.5)
    options = {"external_data": False} if is_dynamo else {"opset_version": 17}
    if axes:
        options |= {"input_names": ["x"], "dynamic_axes": {"x": {axis: f"size{axis}" for axis in axes[0]}}}
    with torch.no_grad():
        torch.onnx.export(Output(network).eval(), inputs, str(path), dynamo=is_dynamo, **options)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--dynamo", action="store_true")
    parser.add_argument("--half", action="store_true")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    # Its fused layers have no form in ONNX.
    torch.backends.mha.set_fastpath_enabled(False)
    only = set(filter(None, args.only.split(",")))
    has_failed = False
    for name, make in networks().items():
        path = args.out / (f"{name}.half.onnx" if args.half else f"{name}.onnx")
        if (only and name not in only) or path.exists():
            continue
        try:
            export(make, path, args.dynamo, args.half)
        except Exception as error:
            path.unlink(missing_ok=True)
            print(f"{name}: {type(error).__name__}: {str(error).splitlines()[0][:200]}", file=sys.stderr)
            has_failed = True
    sys.exit(has_failed)


if __name__ == "__main__":
    main()
