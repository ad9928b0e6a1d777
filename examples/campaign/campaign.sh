#!/bin/sh
# campaign.sh: a run of months as a chain of batch jobs, each of which resumes from the newest good
# checkpoint.
#
#     ./campaign.sh submit     submits the job (again, after it has stopped; nothing is lost)
#     ./campaign.sh status     what the campaign is doing, and how far it is
#     ./campaign.sh run        what a job does; also without a batch system, on this machine
#     ./campaign.sh stop       the running job writes a checkpoint and ends; the chain ends with it
#
# Settings are read from campaign.conf beside the place where it is started, if there is one, or
# from the environment:
NAMELIST=${NAMELIST:-run.nml}
OUT=${OUT:-run}              # directory of checkpoints
RANKS=${RANKS:-4}            # may change from job to job: the bits of the result do not
NODES=${NODES:-}             # empty: as many as Slurm finds right
TIME=${TIME:-24:00:00}       # of a job; the run ends in time by itself
LAUNCH=${LAUNCH:-}           # "srun --wait=60 --mpi=pmix -n 8", "mpirun -n 8"; empty: what there is
SETTINGS=${SETTINGS:-}       # parameters in place of the namelist's, such as amr_params/levelmax=14
SBATCH=${SBATCH:-}           # further options of sbatch: --partition=long --array=1-8
FOLLOW=${FOLLOW:-}           # command for each new checkpoint, in a job of its own: "./follow.sh"
RETRIES=${RETRIES:-2}        # of jobs that ended without progress, before the chain stops
BIN=${BIN:-}                 # directory of Ptah's programs, with / at its end; empty: from PATH
# How a run ends (simulate(1)): 0 it is complete. 75 it stopped in time with a checkpoint: the job
# is queued again. 2 something is wrong that another try would not cure: the chain stops with the
# sentence. All else (a dead node, a signal): again, at most RETRIES times without a new checkpoint.
set -u
# sbatch copies this script elsewhere: it is named again by its own path
SELF=${CAMPAIGN_SELF:-$(readlink -f "$0")}
[ ! -f campaign.conf ] || . ./campaign.conf
# members of an array have directories of their own
OUT=$OUT${SLURM_ARRAY_TASK_ID:+.$SLURM_ARRAY_TASK_ID}
NOTES=$OUT/.campaign

say() {
    echo "$(date -u +%FT%TZ) ${SLURM_JOB_ID:-$$} $*" >>"$NOTES/history"
    echo "campaign: $*" >&2
}

newest() {
    ls -d "$OUT"/output_[0-9]*[0-9] 2>/dev/null | sed 's,.*output_,,' | sort -n | tail -n 1
}

# Before anything is queued.
look_first() {
    mkdir -p "$NOTES"
    [ -f "$NAMELIST" ] || { say "there is no namelist $NAMELIST"; exit 2; }
    command -v "${BIN}simulate" >/dev/null || {
        say "there is no program ${BIN}simulate: set PATH, or BIN in campaign.conf"
        exit 2
    }
}

submit() {
    look_first
    rm -f "$NOTES/stop" "$NOTES/tries"
    queue "$@"
}

# The options of a job; the environment is passed on. ${NODES:+…}: only if it is set.
queue() {
    # shellcheck disable=SC2086
    job=$(CAMPAIGN_SELF=$SELF sbatch --parsable --requeue --open-mode=append \
        --job-name="$(basename "$OUT")" --output="$OUT.%j.log" --time="$TIME" --ntasks="$RANKS" \
        ${NODES:+--nodes=$NODES} $SBATCH "$@" "$SELF" run) || exit 2
    say "job ${job%%;*} is queued"
}

# As another try of this job; by a dependent one where requeueing is not allowed.
again() {
    job=${SLURM_ARRAY_JOB_ID:+${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID}
    [ -n "${SLURM_JOB_ID:-}" ] || CAMPAIGN_AGAIN=1 exec "$SELF" run
    scontrol requeue "${job:-$SLURM_JOB_ID}" || queue --dependency="afterany:$SLURM_JOB_ID"
}

launcher() {
    ranks=${SLURM_NTASKS:-$RANKS}
    if [ -n "$LAUNCH" ]; then
        echo "$LAUNCH"
    elif [ "$ranks" = 1 ]; then
        :
    elif [ -n "${SLURM_JOB_ID:-}" ] && srun --mpi=list 2>&1 | grep -q pmix; then
        # --wait: a rank that has died does not leave the others waiting for it
        echo "srun --wait=60 --mpi=pmix -n $ranks"
    else
        echo "mpirun -n $ranks"
    fi
}

# The signals of sbatch --signal=B:USR1@300 and of scancel --batch are for the run. A launcher that
# gets SIGUSR1 passes it on to the ranks, which write a checkpoint and end.
advance() {
    # shellcheck disable=SC2046,SC2086
    $(launcher) "${BIN}simulate" -o "$OUT" -j "$OUT/costs" "$NAMELIST" \
        run_params/nrestart=-1 $SETTINGS 2>>"$OUT/log" &
    run=$!
    trap 'kill -USR1 $run 2>/dev/null' USR1 TERM INT
    wait $run
    status=$?
    # a wait that a signal ended says so; the run itself is still to end
    while kill -0 $run 2>/dev/null; do
        wait $run
        status=$?
    done
    trap - USR1 TERM INT
}

run() {
    look_first
    # a person who starts it here means it
    [ -n "${SLURM_JOB_ID:-}${CAMPAIGN_AGAIN:-}" ] || rm -f "$NOTES/stop"
    [ ! -f "$NOTES/stop" ] || { say "stopped as requested"; exit 0; }
    # what an earlier stop has left would end this job at once
    [ "$(cat jobcontrol.txt 2>/dev/null)" != '0 -1' ] || rm -f jobcontrol.txt
    before=$(newest)
    tries=$(cat "$NOTES/tries" 2>/dev/null || echo 0)
    say "starts from checkpoint ${before:-none}, on $(hostname), try $((tries + 1))"
    advance
    after=$(newest)
    if [ "$after" = "$before" ]; then tries=$((tries + 1)); else tries=0; fi
    echo "$tries" >"$NOTES/tries"
    say "ended with status $status, checkpoint ${after:-none}"
    follow
    case $status in
    0) say "complete" ;;
    2)
        say "stops: $(grep '^simulate: ' "$OUT/log" | tail -n 1)"
        exit 2
        ;;
    *)
        if [ -f "$NOTES/stop" ]; then
            say "stopped as requested"
        elif [ "$tries" -gt "$RETRIES" ]; then
            say "stops: $tries jobs in succession ended without a new checkpoint; see $OUT/log"
            exit 2
        else
            again
        fi
        ;;
    esac
}

# Of checkpoints that are new since the last time, in their order.
follow() {
    [ -n "$FOLLOW" ] || return 0
    for c in "$OUT"/output_[0-9]*[0-9]; do
        [ -d "$c" ] && ! grep -qx "$c" "$NOTES/followed" 2>/dev/null || continue
        echo "$c" >>"$NOTES/followed"
        if [ -n "${SLURM_JOB_ID:-}" ]; then
            sbatch --parsable --ntasks=1 --time=60 --output="$OUT.follow.%j.log" \
                --dependency="afterany:$SLURM_JOB_ID" --wrap="$FOLLOW $c" >>"$NOTES/history"
        else
            $FOLLOW "$c"
        fi
    done
}

look_for_one() {
    [ ! -s "$NOTES/history" ] || return 0
    echo "$OUT: no campaign has been started here"
    exit 1
}

status() {
    look_for_one
    tail -n 3 "$NOTES/history"
    ! command -v squeue >/dev/null ||
        squeue -h -n "$(basename "$OUT")" -o 'job %i: %T, %M of %l, %R' 2>/dev/null
    [ -z "$(newest)" ] || "${BIN}inspect" -q --campaign "$OUT" | tail -n 5
}

stop() {
    look_for_one
    touch "$NOTES/stop"
    jobs=$(squeue -h -n "$(basename "$OUT")" -t RUNNING -o %i 2>/dev/null)
    for job in $jobs; do scancel --batch --signal=USR1 "$job"; done
    [ -n "$jobs" ] || echo '0 -1' >jobcontrol.txt # step 0: now
    echo "the run writes a checkpoint and ends after its coarse step"
}

case ${1:-} in
submit | run | status | stop) "$@" ;;
*)
    sed -n '2,8s/^# \{0,1\}//p' "$SELF" >&2
    exit 2
    ;;
esac
