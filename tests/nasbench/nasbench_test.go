// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRun_BesideAPeer(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds and starts programs")
	}
	dir := t.TempDir()
	peer := "#!/bin/sh\nif [ $NP = 2 ]; then echo ' Mop/s total = 50.0'; else exec sleep 60; fi\necho ' Verification = SUCCESSFUL'\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "is.S.x"), []byte(peer), 0o755))
	t.Chdir("../..")
	var out bytes.Buffer
	err := run(t.Context(), []string{
		"-kernels", "is", "-classes", "S", "-np", "2,1", "-rounds", "1", "-npb", dir, "-mpirun", "env NP={np}", "-timeout", "10s",
		"-json", filepath.Join(dir, "out.json"), "-svg", filepath.Join(dir, "out.svg"),
	}, &out, io.Discard)
	require.NoError(t, err)
	require.Regexp(t, `(?m)^\| IS \| S \| 2 \| \d+ \| \d+ \| 1\.00 \| 50 \| 50 \| [\d.]+ \| [\d.]+ \|$`, out.String())
	require.Regexp(t, `(?m)^\| IS \| S \| 1 \| .* too slow \| \| \| \|$`, out.String())

	text, err := os.ReadFile(filepath.Join(dir, "out.json"))
	require.NoError(t, err)
	var samples []sample
	require.NoError(t, json.Unmarshal(text, &samples))
	require.Len(t, samples, 2)
	require.Equal(t, []float64{50}, samples[0].Peer)
	require.Empty(t, samples[1].Peer)
	require.Len(t, samples[1].Ours, 1)
}

// A number of PEs that a kernel refuses is a row, and the others are measured.
func TestRun_GoesOnAfterARefusal(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds and starts programs")
	}
	dir := t.TempDir()
	t.Chdir("../..")
	var out, notes bytes.Buffer
	file := filepath.Join(dir, "out.json")
	args := []string{"-kernels", "ft", "-classes", "S", "-rounds", "2", "-np"}
	require.NoError(t, run(t.Context(), append(args, "3,1", "-json", file), &out, &notes))
	require.Contains(t, out.String(), "\n| FT | S | 3 | refused | | |\n")
	require.Regexp(t, `(?m)^\| FT \| S \| 1 \| \d+ \| \d+ \| 1\.00 \|$`, out.String())
	require.Regexp(t, `^ft: .* power of two .* not on 3\n$`, notes.String())

	text, err := os.ReadFile(file)
	require.NoError(t, err)
	var samples []sample
	require.NoError(t, json.Unmarshal(text, &samples))
	require.Len(t, samples, 2)
	require.Equal(t, strings.TrimSpace(notes.String()), samples[0].Refused)
	require.Empty(t, samples[0].Ours)
	require.Len(t, samples[1].Ours, 2)

	// The launcher's refusal, of the same status, is no row.
	require.ErrorContains(t, run(t.Context(), append(args, "1", "-gorun", "--nosuch"), &out, &notes), "unknown flag: --nosuch")
}

// What cannot be written ends the run before it has begun, and what is there stays.
func TestRun_TriesItsFilesFirst(t *testing.T) {
	dir := t.TempDir()
	old, fresh := filepath.Join(dir, "old"), filepath.Join(dir, "fresh")
	require.NoError(t, os.WriteFile(old, []byte("text"), 0o644))
	for _, flags := range [][]string{{"-json", dir, "-svg", fresh}, {"-json", fresh, "-svg", filepath.Join(dir, "none", "out")}, {"-json", old, "-svg", dir}} {
		// Here, outside of the module's root, the builds would fail with another error.
		var failed *os.PathError
		require.ErrorAs(t, run(t.Context(), flags, io.Discard, io.Discard), &failed)
		require.Equal(t, "open", failed.Op)
	}
	require.NoFileExists(t, fresh)
	text, err := os.ReadFile(old)
	require.NoError(t, err)
	require.Equal(t, "text", string(text))
}

func TestSpeeds_OnlyOfVerifiedRuns(t *testing.T) {
	for _, tt := range []struct {
		read func([]byte) (float64, error)
		out  string
		want float64 // 0: an error
	}{
		{ourSpeed, `{"mops_total": 2.5, "verification": "SUCCESSFUL"}`, 2.5},
		{ourSpeed, `{"mops_total": 2.5, "verification": "UNSUCCESSFUL"}`, 0},
		{ourSpeed, `{"mops_total": 0, "verification": "SUCCESSFUL"}`, 0},
		{ourSpeed, "nothing", 0},
		{peerSpeed, " Mop/s total     =     2.5\n Verification    =   SUCCESSFUL\n", 2.5},
		{peerSpeed, " Mop/s total     =     2.5\n Verification    = UNSUCCESSFUL\n", 0},
		{peerSpeed, " Verification    =   SUCCESSFUL\n", 0},
	} {
		got, err := tt.read([]byte(tt.out))
		if got != tt.want || (err == nil) != (tt.want > 0) {
			t.Errorf("%q: %v, %v; want %v", tt.out, got, err, tt.want)
		}
	}
}

func TestTable_RatiosOfMediansAndBests(t *testing.T) {
	samples := []sample{
		{"cg", "A", 1, []float64{100, 300, 200}, []float64{100}, ""},
		{"cg", "A", 2, []float64{400}, []float64{200, 100}, ""},
		{"ft", "A", 3, nil, nil, "ft: not on 3"},
		{"ft", "A", 4, []float64{100}, nil, ""},
	}
	require.Equal(t, `Mop/s, medians of 3 rounds.

| kernel | class | np | goshmem | best | of the first | NPB-MPI | best | × | × of bests |
|---|---|---|---|---|---|---|---|---|---|
| CG | A | 1 | 200 | 300 | 1.00 | 100 | 100 | 2.00 | 3.00 |
| CG | A | 2 | 400 | 400 | 2.00 | 150 | 200 | 2.67 | 2.00 |
| FT | A | 3 | refused | | | | | | |
| FT | A | 4 | 100 | 100 | 1.00 | too slow | | | |
`, table(samples, 3, true))
}

func TestCurves_AreWellFormed(t *testing.T) {
	text := curves([]sample{
		{"cg", "A", 1, []float64{100}, nil, ""},
		{"cg", "A", 4, []float64{400}, nil, ""},
		{"mg", "A", 1, []float64{7}, []float64{8}, ""},
		{"mg", "W", 2, []float64{7}, nil, ""},
		{"ft", "S", 3, nil, nil, "ft: not on 3"},
	})
	for d := xml.NewDecoder(strings.NewReader(text)); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("%v:\n%s", err, text)
		}
	}
	require.Equal(t, 4, strings.Count(text, "<polyline"))
	require.Equal(t, 1, strings.Count(text, "stroke-dasharray=\"5 3\"/><text"))
	require.NotContains(t, text, "NaN")
	require.NotContains(t, text, "Inf")
	require.Contains(t, text, "class W")
	// Four times as fast on four PEs: two doublings to the right, the full height up.
	require.Contains(t, text, `points="48.0,240.0 280.0,28.0"`)
}

func TestParse_RefusesWithTheReason(t *testing.T) {
	for want, args := range map[string][]string{
		`-kernels: "lu" is none of`:  {"-kernels", "cg,lu"},
		`-classes: "Q" is none of`:   {"-classes", "S,Q"},
		`-np: "0" is no number`:      {"-np", "2,0"},
		"-rounds 0":                  {"-rounds", "0"},
		`unexpected argument "A"`:    {"A"},
		"-npb needs -mpirun":         {"-npb", "bin", "-mpirun", " "},
		"flag provided but not defi": {"-klass", "A"},
	} {
		var usage usageError
		if _, err := parse(args, io.Discard); !errors.As(err, &usage) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", args, err, want)
		}
	}
	var help bytes.Buffer
	_, err := parse([]string{"-help"}, &help)
	if err == nil || !strings.Contains(help.String(), "-mpirun") {
		t.Errorf("-help: %v, %q", err, help.String())
	}
}
