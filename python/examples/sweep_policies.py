"""Which scheduling policy keeps a robot's deadlines, and up to which load?

usage: sweep_policies.py BOARD.json WORKLOAD.json OUTPUT.html [SEEDS]
"""

import sys

import takt

board, workload, output = sys.argv[1:4]
seeds = range(1, 1 + (int(sys.argv[4]) if len(sys.argv) > 4 else 5))
table = takt.sweep(board, workload, ["job-shop", "edf", "fifo"], seeds, loads=[0.6, 0.9, 1.2])
for row in table.misses():
    print(f"load {row['load']:.1f}  {row['policy']:10} {row['missed']:5} of {row['released']} late")
table.save(output)
