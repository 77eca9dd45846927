// SPDX-License-Identifier: BSD-3-Clause

//go:build linux

// Package death_test holds what happens when jobs end badly, as a user sees it:
// the right status, the right last line, in time, and nothing left behind. The
// programs are this test binary, run again by gorun.
package death_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/goshmem/goshmem/shmem"
)

// programEnv names the program that the binary is to run instead of the tests.
const programEnv = "GOSHMEM_DEATH_PROGRAM"

var gorun string // the path of gorun, built by TestMain

func TestMain(m *testing.M) {
	if name := os.Getenv(programEnv); name != "" {
		shmem.Main(programs[name])
	}
	os.Exit(testMain(m))
}

func testMain(m *testing.M) int {
	dir, err := os.MkdirTemp("", "death")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	gorun = filepath.Join(dir, "gorun")
	if out, err := exec.Command("go", "build", "-o", gorun, "github.com/goshmem/goshmem/launcher/gorun").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build gorun: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

// programs are what the PEs run. PE 1 misbehaves; the others are in a barrier,
// which they can't leave.
var programs = map[string]func(*shmem.PE) error{
	"does nothing": func(pe *shmem.PE) error { return nil },
	"panics": func(pe *shmem.PE) error {
		if pe.MyPE() == 1 {
			var p *int
			_ = *p
		}
		pe.BarrierAll()
		return nil
	},
	"panics elsewhere": func(pe *shmem.PE) error {
		if pe.MyPE() == 1 {
			go func() { panic("in a goroutine") }()
			select {}
		}
		pe.BarrierAll()
		return nil
	},
	"returns an error": func(pe *shmem.PE) error {
		if pe.MyPE() == 1 {
			return errors.New("no luck today")
		}
		pe.BarrierAll()
		return nil
	},
	"exits 3": func(pe *shmem.PE) error {
		if pe.MyPE() == 1 {
			fmt.Fprintln(os.Stderr, "going home early")
			os.Exit(3)
		}
		pe.BarrierAll()
		return nil
	},
	"exits 0": func(pe *shmem.PE) error {
		if pe.MyPE() == 1 {
			os.Exit(0)
		}
		pe.BarrierAll()
		return nil
	},
	"is killed": func(pe *shmem.PE) error {
		if pe.MyPE() == 1 {
			return syscall.Kill(os.Getpid(), syscall.SIGKILL)
		}
		pe.BarrierAll()
		return nil
	},
	"exits globally": func(pe *shmem.PE) error {
		if pe.MyPE() == 1 {
			pe.GlobalExit(7)
		}
		pe.BarrierAll()
		return nil
	},
	"exits globally with 0": func(pe *shmem.PE) error {
		if pe.MyPE() == 1 {
			pe.GlobalExit(0)
		}
		compute()
		return nil
	},
	"misses a barrier": func(pe *shmem.PE) error {
		if pe.MyPE() != 1 {
			pe.BarrierAll()
		}
		return nil
	},
	"computes": func(pe *shmem.PE) error {
		pe.BarrierAll()
		compute()
		return nil
	},
	"hangs": func(pe *shmem.PE) error {
		if pe.MyPE() == 1 {
			select {}
		}
		fmt.Println("waiting")
		pe.BarrierAll()
		return nil
	},
	"misuses": func(pe *shmem.PE) error {
		x, err := shmem.Alloc[int64](pe, 8)
		if err != nil {
			return err
		}
		if pe.MyPE() == 1 {
			shmem.Put(x, make([]int64, 64), 0)
		}
		pe.BarrierAll()
		return nil
	},
	"allocates unlike": func(pe *shmem.PE) error {
		n := 64
		if pe.MyPE() == 1 {
			n = 4096
		}
		_, err := shmem.Alloc[int64](pe, n)
		return err
	},
	"sums": func(pe *shmem.PE) error {
		x, err := shmem.Alloc[int64](pe, 1)
		if err != nil {
			return err
		}
		for range 1000 {
			for target := range pe.NPEs() {
				shmem.AtomicInc(x, target)
			}
			pe.BarrierAll()
		}
		if got, want := x.Local()[0], int64(1000*pe.NPEs()); got != want {
			return fmt.Errorf("counted %d, want %d", got, want)
		}
		return nil
	},
	"wants too much": func(pe *shmem.PE) error {
		_, err := shmem.Alloc[int64](pe, 1<<40)
		if err == nil {
			return errors.New("got 8 TiB")
		}
		return err
	},
}

// compute goes on for longer than any test, without a call of the library.
func compute() {
	for begin := time.Now(); time.Since(begin) < time.Hour; {
	}
}

// result is how a job ended.
type result struct {
	stdout, stderr string
	status         int
	took           time.Duration
}

// lastLine is what gorun says at the end.
func (r result) lastLine() string {
	lines := strings.Split(strings.TrimSpace(r.stderr), "\n")
	return lines[len(lines)-1]
}

// command is a job of np PEs.
func command(t *testing.T, program string, np int, flags ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	t.Cleanup(cancel)
	args := append([]string{"-np", strconv.Itoa(np)}, flags...)
	cmd := exec.CommandContext(ctx, gorun, append(args, self)...)
	cmd.Env = append(os.Environ(), programEnv+"="+program, "GOSHMEM_DEATH_JOB="+t.Name())
	return cmd
}

func run(t *testing.T, program string, np int, flags ...string) result {
	t.Helper()
	before := leftovers(t)
	cmd := command(t, program, np, flags...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	begin := time.Now()
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	r := result{out.String(), errs.String(), cmd.ProcessState.ExitCode(), time.Since(begin)}
	nothingLeft(t, before)
	return r
}

// pace is what to add to a bound for the machine: it may have other work, and the
// race detector holds up every exit by a second. It is three good jobs' time.
func pace(t *testing.T) time.Duration {
	t.Helper()
	good := run(t, "does nothing", 4)
	if good.status != 0 {
		t.Fatalf("a job that does nothing has status %d:\n%s", good.status, good.stderr)
	}
	return 3 * good.took
}

// leftovers returns what a job might leave in the file system.
func leftovers(t *testing.T) []string {
	t.Helper()
	var names []string
	for _, pattern := range []string{"/dev/shm/*goshmem*", filepath.Join(os.TempDir(), "*gorun*")} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, found...)
	}
	return names
}

// nothingLeft fails the test if a process of its job lives on, or a file is new.
func nothingLeft(t *testing.T, before []string) {
	t.Helper()
	deadline := time.Now().Add(2 * time.Second)
	alive := jobProcesses(t)
	for len(alive) > 0 && time.Now().Before(deadline) {
		time.Sleep(10 * time.Millisecond) // what a killed process does has no signal to wait for
		alive = jobProcesses(t)
	}
	if len(alive) > 0 {
		t.Errorf("processes of the job live on: %v", alive)
	}
	for _, name := range leftovers(t) {
		if !slices.Contains(before, name) {
			t.Errorf("the job left %s", name)
		}
	}
}

// jobProcesses returns the processes, zombies aside, that carry this test's mark.
func jobProcesses(t *testing.T) []string {
	t.Helper()
	dirs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		t.Fatal(err)
	}
	mark := []byte("GOSHMEM_DEATH_JOB=" + t.Name() + "\x00")
	var alive []string
	for _, dir := range dirs {
		env, err := os.ReadFile(dir + "/environ")
		if err != nil || !bytes.Contains(env, mark) {
			continue // another user's, gone, or a zombie, whose environment is empty
		}
		name, err := os.ReadFile(dir + "/cmdline")
		if err == nil {
			alive = append(alive, fmt.Sprintf("%s (%q)", filepath.Base(dir), name))
		}
	}
	return alive
}

// either is the status where several PEs fail at once, some by an error, some
// by a panic, and any may be first.
const either = -1

func TestDeath(t *testing.T) {
	tests := []struct {
		program string
		np      int
		status  int
		says    []string // somewhere on standard error
		last    []string // in its last line
	}{
		{"panics", 4, 2, []string{"PE 1: panic", "death_test.go"}, []string{"PE 1", "2"}},
		{"panics elsewhere", 4, 2, []string{"in a goroutine"}, []string{"PE 1", "2"}},
		{"returns an error", 4, 1, []string{"PE 1: no luck today"}, []string{"PE 1", "no luck today"}},
		{"exits 3", 4, 3, nil, []string{"PE 1", "3", "going home early"}},
		{"exits 0", 4, 1, nil, []string{"PE 1", "Finalize"}},
		{"is killed", 4, 128 + 9, nil, []string{"PE 1", "9"}},
		{"exits globally", 4, 7, nil, []string{"PE 1"}},
		{"exits globally with 0", 2, 0, nil, nil},
		{"misses a barrier", 3, either, []string{"BarrierAll", "Finalize", "death_test.go"}, []string{"PE"}},
		{"misuses", 2, 2, []string{"Put", "PE 1", "64 elements", "8", "death_test.go"}, []string{"PE 1"}},
		{"allocates unlike", 3, 2, []string{"Alloc of 64 elements", "Alloc of 4096 elements", "death_test.go"}, []string{"PE"}},
		{"wants too much", 2, 1, []string{"--heap", "SHMEM_SYMMETRIC_SIZE"}, []string{"PE"}},
	}
	limit := 2*time.Second + pace(t)
	for _, test := range tests {
		t.Run(test.program, func(t *testing.T) {
			r := run(t, test.program, test.np)
			if r.status != test.status && (test.status != either || r.status != 1 && r.status != 2) {
				t.Errorf("status %d, want %d", r.status, test.status)
			}
			if r.took > limit {
				t.Errorf("the job took %v to end, want at most %v", r.took, limit)
			}
			for _, want := range test.says {
				if !strings.Contains(r.stderr, want) {
					t.Errorf("standard error does not say %q", want)
				}
			}
			for _, want := range test.last {
				if !strings.Contains(r.lastLine(), want) {
					t.Errorf("the last line does not say %q", want)
				}
			}
			if t.Failed() {
				t.Logf("standard error:\n%s", r.stderr)
			}
		})
	}
}

func TestDeath_TimeoutEndsAHang(t *testing.T) {
	r := run(t, "hangs", 3, "--timeout", "1")
	if r.status != 124 {
		t.Errorf("status %d, want 124", r.status)
	}
	if limit := 3*time.Second + pace(t); r.took > limit {
		t.Errorf("a time-out of 1 s took %v, want at most %v", r.took, limit)
	}
	if !strings.Contains(r.lastLine(), "1s") {
		t.Errorf("the last line does not name the time-out:\n%s", r.stderr)
	}
}

func TestDeath_NothingSurvivesTheLaunchersDeath(t *testing.T) {
	for _, program := range []string{"hangs", "computes"} {
		t.Run(program, func(t *testing.T) {
			before := leftovers(t)
			cmd := command(t, program, 4)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			for len(jobProcesses(t)) < 6 { // gorun, its proxy, and four PEs
				time.Sleep(time.Millisecond)
			}
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait() // killed, as it says
			nothingLeft(t, before)
		})
	}
}

func TestDeath_TwoJobsAreIndependent(t *testing.T) {
	good, bad := command(t, "sums", 2), command(t, "is killed", 2)
	if err := bad.Start(); err != nil {
		t.Fatal(err)
	}
	out, err := good.CombinedOutput()
	if err != nil {
		t.Errorf("the good job: %v\n%s", err, out)
	}
	if bad.Wait() == nil {
		t.Error("the bad job ended well")
	}
}
