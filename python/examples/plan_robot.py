"""Plans a robot's workload ahead of time, and plays the plan in virtual time.

usage: plan_robot.py WORKLOAD.json PROFILE.json OUTPUT.taktplan

The profile is what `takt plan profile WORKLOAD.json --output=PROFILE.json`
measures on the robot.
"""

import subprocess
import sys

from takt.tools import find_tool

workload, profile, plan = sys.argv[1:4]
planner = find_tool("takt-plan")
subprocess.run([planner, "solve", workload, f"--profile={profile}", f"--output={plan}"], check=True)
subprocess.run([planner, "check", plan], check=True)
subprocess.run([planner, "simulate", workload, f"--profile={profile}", f"--plan={plan}"], check=True)
