#!/usr/bin/env python3
"""Write the scenarios beside this file: python3 traces/scenarios/make.py [FOLDER]

Those of the modules `programs` and `pairs` go into the folders programs/ and pairs/ there, with the launches
to profile for them; those of `gpus`, for two GPUs, into gpus/, those of `handed` into handed/.
No dependency beyond Python 3; the same text every time. One module a group of families.
"""
import os
import sys

sys.dont_write_bytecode = True

import copies_and_host
import gpus
import handed
import kernels
import pairs
import programs
import streams


def write(scenarios, folder):
    os.makedirs(folder, exist_ok=True)
    for scenario in scenarios:
        scenario.write(folder)


if __name__ == "__main__":
    folder = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.abspath(__file__))
    scenarios = kernels.scenarios() + streams.scenarios() + copies_and_host.scenarios()
    working, paired, several = programs.scenarios(), pairs.scenarios(), gpus.scenarios()
    own = handed.scenarios()
    names = [scenario.name for scenario in scenarios + working + paired + several + own]
    assert len(set(names)) == len(names), "two scenarios of one name"
    write(scenarios, folder)
    write(working, os.path.join(folder, "programs"))
    write(paired, os.path.join(folder, "pairs"))
    write(several, os.path.join(folder, "gpus"))
    write(own, os.path.join(folder, "handed"))
    with open(os.path.join(folder, "programs", "launches.cases"), "w", encoding="utf-8") as file:
        file.write(programs.cases())
    with open(os.path.join(folder, "pairs", "launches.cases"), "w", encoding="utf-8") as file:
        file.write(programs.cases("pairs", pairs.LAUNCHES))
    print(len(names), "scenarios")
