// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goshmem/goshmem/internal/testenv"
)

const mpiProgram = `
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
	int rank, size, near, sum;
	MPI_Comm node;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (argc > 1 && rank == 1) MPI_Abort(MPI_COMM_WORLD, atoi(argv[1]));
	MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node);
	MPI_Comm_size(node, &near);
	MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	printf("rank %d of %d, %d near, sum %d\n", rank, size, near, sum);
	MPI_Finalize();
	return 0;
}
`

// buildMPI compiles the program with MPICH.
func buildMPI(t *testing.T) (program string) {
	t.Helper()
	mpicc := testenv.NeedTool(t, "mpicc.mpich", "libmpich-dev")
	dir := t.TempDir()
	source := filepath.Join(dir, "sum.c")
	program = filepath.Join(dir, "sum")
	require.NoError(t, os.WriteFile(source, []byte(mpiProgram), 0o644))
	out, err := exec.Command(mpicc, "-o", program, source).CombinedOutput()
	require.NoError(t, err, "%s", out)
	return program
}

func TestMPI_ProgramsOfMPICHRun(t *testing.T) {
	t.Parallel()
	program := buildMPI(t)
	r := run(t, "-np", "3", program)
	require.Zero(t, r.status, r.stderr)
	require.ElementsMatch(t, []string{
		"rank 0 of 3, 3 near, sum 3",
		"rank 1 of 3, 3 near, sum 3",
		"rank 2 of 3, 3 near, sum 3",
	}, linesOf(r.stdout))

	r = run(t, "-np", "3", program, "9")
	require.Equal(t, 9, r.status, r.stderr)
	require.Contains(t, lastLine(r.stderr), "gorun: PE 1 ended the job with status 9")
}
