#!/usr/bin/env python3
"""Write the scenarios beside this file: python3 traces/scenarios/make.py [FOLDER]

No dependency beyond Python 3; the same text every time. One module a group of families.
"""
import os
import sys

sys.dont_write_bytecode = True

import copies_and_host
import kernels
import streams

if __name__ == "__main__":
    folder = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.abspath(__file__))
    scenarios = kernels.scenarios() + streams.scenarios() + copies_and_host.scenarios()
    names = [scenario.name for scenario in scenarios]
    assert len(set(names)) == len(names), "two scenarios of one name"
    for scenario in scenarios:
        scenario.write(folder)
    print(len(scenarios), "scenarios")
