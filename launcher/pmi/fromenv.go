// SPDX-License-Identifier: BSD-3-Clause

package pmi

import (
	"fmt"
	"os"
	"strconv"
)

// lookup has the signature of os.LookupEnv.
type lookup func(name string) (value string, ok bool)

// FromEnv connects to the launcher that started this process, as the
// environment tells: gorun (GORUN_JOB_*), else a PMI-1 process manager by an
// inherited descriptor (PMI_FD) or by TCP (PMI_PORT and PMI_ID). It returns
// nil and no error if no launcher did: the process is then a job of one PE.
//
// A task of a launcher whose protocol can't be used is an error that names the
// launcher and what to do: else n tasks would run as n jobs of one PE each.
// Merely standing in an allocation, as a batch script does, is none.
//
// FromEnv leaves the environment as it is, but children of this process do not
// inherit the descriptors. Call it once.
func FromEnv() (*Client, error) {
	c, err := fromEnv(os.LookupEnv)
	if err != nil {
		return nil, fmt.Errorf("pmi: %w", err)
	}
	return c, nil
}

func fromEnv(lookup lookup) (*Client, error) {
	if _, ok := lookup(EnvAddr); ok {
		return fromGorun(lookup)
	}
	if _, ok := lookup(envPMIFD); ok {
		return fromPMIFD(lookup)
	}
	if _, ok := lookup(envPMIPort); ok {
		return fromPMIPort(lookup)
	}
	return nil, foreignTask(lookup)
}

// A launcher is a foreign one, as its tasks know it.
type launcher struct {
	name   string
	rank   string   // set in the environment of its tasks
	sizes  []string // the first one set is the number of tasks
	remedy string   // a format of the number of tasks
}

// launchers are those whose tasks we recognize, most telling first: Slurm sets
// its own variables also for a task with PMIx.
var launchers = [...]launcher{
	{
		name:   "Open MPI's mpirun",
		rank:   "OMPI_COMM_WORLD_RANK",
		sizes:  []string{"OMPI_COMM_WORLD_SIZE"},
		remedy: "start it with gorun -n %[1]s or mpiexec.mpich -n %[1]s",
	},
	{
		name:   "Slurm's srun",
		rank:   "SLURM_STEP_ID",
		sizes:  []string{"SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"},
		remedy: "start it with srun --mpi=pmi2 -n %[1]s, or with gorun -n %[1]s",
	},
	{
		name:   "a PMIx launcher",
		rank:   "PMIX_RANK",
		sizes:  []string{"PMIX_SIZE"},
		remedy: "start it with gorun -n %[1]s, mpiexec.mpich -n %[1]s or srun --mpi=pmi2 -n %[1]s",
	},
	{
		name:   "Flux",
		rank:   "FLUX_TASK_RANK",
		sizes:  []string{"FLUX_JOB_SIZE"},
		remedy: "start it with flux run -o pmi=simple -n %[1]s, or with gorun -n %[1]s",
	},
	{
		name:   "Cray PALS",
		rank:   "PALS_RANKID",
		sizes:  []string{"PALS_SIZE"},
		remedy: "start it with gorun -n %[1]s",
	},
	{
		name:   "a PMI launcher that gave no connection (no PMI_FD and no PMI_PORT)",
		rank:   "PMI_RANK",
		sizes:  []string{"PMI_SIZE"},
		remedy: "start it with gorun -n %[1]s, mpiexec.mpich -n %[1]s or srun --mpi=pmi2 -n %[1]s; if a script starts it, let file descriptors through",
	},
}

// foreignTask reports the launcher that this process is one of several tasks of.
func foreignTask(lookup lookup) error {
	for _, l := range launchers {
		rank, ok := lookup(l.rank)
		if !ok {
			continue
		}
		size := "N" // not known: it may well be more than one
		for _, name := range l.sizes {
			if s, ok := lookup(name); ok {
				size = s
				break
			}
		}
		if n, err := strconv.Atoi(size); err == nil && n <= 1 {
			return nil
		}
		return fmt.Errorf("this process is one of %s tasks of %s (%s=%s), whose protocol goshmem does not speak; %s",
			size, l.name, l.rank, rank, fmt.Sprintf(l.remedy, size))
	}
	return nil
}
