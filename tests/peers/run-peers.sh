#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Builds the benches of this folder and runs them over the peers that Debian
# packages, with goshmem among them, on this machine. README.md says more.
set -u

usage() {
	cat <<'EOF'
usage: run-peers.sh [--median K] [MODE [NP [PEER ...]]]

MODE   p2p (default), gups, coll, lock, init: figures of one kind
       away: of goshmem alone, with a target that sleeps or computes
       check: do the OpenSHMEM peers deliver what they are given?
       limits: what the machine itself allows (no NP, no PEER)
NP     number of PEs, 2 if not given
PEER   goshmem oshmem-shm ompi-sm mpich-alloc (these four if none is given)
       oshmem-tcp ompi-tcp mpich-tcp ompi-shared mpich-shared
       goshmem-ofi (all through libfabric), libfabric (a C loop over it; p2p only)
       mcs, mcs-heaps (a lock in C, its words side by side or 64 MiB apart, as in
       symmetric heaps), mcs-ticks, mcs-heaps-ticks (the same, of processes with a
       thread that wakes every 10 ms, as Go's have; lock only, with goshmem the default there)
--median K   run all peers in turn, K times, and print medians

One line a figure: peer name value unit ratio. The ratio is to the best of the
other implementations, above 1 if better. BENCH_T: seconds a figure (0.03).
EOF
}

die() {
	echo "run-peers: $*" >&2
	exit 2
}

rounds=1
case ${1-} in
-h | --help)
	usage
	exit
	;;
--median)
	rounds=${2-}
	shift $(($# < 2 ? $# : 2))
	;;
--median=*)
	rounds=${1#*=}
	shift
	;;
-*) die "unknown flag $1; see run-peers.sh --help" ;;
esac
[[ $rounds =~ ^[1-9][0-9]{0,3}$ ]] || die "--median wants a number of rounds from 1 to 9999, not '$rounds'"
mode=${1:-p2p} np=${2:-2}
shift $(($# < 2 ? $# : 2))
[[ $np =~ ^[1-9][0-9]{0,4}$ ]] || die "NP is a number of PEs from 1 to 99999, not '$np'"
case $mode in
away) [ $# -gt 0 ] || set -- goshmem-ofi ;;
lock) [ $# -gt 0 ] || set -- goshmem mcs mcs-heaps mcs-ticks mcs-heaps-ticks ;;
p2p | gups | coll | init) [ $# -gt 0 ] || set -- goshmem oshmem-shm ompi-sm mpich-alloc ;;
check) [ $# -gt 0 ] || set -- oshmem-shm oshmem-tcp ;;
limits) set -- limits ;;
*) die "unknown mode $mode; see run-peers.sh --help" ;;
esac
[ "$mode" != p2p ] || [ "$np" -ge 2 ] || die "p2p needs 2 PEs or more"

here=$(cd "$(dirname "$0")" && pwd)
tmp=$(mktemp -d "${TMPDIR:-/tmp}/goshmem-peers-XXXXXX") || exit 1
trap 'rm -rf "$tmp"' EXIT
trap 'exit 130' INT TERM

# build OUT SOURCE COMMAND… runs COMMAND -o $tmp/OUT SOURCE, once.
build() {
	local out=$tmp/$1 source=$2
	shift 2
	[ -e "$out" ] || "$@" -o "$out" "$source" "${libs[@]}" || die "cannot build ${out##*/}; README.md lists what it needs"
}
# mpi NAME builds mpi_bench.c for openmpi or mpich.
mpi() { build "mpi-$1" "$here/mpi_bench.c" "mpicc.$1" "${cflags[@]}"; }
# oshmem NAME builds shm_bench.c or shm_check.c.
oshmem() { libs=(-loshmem) && build "$1" "$here/$1.c" mpicc.openmpi "${cflags[@]}" && libs=(); }
cflags=(-O3 -march=native -Wall -Wno-deprecated-declarations) libs=()

# Everybody is bound to cores alike, if there are enough; gorun does so by itself.
bind=none
[ "$np" -gt "$(nproc)" ] || bind=core
hydra=(mpiexec.mpich -n "$np" -bind-to "$bind")
ompi=(mpirun.openmpi --allow-run-as-root --oversubscribe -np "$np" --bind-to "$bind"
	-x SHMEM_SYMMETRIC_SIZE -x BENCH_T -x UCX_HANDLE_ERRORS)
export SHMEM_SYMMETRIC_SIZE=128M BENCH_T=${BENCH_T:-0.03}
export UCX_HANDLE_ERRORS=none # no stack dumps; see oshmem in README.md

# run PEER COMMAND… appends what COMMAND measures to $tmp/figures.
limit=120 failed=0
run() {
	local peer=$1 status start=$EPOCHREALTIME
	shift
	timeout --foreground -k 2 $limit "$@" >"$tmp/out" 2>&1 </dev/null
	status=$?
	awk -v peer="$peer" 'NF == 3 && $2+0 == $2 { print peer, $0 }' "$tmp/out" >"$tmp/new"
	if [ ! -s "$tmp/new" ]; then
		complain "$peer gave no figure"
	elif [ $status = 124 ] || [ $status = 137 ]; then
		complain "$peer did not end within $limit s"
	elif [ $status != 0 ] && [[ $peer != oshmem-* ]]; then
		complain "$peer ended with status $status"
	elif grep -q 'check_errors [^0]' "$tmp/new"; then
		complain "$peer does not deliver"
	elif [ "$mode" = init ]; then
		awk -v peer="$peer" -v np="$np" -v a="$start" -v b="$EPOCHREALTIME" \
			'BEGIN { printf "%s wall_np%d %.4f s\n", peer, np, b-a }' >>"$tmp/new"
	fi
	cat "$tmp/new" >>"$tmp/figures"
}
complain() {
	echo "run-peers: $*; its last words: $(tail -n 1 "$tmp/out")" >&2
	failed=1
}

measure() {
	local peer=$1 shm=shm_bench
	[ "$mode" = check ] && shm=shm_check
	case $peer in
	goshmem)
		build gorun ./launcher/gorun go build -C "$here/../.."
		build microbench ./examples/microbench go build -C "$here/../.."
		run "$peer" "$tmp/gorun" -np "$np" "$tmp/microbench" "$mode"
		;;
	goshmem-ofi)
		build gorun ./launcher/gorun go build -C "$here/../.."
		build microbench-ofi ./examples/microbench go build -C "$here/../.." -tags ofi
		run "$peer" "$tmp/gorun" -np "$np" --fabric ofi "$tmp/microbench-ofi" "$mode"
		;;
	libfabric)
		libs=(-lfabric) && build ofi_bench "$here/ofi_bench.c" gcc "${cflags[@]}" && libs=()
		run "$peer" "$tmp/ofi_bench"
		;;
	mcs | mcs-*)
		build lock_bench "$here/lock_bench.c" gcc "${cflags[@]}" -pthread
		local mib=0 ms=0
		[[ $peer != *-heaps* ]] || mib=64
		[[ $peer != *-ticks ]] || ms=10
		run "$peer" "$tmp/lock_bench" "$np" $mib $ms
		;;
	oshmem-shm)
		oshmem $shm
		run "$peer" "${ompi[@]}" --mca sshmem ucx "$tmp/$shm" "$mode"
		;;
	oshmem-tcp)
		oshmem $shm
		UCX_TLS=tcp,self run "$peer" "${ompi[@]}" --mca pml ob1 --mca btl self,tcp -x UCX_TLS "$tmp/$shm" "$mode"
		;;
	ompi-sm | ompi-shared)
		mpi openmpi
		run "$peer" "${ompi[@]}" --mca pml ob1 --mca btl self,vader --mca osc sm "$tmp/mpi-openmpi" "$mode" "$(window "$peer")"
		;;
	ompi-tcp)
		mpi openmpi
		run "$peer" "${ompi[@]}" --mca pml ob1 --mca btl self,tcp --mca osc pt2pt --mca btl_tcp_if_include lo \
			"$tmp/mpi-openmpi" "$mode" alloc
		;;
	mpich-alloc | mpich-shared)
		mpi mpich
		run "$peer" "${hydra[@]}" "$tmp/mpi-mpich" "$mode" "$(window "$peer")"
		;;
	mpich-tcp)
		mpi mpich
		MPIR_CVAR_NOLOCAL=1 UCX_TLS=tcp,self run "$peer" "${hydra[@]}" "$tmp/mpi-mpich" "$mode" alloc
		;;
	limits)
		build limits "$here/limits.c" gcc "${cflags[@]}"
		run "$peer" "$tmp/limits"
		;;
	esac
}
# window PEER prints which kind of MPI window the peer uses.
window() { [[ $1 == *-shared ]] && echo shared || echo alloc; }

for peer; do
	case $mode/$peer in
	limits/limits | check/oshmem-shm | check/oshmem-tcp | lock/mcs | lock/mcs-heaps | lock/mcs-ticks | lock/mcs-heaps-ticks) ;;
	p2p/libfabric) [ "$np" = 2 ] || die "libfabric is two processes, not $np" ;;
	check/* | */limits | */libfabric | */mcs | */mcs-*) die "peer $peer has no mode $mode" ;;
	*/goshmem | */goshmem-ofi) ;;
	away/* | lock/*) die "peer $peer has no mode $mode" ;;
	*/oshmem-shm | */oshmem-tcp | */ompi-sm | */ompi-shared | */ompi-tcp | */mpich-alloc | */mpich-shared | */mpich-tcp) ;;
	*) die "unknown peer $peer; see run-peers.sh --help" ;;
	esac
done
for ((round = 1; round <= rounds; round++)); do
	for peer; do
		[ ! -t 2 ] || echo "run-peers: round $round of $rounds: $peer" >&2
		measure "$peer"
	done
done

# Medians over the rounds, and ratios to the best of the others.
touch "$tmp/figures"
awk '
	function better(a, b) { return higher ? a > b : a < b }
	{ key = $1 " " $2 }
	!(key in n) { order[++keys] = key; unit[key] = $4 }
	{ value[key, ++n[key]] = $3 }
	END {
		for (k = 1; k <= keys; k++) {
			key = order[k]
			for (i = 2; i <= n[key]; i++) # insertion sort
				for (j = i; j > 1 && value[key, j-1]+0 > value[key, j]+0; j--) {
					t = value[key, j]; value[key, j] = value[key, j-1]; value[key, j-1] = t
				}
			low = int((n[key]+1)/2); high = int(n[key]/2)+1
			median[key] = (value[key, low] + value[key, high]) / 2
			split(key, word, " ")
			higher = unit[key] ~ /\/s$|ups$/
			if (word[1] !~ /^goshmem/ && (!(word[2] in best) || better(median[key], best[word[2]])))
				best[word[2]] = median[key]
		}
		for (k = 1; k <= keys; k++) {
			key = order[k]
			split(key, word, " ")
			higher = unit[key] ~ /\/s$|ups$/
			ratio = "-"
			if (word[1] != "limits" && word[2] in best && best[word[2]] * median[key] > 0)
				ratio = sprintf("%.3g", higher ? median[key]/best[word[2]] : best[word[2]]/median[key])
			printf "%s %.6g %s %s\n", key, median[key], unit[key], ratio
		}
	}' "$tmp/figures"
exit $failed
