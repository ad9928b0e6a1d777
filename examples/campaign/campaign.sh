#!/bin/sh
# campaign.sh: a run of months as a chain of batch jobs, each of which resumes from the newest good
# checkpoint.
#
#     ./campaign.sh submit     submits the job (again, after it has stopped; nothing is lost)
#     ./campaign.sh status     what the campaign is doing, and how far it is
#     ./campaign.sh run        what a job does; also without a batch system, on this machine
#     ./campaign.sh stop       running jobs write a checkpoint and end; the chain ends with them
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
set -fu # -f: names are no patterns
# sbatch copies this script elsewhere: it is named again by its own path
SELF=${CAMPAIGN_SELF:-$(readlink -f "$0")}
[ ! -f campaign.conf ] || . ./campaign.conf
case $OUT in
-*) OUT=./$OUT ;;
*'
'*) echo 'campaign: OUT, the name of a directory, must not have several lines' >&2 && exit 2 ;;
esac
# What belongs to all: the ids of jobs, the members of an array, whether to stop. Members have
# directories of their own.
ALL=$OUT/.campaign
OUT=$OUT${SLURM_ARRAY_TASK_ID:+.$SLURM_ARRAY_TASK_ID}
NOTES=$OUT/.campaign

say() {
    printf '%s %s %s\n' "$(date -u +%FT%TZ)" "${SLURM_JOB_ID:-$$}" "$*" >>"$NOTES/history"
    printf 'campaign: %s\n' "$*" >&2
}

# A line is added to a list unless it is there.
note() {
    grep -qxF -e "$2" "$1" 2>/dev/null || printf '%s\n' "$2" >>"$1"
}

checkpoints() (
    set +f
    for c in "$OUT"/output_[0-9][0-9][0-9][0-9][0-9]; do
        [ ! -d "$c" ] || printf '%s\n' "$c"
    done
)

newest() {
    checkpoints | sed -n '$s/.*_//p'
}

# As a word of a shell; as a name of a log, in which sbatch has patterns of its own.
quoted() {
    printf '%s\n' "$1" | sed "s/'/'\\\\''/g; s/^/'/; s/\$/'/"
}
log_name() {
    printf '%s\n' "$1" | sed 's/%/%%/g; s/$/.%j.log/'
}

# Before anything is queued.
look_first() {
    mkdir -p "$NOTES" "$ALL"
    [ -f "$NAMELIST" ] || { say "there is no namelist $NAMELIST"; exit 2; }
    command -v "${BIN}simulate" >/dev/null || {
        say "there is no program ${BIN}simulate: set PATH, or BIN in campaign.conf"
        exit 2
    }
}

submit() {
    look_first
    rm -f "$ALL/stop" "$NOTES/tries"
    queue "$@"
}

# The options of a job; the environment is passed on. ${NODES:+…}: only if it is set. A member that
# is queued again is the only one of its array.
queue() {
    # shellcheck disable=SC2086
    job=$(CAMPAIGN_SELF=$SELF sbatch --parsable --requeue --open-mode=append \
        --job-name="$(basename "$OUT")" --output="$(log_name "$OUT")" --time="$TIME" \
        --ntasks="$RANKS" ${NODES:+--nodes=$NODES} $SBATCH "$@" \
        ${SLURM_ARRAY_TASK_ID:+--array=$SLURM_ARRAY_TASK_ID} "$SELF" run) || exit 2
    note "$ALL/jobs" "${job%%;*}"
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
        printf '%s\n' "$LAUNCH"
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
    trap 'kill -USR1 $run 2>/dev/null' USR1 TERM INT HUP
    wait $run
    status=$?
    # a wait that a signal ended says so; the run itself is still to end
    while kill -0 $run 2>/dev/null; do
        wait $run
        status=$?
    done
    trap - USR1 TERM INT HUP
}

run() {
    look_first
    [ -z "${SLURM_JOB_ID:-}" ] || note "$ALL/jobs" "${SLURM_ARRAY_JOB_ID:-$SLURM_JOB_ID}"
    [ "$OUT/.campaign" = "$ALL" ] || note "$ALL/members" "$SLURM_ARRAY_TASK_ID"
    # a person who starts it here means it
    [ -n "${SLURM_JOB_ID:-}${CAMPAIGN_AGAIN:-}" ] || rm -f "$ALL/stop"
    [ ! -f "$ALL/stop" ] || { say "stopped as requested"; exit 0; }
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
        if [ -f "$ALL/stop" ]; then
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
    checkpoints | while IFS= read -r c; do
        ! grep -qxF -e "$c" "$NOTES/followed" 2>/dev/null || continue
        printf '%s\n' "$c" >>"$NOTES/followed"
        # shellcheck disable=SC2086
        if [ -n "${SLURM_JOB_ID:-}" ]; then
            sbatch --parsable --ntasks=1 --time=60 --output="$(log_name "$OUT.follow")" \
                --dependency="afterany:$SLURM_JOB_ID" --wrap="$FOLLOW $(quoted "$c")" \
                >>"$NOTES/history"
        else
            command $FOLLOW "$c" </dev/null
        fi
    done
}

look_for_one() {
    [ ! -s "$NOTES/history" ] || return 0
    printf '%s: %s\n' "$OUT" "no campaign has been started here"
    exit 1
}

# Lines of squeue that begin with the id of a job of this campaign, 12, 12_3 or 12_[4-8].
queued() {
    squeue -h -u "$(id -un)" "$@" 2>/dev/null | while read -r job rest; do
        ! grep -qxF -e "${job%%[_+]*}" "$ALL/jobs" || echo "$job $rest"
    done
}

show() (
    OUT=$1
    [ "$OUT/.campaign" = "$ALL" ] || printf '%s:\n' "$OUT"
    tail -n 3 "$OUT/.campaign/history"
    [ -z "$(newest)" ] || "${BIN}inspect" -q --campaign "$OUT" | tail -n 5
)

status() {
    look_for_one
    queued -o '%i %T, %M of %l, %R' | sed 's/^\([^ ]*\) /job \1: /'
    show "$OUT"
    for n in $(cat "$ALL/members" 2>/dev/null); do show "$OUT.$n"; done
}

stop() {
    look_for_one
    touch "$ALL/stop"
    jobs=$(queued -t RUNNING -o %i)
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
