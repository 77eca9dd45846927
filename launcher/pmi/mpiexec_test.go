// SPDX-License-Identifier: BSD-3-Clause

package pmi

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goshmem/goshmem/internal/testenv"
)

// taskVar makes the test binary a task of an MPI launcher.
const taskVar = "GOSHMEM_TEST_TASK"

func TestMain(m *testing.M) {
	if what := os.Getenv(taskVar); what != "" {
		if err := task(what); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// task is what a process does whose launcher is not ours.
func task(what string) error {
	c, err := FromEnv()
	if err != nil {
		return err
	}
	if c == nil {
		return errors.New("alone")
	}
	switch what {
	case "abort":
		if c.PE() == 1 {
			return c.Abort(7, "")
		}
		return c.Barrier()
	case "gather":
		if err := gatherTest(c); err != nil {
			return err
		}
		fmt.Printf("PE %d of %d by %s\n", c.PE(), c.NPEs(), c.Launcher())
	}
	return c.Finalize()
}

func TestClient_UnderMpiexec(t *testing.T) {
	mpiexec := testenv.NeedTool(t, "mpiexec.mpich", "mpich")
	for _, args := range [][]string{{"-n", "4"}, {"-pmi-port", "-n", "4"}, {"-n", "1"}} {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		cmd := exec.CommandContext(ctx, mpiexec, append(args, os.Args[0])...)
		cmd.Env = append(os.Environ(), taskVar+"=gather")
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%v: %s", args, out)
		n := args[len(args)-1]
		require.Contains(t, string(out), "PE 0 of "+n+" by PMI-1")
		require.Equal(t, n, fmt.Sprint(bytes.Count(out, []byte("by PMI-1"))), "%s", out)
	}
}

func TestClient_AbortUnderMpiexec(t *testing.T) {
	mpiexec := testenv.NeedTool(t, "mpiexec.mpich", "mpich")
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, mpiexec, "-n", "3", os.Args[0])
	cmd.Env = append(os.Environ(), taskVar+"=abort")
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	require.ErrorAs(t, err, &exit, "%s", out)
	require.Equal(t, 7, exit.ExitCode(), "%s", out)
}

func TestClient_UnderMpirunOfOpenMPIFailsLoudly(t *testing.T) {
	mpirun := testenv.NeedTool(t, "mpirun.openmpi", "openmpi-bin")
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, mpirun, "--allow-run-as-root", "--oversubscribe", "-n", "2", os.Args[0])
	cmd.Env = append(os.Environ(), taskVar+"=gather")
	out, err := cmd.CombinedOutput()
	require.Error(t, err, "%s", out)
	require.Contains(t, string(out), "one of 2 tasks of Open MPI's mpirun", "%s", out)
}
