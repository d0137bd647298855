#!/bin/sh
# Whole commands on recorded timelines of 10^4 to 10^6 kernels (or of GRIDTIDE_KERNELS), and the import of 232 MB.
# GRIDTIDE names the program: another one's figures come the same way.
bench=$GRIDTIDE_BUILD/tests/bench
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
run() {
    "$bench/timeline_bench" time "$@" || exit 1
}
for kernels in ${GRIDTIDE_KERNELS:-10000 100000 1000000}; do
    "$bench/timeline_bench" write "$folder/trace.jsonl" "$kernels" || exit 1
    run "run $kernels as blocks" "$GRIDTIDE" run -q "$folder/trace.jsonl" -o "$folder/blocks.db" > "$folder/line"
    sed -n '$p' "$folder/line"
    run "run $kernels as bars" "$GRIDTIDE" run -q "$folder/trace.jsonl" --blocks off -o "$folder/bars.db" > "$folder/line"
    sed -n '$p' "$folder/line"
    for command in stats compare; do
        run "$command $kernels" "$GRIDTIDE" "$command" "$folder/blocks.db" > "$folder/line"
        sed -n '$p' "$folder/line"
    done
    rm -f "$folder"/*.db
done
"$bench/import_bench" write "$folder/profile.json" 128200 || exit 1
run "import 232 MB of Kineto" "$GRIDTIDE" import -q "$folder/profile.json" -o "$folder/out.jsonl"
