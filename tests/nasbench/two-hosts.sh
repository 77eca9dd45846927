#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Runs nasbench on two hosts with a core each, which are network namespaces at the
# two ends of a pair of veth: goshmem over libfabric, and beside it, if given its
# folder of programs, NPB-MPI over TCP on the same link. As root, on 2 cores or more.
#
#     tests/nasbench/two-hosts.sh [--mpich DIR | --openmpi DIR] [FLAG of nasbench …]
set -eu
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

mpi=() # what starts NPB
case ${1-} in
--mpich | --openmpi)
	(($# >= 2)) || { echo "two-hosts: $1 wants a folder" >&2; exit 2; }
	mpi=("$1" "$2")
	shift 2
	;;
esac

tmp=$(mktemp -d)
net=gs$$ # hosts are $net-1 and $net-2
finish() {
	local host
	for host in $net-1 $net-2; do
		# An MPI program that has not ended in time may be left.
		ip netns pids "$host" 2>/dev/null | xargs -r kill -9 || :
		ip netns del "$host" 2>/dev/null || :
	done
	rm -rf "$tmp"
}
trap finish EXIT
trap 'exit 130' INT TERM

for host in $net-1 $net-2; do
	ip netns add "$host"
	ip -n "$host" link set lo up
done
ip link add veth netns $net-1 type veth peer name veth netns $net-2
for i in 1 2; do
	ip -n $net-$i addr add 10.78.0.$i/24 dev veth
	ip -n $net-$i link set veth up
done

# The agent of all launchers: agent [-x] 10.78.0.I COMMAND… runs it on host I, on core I-1,
# with a /dev/shm of its own. Some have quoted the command for a shell.
cat >"$tmp/agent" <<END
#!/bin/bash
[[ \$1 != -x ]] || shift
i=\${1##*.}
shift
exec ip netns exec $net-\$i taskset -c \$((i - 1)) sh -c 'mount -t tmpfs tmpfs /dev/shm && eval "exec \$*"' sh "\$@"
END
chmod +x "$tmp/agent"

export GORUN_HOST=10.78.0.1:1,10.78.0.2:1 GORUN_LAUNCHER_EXEC="$tmp/agent {host}"
export GOFLAGS="${GOFLAGS:+$GOFLAGS }-tags=ofi" CGO_ENABLED=1

# MPI's launcher runs on the first host, and starts that one's process itself.
flags=(-np 2)
case ${mpi[0]-} in
--mpich)
	export UCX_TLS=tcp,self UCX_NET_DEVICES=veth MPIR_CVAR_NOLOCAL=1
	flags+=(-npb "${mpi[1]}" -mpirun "$tmp/agent 10.78.0.1 mpirun.mpich -np {np} -hosts 10.78.0.1:1,10.78.0.2:1
		-iface veth -launcher ssh -launcher-exec $tmp/agent")
	;;
--openmpi)
	export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
	flags+=(-npb "${mpi[1]}" -mpirun "$tmp/agent 10.78.0.1 mpirun.openmpi -np {np} --host 10.78.0.1:1,10.78.0.2:1
		--bind-to none --mca plm_rsh_agent $tmp/agent --mca pml ob1 --mca btl tcp,self
		--mca btl_tcp_if_include veth --mca oob_tcp_if_include veth")
	;;
esac
go run ./tests/nasbench "${flags[@]}" "$@"
