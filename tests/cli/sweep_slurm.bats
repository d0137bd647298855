# A sweep as jobs of a real Slurm, on this machine alone: its daemons are started here, without authentication.

setup_file()
{
    export slurm="$BATS_FILE_TMPDIR/slurm"
    for program in slurmctld slurmd sbatch squeue scancel sinfo; do
        PATH="$PATH:/usr/sbin" command -v "$program" > /dev/null || return 0
    done
    [ "$(id -u)" = 0 ] || return 0
    mkdir -p "$slurm/state" "$slurm/spool"
    export PATH="$PATH:/usr/sbin" SLURM_CONF="$slurm/slurm.conf"
    write_configuration > "$SLURM_CONF"
    slurmctld -D > "$slurm/controller.out" 2>&1 3>&- &
    echo $! > "$slurm/pids"
    slurmd -D > "$slurm/node.out" 2>&1 3>&- &
    echo $! >> "$slurm/pids"
    for _ in {1..100}; do
        if sinfo -h 2> /dev/null | grep -q ' idle '; then
            touch "$slurm/up"
            return 0
        fi
        sleep 0.2
    done
}

teardown_file()
{
    if [ -f "$slurm/up" ]; then scancel --user root; fi
    while read -r pid; do
        kill "$pid" || true
        # It writes its state as it ends: the folder goes when it is gone.
        for ((i = 0; i < 200; i++)); do
            kill -0 "$pid" 2> /dev/null || break
            sleep 0.05
        done
        kill -KILL "$pid" 2> /dev/null || true
    done < <(cat "$slurm/pids" 2> /dev/null)
}

# Ports by the number of this process, so that two tests at once do not meet.
write_configuration()
{
    local host port=$((20000 + $$ % 20000))
    host=$(hostname -s)
    cat <<- END
	ClusterName=test
	SlurmctldHost=$host(127.0.0.1)
	AuthType=auth/none
	CredType=cred/none
	SlurmUser=root
	SlurmdUser=root
	SlurmctldPort=$port
	SlurmdPort=$((port + 1))
	StateSaveLocation=$slurm/state
	SlurmdSpoolDir=$slurm/spool
	SlurmctldPidFile=$slurm/controller.pid
	SlurmdPidFile=$slurm/node.pid
	ProctrackType=proctrack/pgid
	TaskPlugin=task/none
	MpiDefault=none
	SwitchType=switch/none
	SelectType=select/cons_tres
	SelectTypeParameters=CR_CPU
	ReturnToService=2
	SchedulerParameters=sched_interval=1,batch_sched_delay=0
	NodeName=$host NodeAddr=127.0.0.1 CPUs=$(nproc) State=UNKNOWN
	PartitionName=all Nodes=ALL Default=YES MaxTime=10:00 State=UP
	END
}

setup()
{
    [ -f "$slurm/up" ] || skip "no Slurm can be started here (slurm-wlm, as root)"
    folder=$(mktemp -d)
    samples="$GRIDTIDE_SOURCE/traces/samples"
}

teardown()
{
    [ -z "${folder-}" ] || rm -r "$folder"
}

rows()
{
    sqlite3 "$1" .dump | grep -E '^INSERT INTO sweep|sweep_grid'
}

# Until no job is left.
await_jobs()
{
    for _ in {1..600}; do
        [ -n "$(squeue -h)" ] || return 0
        sleep 0.2
    done
    squeue
    false
}

slow()
{
    echo '{"gridtide":1,"name":"slow","device":"h200"}'
    echo '{"kernel":"k","grid":2000,"block":256,"block_us":5}'
    for _ in {1..1500}; do
        printf '{"call":"launch","kernel":"k","stream":"s%d"}\n' 1 2
    done
}

@test "jobs of Slurm make the rows that workers here make" {
    over=(--over "connections=1,8" --over pinned --over "graph=off,on,step")
    "$GRIDTIDE" sweep -q "$samples"/*.json.gz "${over[@]}" -o "$folder/here" > "$folder/table"
    run "$GRIDTIDE" sweep "$samples"/*.json.gz "${over[@]}" -j 3 -o "$folder/there" --slurm '--comment "a sweep"'
    echo "$output"
    [ "$status" = 0 ]
    [[ $output == *"points in 3 tasks; job "*" merges them"* ]]
    await_jobs
    cat "$folder/there.log"
    [ "$(rows "$folder/here")" = "$(rows "$folder/there")" ]
    [ ! -e "$folder/there.parts" ]
    "$GRIDTIDE" sweep -q "$samples"/*.json.gz "${over[@]}" -o "$folder/there" --slurm '' | cmp - "$folder/table"
}

@test "what a killed task has not done is done again" {
    slow > "$folder/slow.jsonl"
    "$GRIDTIDE" sweep -q "$folder/slow.jsonl" --over launch-cost=3,4,5,6 -j 2 -o "$folder/there" --slurm ''
    until squeue -h -r -t running -o %i | grep -q _0; do sleep 0.1; done
    scancel --signal=KILL --full "$(squeue -h -r -t running -o %i | grep -m 1 _0)"
    await_jobs
    cat "$folder/there.log"
    [ "$(wc -l < "$folder/there.log")" -ge 2 ] # merged twice
    "$GRIDTIDE" sweep -q "$folder/slow.jsonl" --over launch-cost=3,4,5,6 -o "$folder/here"
    [ "$(rows "$folder/here")" = "$(rows "$folder/there")" ]
}

@test "options that sbatch does not take are told" {
    run "$GRIDTIDE" sweep "$samples/cuda-overlap-2.json.gz" --over pinned -o "$folder/db" --slurm '--partition=nosuch'
    [ "$status" = 1 ]
    [[ $output == *"sbatch did not take the job"* ]]
}
