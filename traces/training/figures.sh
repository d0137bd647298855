#!/bin/sh
# How far predicted training steps are off those timed without a profiler, and how far replays of all ranks together.
#
#   traces/training/figures.sh [GRIDTIDE [FOLDER]]          (the program is build/gridtide, unless it or GRIDTIDE says another)
#
# `one`: the baseline, of the recording on one GPU; the others: what is predicted from it.  `step`: the same where the command is
# told what a step on one GPU takes when nobody records (`whatif --step`, the row `one` of that set); `pace`: what a small launch
# took the host before each round of steps, the mean (6 us as a rule, 10 at times); `calm`: of how many groups of steps all cores
# ran at their full pace, where that was watched: where none did, how long the step takes is not known, and it is not counted.
# The keys ddp.* of sim/frameworks/pytorch-2.11.ini were fitted on the set `developed`, then, with the host's pace in them, on all
# sets, of `alone` by its forms `ddp-alone`, which are not predicted here.  `two GPUs`: fresh, judged and drawn.
tool=${1:-${GRIDTIDE:-$(cd "$(dirname "$0")/../.." && pwd)/build/gridtide}}
folder=${2:-$(dirname "$0")}
python3 - "$tool" "$folder" << 'END'
import itertools, json, os, statistics, subprocess, sys, tempfile

tool, folder = sys.argv[1:]
SPECS = {'one': ['launch-cost=1'], 'one-accumulate-2': ['accumulate=2'], 'one-accumulate-4': ['accumulate=4'], 'ddp': ['ddp=2'],
         'ddp-bucket-5': ['ddp=2:bucket=5'], 'ddp-bucket-100': ['ddp=2:bucket=100'],
         'ddp-accumulate-2': ['ddp=2', 'accumulate=2'], 'ddp-accumulate-4': ['ddp=2', 'accumulate=4']}
recorded, ones = {}, {}
for row in map(json.loads, open(f'{folder}/times.jsonl')):
    recorded.setdefault((row['set'], row['model'], row['form']), []).append(row)
    if row['form'] == 'one' and row.get('calm', 1) > 0:
        ones[row['set'], row['model']] = row['step_us']


def run(*words):
    return subprocess.run([tool, *words], capture_output=True, text=True, check=True).stdout


def asked(trace, form, *words):
    return json.loads(run('whatif', '-q', '-f', 'json', trace, *words, *(f'--change={spec}' for spec in SPECS[form])))


def predicted(answer, form):
    return (answer if form == 'one' else answer['changes'][0])['step_us']


def is_within(answer, step_us):
    """Is the real step within the interval of the answer?  Of the baseline as of the change, which is next to none."""
    one = answer['changes'][0]
    scale = answer['step_us'] / one['step_us']
    return scale * one['low_us'] <= step_us <= scale * one['high_us']


print('set       model        form               recorded_us predicted_us error_pct  step_us step_pct pace_us calm')
errors, within = {}, []
steps = sorted(recorded.items(), key=lambda item: (item[0][:2], item[0][2] != 'one', item[0][2]))
for ((which, model, form), rows), recording in itertools.product(steps, ('one.rank0', 'stack')):
    trace = f'{folder}/{model}.{recording}.json.gz'
    if form not in SPECS or not os.path.exists(trace):
        continue
    answer, was = asked(trace, form), statistics.mean(row['step_us'] for row in rows)
    says, timed_us = predicted(answer, form), ones.get((which, model))
    told = predicted(asked(trace, form, f'--step={timed_us}'), form) if timed_us else None
    error, step = 100 * (says / was - 1), 100 * (told / was - 1) if told else None
    paces = [pace for row in rows for pace in row.get('pace_us', [])]
    pace = f'{statistics.mean(paces):7.1f}' if paces else ' ' * 7
    calm = min((row['calm'] for row in rows if 'calm' in row), default=None)
    if form == 'one':
        within.append(is_within(answer, was))
    print(f'{which:9} {model:12} {form:18} {was:11.1f} {says:12.1f} {error:+9.1f} '
          f'{format(told, "8.1f") if told else " " * 8} {format(step, "+8.1f") if told else " " * 8} {pace} '
          f'{"" if calm is None else format(calm, "4")}')
    if calm == 0:
        continue
    if recording == 'stack':
        which += ', with_stack'
    kind = 'DistributedDataParallel' if form.startswith('ddp') else 'as recorded' if form == 'one' else 'added up'
    for name in (which, 'two GPUs') if which in ('fresh', 'judged', 'drawn') and 'Parallel' in kind else (which,):
        errors.setdefault((name, kind, ''), []).append(abs(error))
        if told and form != 'one':
            errors.setdefault((name, kind, ' with --step'), []).append(abs(step))
for (which, kind, how), off in sorted(errors.items()):
    print(f'{which:19} {kind}{how}: {len(off)} steps, median {statistics.median(off):.1f}%, worst {max(off):.1f}%')
print(f'as recorded, calm or not: {sum(within)} of {len(within)} steps are within the interval of the answer')
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
