#!/bin/sh
# How far predicted training steps are off those recorded without a profiler, and how far replays of all ranks together.
#
#   traces/training/figures.sh [GRIDTIDE [FOLDER]]          (the program is build/gridtide, unless it or GRIDTIDE says another)
#
# `one`: the baseline, of the recording on one GPU; the others: what is predicted from it.  mlp, mlp-exposed and gpt are
# those that constants of sim/whatif/change_ddp.c were fitted on (with two more); vgg and mixer were not looked at for that.
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
    recorded.setdefault((row['model'], row['form']), []).append(row['step_us'])


def run(*words):
    return subprocess.run([tool, *words], capture_output=True, text=True, check=True).stdout


print('model        form               recorded_us predicted_us  error_pct')
errors = []
for (model, form), times in recorded.items():
    trace = f'{folder}/{model}.one.rank0.json.gz'
    if form not in SPECS or not os.path.exists(trace):
        continue
    try:
        answer = json.loads(run('whatif', '-q', '-f', 'json', trace, *(f'--change={spec}' for spec in SPECS[form])))
    except subprocess.CalledProcessError:
        continue
    says, was = (answer if form == 'one' else answer['changes'][0])['step_us'], statistics.mean(times)
    print(f'{model:12} {form:18} {was:11.1f} {says:12.1f} {100 * (says / was - 1):+10.1f}')
    if form.startswith('ddp'):
        errors.append(abs(100 * (says / was - 1)))
print(f'DistributedDataParallel: {len(errors)} steps, median {statistics.median(errors):.1f}%, worst {max(errors):.1f}%')
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
