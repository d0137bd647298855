#!/bin/sh
# How far predicted training steps are off those timed without a profiler, and how far replays of all ranks together.
#
#   traces/training/figures.sh [GRIDTIDE [FOLDER]]          (the program is build/gridtide, unless it or GRIDTIDE says another)
#
# `one`: the baseline, of the recording on one GPU; the others: what is predicted from it.  `change`: how far the ratio to `one` is
# off, which a host at another pace than while the profile was taken leaves alone where it is the bound; `pace`: what a small launch
# took the host before each round of steps, the mean (6 us as a rule, 10 at times); `calm`: of how many groups of steps both cores
# ran at their full pace, where that was watched: where none did, how long the step takes is not known, and it is not counted.
# Constants of sim/changes/change_ddp.c,
# change_dp.c and thread_plans.c were fitted on the set `developed`; `judged` was looked at once before they were done, `fresh` once
# behind that (DistributedDataParallel 5.1% in the median, 20.1% at worst; DataParallel 16.9% and 20.1%, whereupon its constants became
# 8% longer).
tool=${1:-${GRIDTIDE:-$(cd "$(dirname "$0")/../.." && pwd)/build/gridtide}}
folder=${2:-$(dirname "$0")}
python3 - "$tool" "$folder" << 'END'
import json, os, statistics, subprocess, sys, tempfile

tool, folder = sys.argv[1:]
SPECS = {'one': ['launch-cost=1'], 'one-accumulate-2': ['accumulate=2'], 'one-accumulate-4': ['accumulate=4'], 'ddp': ['ddp=2'],
         'ddp-bucket-5': ['ddp=2:bucket=5'], 'ddp-bucket-100': ['ddp=2:bucket=100'],
         'ddp-accumulate-2': ['ddp=2', 'accumulate=2'], 'ddp-accumulate-4': ['ddp=2', 'accumulate=4'], 'dp': ['dp=2']}
recorded = {}
for row in map(json.loads, open(f'{folder}/times.jsonl')):
    recorded.setdefault((row['set'], row['model'], row['form']), []).append(row)


def run(*words):
    return subprocess.run([tool, *words], capture_output=True, text=True, check=True).stdout


print('set       model        form               recorded_us predicted_us error_pct change_pct pace_us calm')
errors, ones = {}, {}
for (which, model, form), rows in sorted(recorded.items(), key=lambda item: (item[0][:2], item[0][2] != 'one', item[0][2])):
    trace = f'{folder}/{model}.one.rank0.json.gz'
    if form not in SPECS or not os.path.exists(trace):
        continue
    answer = json.loads(run('whatif', '-q', '-f', 'json', trace, *(f'--change={spec}' for spec in SPECS[form])))
    says = (answer if form == 'one' else answer['changes'][0])['step_us']
    was = statistics.mean(row['step_us'] for row in rows)
    ones.setdefault(model, (says, was))
    error, change = says / was - 1, says / was * ones[model][1] / ones[model][0] - 1
    paces = [pace for row in rows for pace in row.get('pace_us', [])]
    pace = f'{statistics.mean(paces):7.1f}' if paces else ' ' * 7
    calm = min((row['calm'] for row in rows if 'calm' in row), default=None)
    print(f'{which:9} {model:12} {form:18} {was:11.1f} {says:12.1f} {100 * error:+9.1f} {100 * change:+10.1f} {pace} '
          f'{"" if calm is None else format(calm, "4")}')
    if calm == 0:
        continue
    kind = 'DataParallel' if form == 'dp' else 'DistributedDataParallel' if form.startswith('ddp') else 'one GPU'
    errors.setdefault((which, kind), []).append((abs(100 * error), abs(100 * change)))
for (which, kind), both in sorted(errors.items()):
    steps, changes = zip(*both)
    print(f'{which:9} {kind}: {len(both)} steps, median {statistics.median(steps):.1f}%, worst {max(steps):.1f}%; '
          f'changes median {statistics.median(changes):.1f}%, worst {max(changes):.1f}%')
for name in sorted(os.listdir(folder)):
    if not name.endswith('.rank1.json.gz'):
        continue
    job = name[:-len('.rank1.json.gz')]
    with tempfile.TemporaryDirectory() as work:
        run('import', '-q', f'{folder}/{job}.rank0.json.gz', f'{folder}/{job}.rank1.json.gz', '-o', f'{work}/job.jsonl')
        run('run', '-q', f'{work}/job.jsonl', '-o', f'{work}/job.db')
        error = json.loads(run('compare', '-f', 'json', f'{work}/job.db'))['makespan_us']['error_pct']
    print(f'{job:31} all ranks replayed: {error:+.2f}%')
END
