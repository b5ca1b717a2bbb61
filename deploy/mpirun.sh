#!/bin/sh
# One run on several hosts, started by mpirun over ssh: deploy/mpirun.sh node1,node2,node3 nightly.fio [OPTIONS OF FERRIO]
# One rank per host. MPIRUN=mpirun.mpich chooses another mpirun than the one in the path.
set -eu

hosts=$1
shift
mpirun=${MPIRUN:-mpirun}
count=$(echo "$hosts" | tr ',' '\n' | wc -l)

if "$mpirun" --version 2>&1 | grep -q 'Open MPI\|OpenRTE\|PRRTE'; then
    # Rank 0 writes its address and a secret into this file, which must be where all hosts see it, and removes it. No variables of the shell
    # reach the other hosts, so the path is absolute.
    exec "$mpirun" -n "$count" --host "$hosts" --map-by node ferrio --rendezvous="file:$PWD/.ferrio-rendezvous.$$" "$@"
fi
# MPICH, Intel MPI: the launcher passes rank 0's address on.
exec "$mpirun" -n "$count" -hosts "$hosts" ferrio "$@"
