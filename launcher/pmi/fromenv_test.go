// SPDX-License-Identifier: BSD-3-Clause

package pmi

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func lookupIn(vars map[string]string) lookup {
	return func(name string) (string, bool) {
		value, ok := vars[name]
		return value, ok
	}
}

func TestFromEnv_LoneProcess(t *testing.T) {
	tests := map[string]map[string]string{
		"nothing":                  {},
		"in an sbatch script":      {"SLURM_JOB_ID": "7", "SLURM_NTASKS": "8", "SLURM_PROCID": "0", "SLURM_TASKS_PER_NODE": "8"},
		"srun of one task":         {"SLURM_STEP_ID": "0", "SLURM_STEP_NUM_TASKS": "1", "SLURM_NTASKS": "8", "PMIX_RANK": "0"},
		"mpirun of one task":       {"OMPI_COMM_WORLD_RANK": "0", "OMPI_COMM_WORLD_SIZE": "1", "PMIX_RANK": "0"},
		"PMI with one task":        {"PMI_RANK": "0", "PMI_SIZE": "1"},
		"variables of gorun's own": {"GORUN_NP": "4", "GORUN_LABEL": "1"},
	}
	for name, vars := range tests {
		c, err := fromEnv(lookupIn(vars))
		require.NoError(t, err, name)
		require.Nil(t, c, name)
	}
}

func TestFromEnv_RefusesToBeOneOfManyLonePEs(t *testing.T) {
	tests := []struct {
		vars map[string]string
		want []string
	}{
		{
			map[string]string{"OMPI_COMM_WORLD_RANK": "3", "OMPI_COMM_WORLD_SIZE": "4", "PMIX_RANK": "3"},
			[]string{"Open MPI", "one of 4 tasks", "OMPI_COMM_WORLD_RANK=3", "gorun -n 4", "mpiexec.mpich -n 4"},
		},
		{
			map[string]string{"SLURM_STEP_ID": "0", "SLURM_STEP_NUM_TASKS": "2", "SLURM_NTASKS": "1"},
			[]string{"srun", "one of 2 tasks", "srun --mpi=pmi2 -n 2", "gorun -n 2"},
		},
		{
			map[string]string{"SLURM_STEP_ID": "1", "SLURM_NTASKS": "8"},
			[]string{"srun", "one of 8 tasks"},
		},
		{
			map[string]string{"PMIX_RANK": "0", "PMIX_NAMESPACE": "x"},
			[]string{"PMIx", "one of N tasks", "gorun -n N"},
		},
		{
			map[string]string{"PMI_RANK": "1", "PMI_SIZE": "2"},
			[]string{"no PMI_FD", "one of 2 tasks", "mpiexec.mpich -n 2"},
		},
		{
			map[string]string{"PMI_RANK": "1"},
			[]string{"no PMI_FD", "one of N tasks"},
		},
		{
			map[string]string{"FLUX_TASK_RANK": "1", "FLUX_JOB_SIZE": "2"},
			[]string{"Flux", "flux run -o pmi=simple -n 2"},
		},
		{
			map[string]string{"PALS_RANKID": "1", "PALS_SIZE": "16"},
			[]string{"PALS", "gorun -n 16"},
		},
	}
	for _, test := range tests {
		c, err := fromEnv(lookupIn(test.vars))
		require.Nil(t, c, "%v", test.vars)
		for _, want := range test.want {
			require.ErrorContains(t, err, want)
		}
	}
}

func TestFromEnv_NamesBadVariables(t *testing.T) {
	gorun := func(name, value string) map[string]string {
		vars := map[string]string{EnvAddr: "127.0.0.1:1", EnvPE: "0", EnvNPEs: "2", EnvSecret: "900000:1", EnvSegment: "900001"}
		if value == "" {
			delete(vars, name)
		} else {
			vars[name] = value
		}
		return vars
	}
	tests := []struct {
		vars map[string]string
		want string
	}{
		{gorun(EnvPE, ""), EnvPE + " is not set"},
		{gorun(EnvPE, "2"), "want a number from 0 to 1"},
		{gorun(EnvPE, "x"), EnvPE},
		{gorun(EnvNPEs, "0"), EnvNPEs},
		{gorun(EnvCores, "0,x"), EnvCores + `="0,x": want numbers of cores`},
		{gorun(EnvCores, "-1"), EnvCores + `="-1": want numbers of cores`},
		{gorun(EnvSource, "eth0"), EnvSource + `="eth0": want an IP address`},
		{gorun(EnvSecret, ""), EnvSecret},
		{gorun(EnvSecret, "3"), "want descriptor:inode"},
		{gorun(EnvSecret, "1:5"), "want descriptor:inode"},
		{gorun("none", ""), "file descriptor 900000 is not the launcher's pipe"},
		{map[string]string{"PMI_FD": "900000", "PMI_RANK": "0", "PMI_SIZE": "2"}, "PMI_FD"},
		{map[string]string{"PMI_FD": "5", "PMI_RANK": "2", "PMI_SIZE": "2"}, "PMI_RANK"},
		{map[string]string{"PMI_PORT": "127.0.0.1:1"}, "PMI_ID is not set"},
		{map[string]string{"PMI_PORT": "127.0.0.1:1", "PMI_ID": "0"}, "PMI_PORT=127.0.0.1:1"},
	}
	for _, test := range tests {
		c, err := fromEnv(lookupIn(test.vars))
		require.Nil(t, c, "%v", test.vars)
		require.ErrorContains(t, err, test.want, "%v", test.vars)
	}
}
