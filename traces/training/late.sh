#!/bin/sh
# An injected delay of one rank against recordings in which that rank was so late.
#
#   traces/training/late.sh [GRIDTIDE [FOLDER [KIND]]]   (the program is build/gridtide, unless it or GRIDTIDE says another)
#
# KIND: gpu or host, whose delays alone are asked; both, unless it is said.
# Predicted is the step of the on-time recording NAME.ddp.rank0 and .rank1, with `--change delay=...`; recorded are the steps of
# late.jsonl, timed before any profiler ran, some of them late as was drawn; its `on-2` is on time again, in the same processes:
# `again_pct` is by how much that differs from `on-1`, which nothing but the host's pace explains.  host_us is what a step takes
# the late rank's own host, where that is the bound: recorded less the delay.
tool=${1:-${GRIDTIDE:-$(cd "$(dirname "$0")/../.." && pwd)/build/gridtide}}
folder=${2:-$(dirname "$0")}
python3 - "$tool" "$folder" "${3:-gpu host}" << 'END'
import json, os, statistics, subprocess, sys, tempfile

tool, folder, kinds = sys.argv[1:]
BEFORE = {'forward': 'DistributedDataParallel.forward', 'backward': 'aten::ones_like', 'optimiser': 'Optimizer.step*'}


def run(*words):
    return subprocess.run([tool, *words], capture_output=True, text=True, check=True).stdout


def step_us(trace, late):
    spec = f"delay={late['rank']}:{late['us']:.3f}{':gpu' if late['kind'] == 'gpu' else ''}:before={BEFORE[late['where']]}"
    return json.loads(run('whatif', '-q', '-f', 'json', trace, f'--change={spec}'))['changes'][0]['step_us']


def rows():
    """Model, source, delay, recorded us, on time us, by how much on time again differs."""
    late = {(row['model'], row['form']): row for row in map(json.loads, open(f'{folder}/late.jsonl'))}
    for (model, form), row in late.items():
        first, again = (statistics.mean(late[model, on]['step_us']) for on in ('on-1', 'on-2'))
        if 'late' in row and row['late']['kind'] in kinds.split():
            yield model, form, row['late'], statistics.mean(row['step_us']), first, 100 * (again / first - 1)


print('model        form          late_rank late_us before    recorded_us predicted_us error_pct again_pct host_us')
errors = {'gpu': [], 'host': []}
with tempfile.TemporaryDirectory() as work:
    for model, form, late, was, on_time, again in rows():
        ranks = [f'{folder}/{model}.ddp.rank{rank}.json.gz' for rank in (0, 1)]
        trace = f'{work}/{model}.jsonl'
        if not os.path.exists(ranks[1]):
            continue
        if not os.path.exists(trace):
            run('import', '-q', *ranks, '-o', trace)
        says = step_us(trace, late)
        own = was - late['us'] if late['kind'] == 'host' and was > 1.05 * on_time else None
        errors[late['kind']].append(abs(100 * (says / was - 1)))
        print(f"{model:12} {form:14} {late['kind'] + ' ' + str(late['rank']):>8} {late['us']:7.0f} {late['where']:9} {was:11.1f} "
              f"{says:12.1f} {100 * (says / was - 1):+9.1f} {'' if again is None else format(again, '+.1f'):>9} "
              f"{'' if own is None else format(own, '.0f'):>7}")
for kind, values in errors.items():
    if values:
        print(f'late {kind}: {len(values)} steps, median {statistics.median(values):.1f}%, worst {max(values):.1f}%')
END
