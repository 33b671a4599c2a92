"""Plans a robot's workload ahead of time, and plays the plan in virtual time.

usage: plan_robot.py WORKLOAD.json OUTPUT.taktplan [PROFILE.json]

The profile is what `takt plan profile WORKLOAD.json --output=PROFILE.json`
measures on the robot; a workload with a topology of its own needs none.
"""

import subprocess
import sys

import takt
from takt.tools import find_tool

source, output, *profile = sys.argv[1:4]
workload = takt.plan.Workload.load(source, *profile)
for bound in workload.bounds():
    print(f"{bound['stream']}: online at most {bound['bound_ns'] * 1e-6:.3f} ms {bound['reason']}")
plan, report = workload.plan(seconds=1)
print(f"{plan.contents['makespan_ns'] * 1e-6:.3f} ms, {report['late_jobs']} late jobs")
for fault in plan.faults:
    print("fault:", fault)
plan.save(output)
played = [find_tool("takt-plan"), "simulate", source, f"--plan={output}", *(f"--profile={each}" for each in profile)]
subprocess.run(played, check=True)
