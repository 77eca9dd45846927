// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// The kernels, and the classes of their problems.
var (
	known        = [...]string{"ep", "is", "cg", "mg", "ft"}
	knownClasses = [...]string{"S", "W", "A", "B", "C", "D"}
)

// A sample is the speed of a kernel, in a class, on a number of PEs. Of those that it refuses,
// nothing is measured.
type sample struct {
	Kernel string    `json:"kernel"`
	Class  string    `json:"class"`
	PEs    int       `json:"np"`
	Ours   []float64 `json:"goshmem_mops,omitempty"` // of each round
	Peer   []float64 `json:"npb_mops,omitempty"`     // as Ours, or fewer: those that were too slow

	Refused string `json:"refused,omitempty"` // why the kernel does not run on so many PEs
}

// measure runs everything that o asks for. It notes what kernels refuse.
func measure(ctx context.Context, o *options, notes io.Writer) ([]sample, error) {
	dir, err := os.MkdirTemp("", "nasbench")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	build := []string{"build", "-o", dir + "/", "./launcher/gorun"}
	for _, k := range o.kernels {
		build = append(build, "./examples/nas/"+k)
	}
	if out, err := exec.CommandContext(ctx, "go", build...).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("go %s: %w\n%s", strings.Join(build, " "), err, out)
	}
	var samples []sample
	for _, k := range o.kernels {
		for _, class := range o.classes {
			for _, np := range o.pes {
				s := sample{Kernel: k, Class: class, PEs: np}
				if err := s.measure(ctx, o, dir); err != nil {
					return nil, err
				}
				if s.Refused != "" {
					fmt.Fprintln(notes, s.Refused)
				}
				samples = append(samples, s)
			}
		}
	}
	return samples, nil
}

// measure takes o.rounds turns of the kernel in dir and its peer.
func (s *sample) measure(ctx context.Context, o *options, dir string) error {
	np := strconv.Itoa(s.PEs)
	ours := append(append([]string{filepath.Join(dir, "gorun"), "-np", np}, o.gorun...), filepath.Join(dir, s.Kernel), "-class", s.Class, "-json")
	var peer []string
	if o.npb != "" {
		for _, word := range o.mpirun {
			peer = append(peer, strings.ReplaceAll(word, "{np}", np))
		}
		peer = append(peer, filepath.Join(o.npb, s.Kernel+"."+s.Class+".x"))
	}
	for range o.rounds {
		speed, err := runOnce(ctx, o.timeout, ours, ourSpeed)
		if s.Refused = refusal(err, s.Kernel); s.Refused != "" {
			return nil
		}
		if err != nil {
			return err
		}
		s.Ours = append(s.Ours, speed)
		if peer == nil {
			continue
		}
		switch speed, err := runOnce(ctx, o.timeout, peer, peerSpeed); {
		case err == nil:
			s.Peer = append(s.Peer, speed)
		case errors.Is(err, context.DeadlineExceeded):
			peer = nil // it would take as long in every round
		default:
			return err
		}
	}
	return nil
}

// refusal returns why a kernel refused to run: what it wrote, and not the launcher, whose
// status for bad usage is the same. It returns "" if err is anything else.
func refusal(err error, kernel string) string {
	var failed *runError
	var exit *exec.ExitError
	if !errors.As(err, &failed) || !errors.As(err, &exit) || exit.ExitCode() != 2 {
		return ""
	}
	for line := range strings.Lines(failed.stderr) {
		if strings.HasPrefix(line, kernel+": ") {
			return strings.TrimSpace(line)
		}
	}
	return ""
}

// A runError is why a run failed, and what it printed.
type runError struct {
	command, stdout, stderr string
	why                     error
}

func (e *runError) Error() string {
	return fmt.Sprintf("%s: %v\n%s%s", e.command, e.why, e.stdout, e.stderr)
}

func (e *runError) Unwrap() error { return e.why }

// runOnce runs a command and returns the speed that read finds in what it prints.
func runOnce(ctx context.Context, limit time.Duration, args []string, read func(out []byte) (float64, error)) (float64, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	c := exec.CommandContext(ctx, args[0], args[1:]...)
	// Launchers end their processes when they are asked to, and not when they are killed.
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) }
	c.WaitDelay = 10 * time.Second
	var stdout, stderr bytes.Buffer
	c.Stdout, c.Stderr = &stdout, &stderr
	err := c.Run()
	if ctx.Err() != nil {
		return 0, fmt.Errorf("%s: %w", strings.Join(args, " "), ctx.Err())
	}
	var speed float64
	if err == nil {
		speed, err = read(stdout.Bytes())
	}
	if err != nil {
		return 0, &runError{strings.Join(args, " "), stdout.String(), stderr.String(), err}
	}
	return speed, nil
}

// ourSpeed returns the Mop/s of a kernel's report in JSON.
func ourSpeed(out []byte) (float64, error) {
	var report struct {
		Speed        float64 `json:"mops_total"`
		Verification string  `json:"verification"`
	}
	if err := json.Unmarshal(out, &report); err != nil {
		return 0, err
	}
	return verified(report.Speed, report.Verification)
}

// peerSpeed returns the Mop/s of a report of NPB.
func peerSpeed(out []byte) (float64, error) {
	values := map[string]string{}
	for line := range strings.Lines(string(out)) {
		if key, value, ok := strings.Cut(line, "="); ok {
			values[strings.TrimSpace(key)] = strings.TrimSpace(value)
		}
	}
	speed, err := strconv.ParseFloat(values["Mop/s total"], 64)
	if err != nil {
		return 0, fmt.Errorf("the line Mop/s total: %w", err)
	}
	return verified(speed, values["Verification"])
}

func verified(speed float64, verification string) (float64, error) {
	if verification != "SUCCESSFUL" || speed <= 0 {
		return 0, fmt.Errorf("%.2f Mop/s, verification %q", speed, verification)
	}
	return speed, nil
}
