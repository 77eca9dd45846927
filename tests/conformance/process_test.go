// SPDX-License-Identifier: BSD-3-Clause

package conformance

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/goshmem/goshmem/shmem"
)

// programEnv makes the test binary the program of a PE. Its value is the folder
// for the PEs' reports.
const programEnv = "GOSHMEM_CONFORMANCE_PROGRAM"

// rowEnv, if set, is the one row to run, by its index in the table, or another program.
const rowEnv = "GOSHMEM_CONFORMANCE_ROW"

// A way is one of processes to reach each other.
type way struct {
	place string
	on    where
	env   []string
	far   bool // it needs libfabric
}

// ways returns those that the document has.
func ways() []way {
	return []way{
		{"shm", onShm, nil, false},
		{"ofi tcp;ofi_rxm", onOfi, []string{"SHMEM_FABRIC=ofi", "FI_PROVIDER=tcp"}, true},
		{"ofi sockets", onOfi, []string{"SHMEM_FABRIC=ofi", "FI_PROVIDER=sockets"}, true},
		{"shm with atomics by ofi", onMixed, []string{"SHMEM_ATOMICS=fabric"}, true},
	}
}

// wayEnv is the way's place: it tells the program which rows it has.
const wayEnv = "GOSHMEM_CONFORMANCE_WAY"

// runProcesses runs all rows as processes under gorun, in each way: those that return in one
// job for each number of PEs, the others in a job of their own.
func runProcesses(t *testing.T, ran *coverage) {
	t.Helper()
	needProcesses(t)
	gorun := buildGorun(t)
	for _, w := range ways() {
		t.Run(w.place, func(t *testing.T) {
			if w.far {
				needLibfabric(t)
			}
			w.env = append(w.env, wayEnv+"="+w.place)
			runWay(t, ran, gorun, w)
		})
	}
}

func runWay(t *testing.T, ran *coverage, gorun string, w way) {
	t.Helper()
	table := rows()
	for _, np := range counts {
		if !takes(np) {
			continue
		}
		dir := t.TempDir()
		out, status := startJob(t, gorun, np, append(w.env, programEnv+"="+dir)...)
		reports := readReports(t, dir, np)
		for i, r := range table {
			if !r.runsOn(w.on) || r.ends != returns || np < r.np {
				continue
			}
			t.Run(fmt.Sprintf("%s/%d", r.title(), np), func(t *testing.T) {
				for pe := range np {
					switch report, ok := reports[pe][i]; {
					case !ok:
						t.Errorf("PE %d of %d did not finish the row; the job ended with status %d:\n%s", pe, np, status, out)
					case report != "":
						t.Errorf("PE %d of %d: %s", pe, np, report)
					}
				}
				if !t.Failed() {
					ran.add(&r, w.place, np)
				}
			})
		}
		if status != 0 {
			t.Errorf("%d PEs: status %d:\n%s", np, status, out)
		}
	}
	for i, r := range table {
		if r.runsOn(w.on) && r.ends != returns {
			t.Run(r.title(), func(t *testing.T) {
				t.Parallel() // a job of its own waits more than it computes
				for _, np := range r.runCounts() {
					if !takes(np) {
						continue
					}
					runAlone(t, gorun, i, &r, np, w.env)
					ran.add(&r, w.place, np)
				}
			})
		}
	}
}

// TestLibfabricBranches runs the table in the ways of using libfabric that the providers
// here do not ask for.
func TestLibfabricBranches(t *testing.T) {
	needProcesses(t)
	needLibfabric(t)
	gorun := buildGorun(t)
	for _, use := range []string{"allocated", "readback", "tx=4", "flood=1"} {
		t.Run(use, func(t *testing.T) {
			for _, w := range ways() {
				if w.on != onOfi && w.on != onMixed || strings.Contains(w.place, "sockets") {
					continue
				}
				out, status := startJob(t, gorun, 3, append(w.env, "SHMEM_LIBFABRIC="+use, wayEnv+"="+w.place, programEnv+"="+t.TempDir())...)
				if status != 0 {
					t.Errorf("%s: status %d:\n%s", w.place, status, out)
				}
			}
		})
	}
}

// endsWithin is how soon a job ends after GlobalExit, or it does not.
const endsWithin = 20 * time.Second

// runAlone runs a row that ends its PEs itself.
func runAlone(t *testing.T, gorun string, i int, r *row, np int, env []string) {
	t.Helper()
	start := time.Now()
	out, status := startJob(t, gorun, np, append(env[:len(env):len(env)], programEnv+"="+t.TempDir(), rowEnv+"="+strconv.Itoa(i))...)
	if want := max(r.ends.status(), 0); status != want {
		t.Fatalf("%d PEs: status %d, want %d:\n%s", np, status, want, out)
	}
	if took := time.Since(start); took > endsWithin {
		t.Fatalf("%d PEs: the job took %v to end", np, took)
	}
}

// startJob runs this test binary as a job and returns its output and status.
func startJob(t *testing.T, gorun string, np int, env ...string) (string, int) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), gorun, "-n", strconv.Itoa(np), "--heap", "64M", "--label", "--timeout", "120", self)
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

// buildGorun builds the command into a folder of the test's.
func buildGorun(t *testing.T) string {
	t.Helper()
	gorun := filepath.Join(t.TempDir(), "gorun")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", gorun, "../../launcher/gorun").CombinedOutput(); err != nil {
		t.Fatalf("build gorun: %v\n%s", err, out)
	}
	return gorun
}

// readReports returns what each PE wrote about rows, by index; "" is success.
func readReports(t *testing.T, dir string, np int) []map[int]string {
	t.Helper()
	reports := make([]map[int]string, np)
	for pe := range np {
		reports[pe] = map[int]string{}
		b, err := os.ReadFile(reportFile(dir, pe))
		if err != nil {
			continue // the PE reached no row, which the caller reports
		}
		for s := bufio.NewScanner(bytes.NewReader(b)); s.Scan(); {
			index, text, _ := strings.Cut(s.Text(), " ")
			i, err := strconv.Atoi(index)
			if err != nil {
				t.Fatal(err)
			}
			if reports[pe][i], err = strconv.Unquote(text); err != nil {
				t.Fatal(err)
			}
		}
	}
	return reports
}

func reportFile(dir string, pe int) string { return filepath.Join(dir, "pe"+strconv.Itoa(pe)) }

// program is the life of a PE as a process. It returns the exit status.
func program(dir string) int {
	one := os.Getenv(rowEnv)
	if rounds, ok := strings.CutPrefix(one, stressRow); ok {
		n, err := strconv.Atoi(rounds)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		shmem.Main(stress(n))
		return 0
	}
	switch one {
	case "":
	case churnRow:
		shmem.Main(churn)
		return 0
	case sleepRow:
		shmem.Main(sleepers)
		return 0
	default:
		return programOfRow(one)
	}
	i := slices.IndexFunc(ways(), func(w way) bool { return w.place == os.Getenv(wayEnv) })
	if i < 0 {
		fmt.Fprintf(os.Stderr, "%s=%q names no way\n", wayEnv, os.Getenv(wayEnv))
		return 1
	}
	on := ways()[i].on
	shmem.Main(func(pe *shmem.PE) error {
		f, err := os.Create(reportFile(dir, pe.MyPE()))
		if err != nil {
			return err
		}
		for i, r := range rows() {
			if !r.runsOn(on) || r.ends != returns || pe.NPEs() < r.np {
				continue
			}
			err := protected(r.run, pe)
			text := ""
			if err != nil {
				text = err.Error()
			}
			if _, werr := fmt.Fprintf(f, "%d %q\n", i, text); werr != nil {
				return werr
			}
			if err != nil {
				return fmt.Errorf("%s: %w", r.title(), err) // the others can't go on alone
			}
			pe.BarrierAll()
		}
		return f.Close()
	})
	return 0
}

// programOfRow is the life of a PE that the row ends.
func programOfRow(index string) int {
	pe, err := shmem.Init()
	if err == nil {
		var i int
		if i, err = strconv.Atoi(index); err == nil {
			err = rows()[i].run(pe)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// protected is run with panics as errors.
func protected(run func(*shmem.PE) error, pe *shmem.PE) error {
	o := call(run, pe)
	if o.panicked != nil {
		return fmt.Errorf("panic: %v", o.panicked)
	}
	return o.err
}
