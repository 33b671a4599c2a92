"""Finds the quickest way to compile a detector for this machine.

usage: tune_detector.py DETECTOR.onnx OUTPUT.vmfb [SECONDS]
"""

import pathlib
import sys

import takt

seconds = float(sys.argv[3]) if len(sys.argv) > 3 else 120.0
detector = takt.compile(sys.argv[1], tune=seconds)
for record in detector.report["tried"]:
    result = f"{record['median_ns'] / 1e6:9.3f} ms" if "median_ns" in record else "        -   "
    print(f"{record['recipe']:16}{result}  {record.get('rejected', record.get('skipped', ''))[:80]}")
detector.save(sys.argv[2])
pathlib.Path(sys.argv[2]).with_suffix(".recipe.json").write_text(detector.recipe.to_json())
