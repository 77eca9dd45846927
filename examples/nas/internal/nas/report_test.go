// SPDX-License-Identifier: BSD-3-Clause

package nas

import (
	"bytes"
	"encoding/json"
	"testing"
)

func sample() *Report {
	return &Report{
		Size: 65536, Iterations: 10, Seconds: 0.5, Operations: 655360, Operation: "keys ranked",
		Verification: Successful,
		Results:      []Result{{"Keys lost", "0"}},
		Sections:     []Section{{"Exchange", 0.25}},
		kernel:       "IS", class: 'S', npes: 4, version: "v1.2.3", goes: "go1.26", form: AVX2,
	}
}

func TestReport_Write(t *testing.T) {
	const want = `
 NAS-style benchmarks for Go shmem — IS

 Keys lost       =                        0
 Class           =                        S
 Size            =                    65536
 Iterations      =                       10
 Time in seconds =                   0.5000
 Total processes =                        4
 Mop/s total     =                     1.31
 Mop/s/process   =                     0.33
 Operation type  =              keys ranked
 Verification    =               SUCCESSFUL
 Version         =                   v1.2.3
 Go version      =                   go1.26
 Kernel          =                     avx2
 Exchange        =                 0.2500 s
`
	var out bytes.Buffer
	if err := sample().Write(&out); err != nil {
		t.Fatal(err)
	}
	if out.String() != want {
		t.Errorf("got:\n%s\nwant:\n%s", out.String(), want)
	}
}

func TestReport_WriteJSON(t *testing.T) {
	var out bytes.Buffer
	if err := sample().WriteJSON(&out); err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]any{
		"benchmark": "IS", "class": "S", "size": 65536.0, "processes": 4.0, "seconds": 0.5,
		"mops_total": 1.31072, "verification": "SUCCESSFUL", "go_version": "go1.26", "kernel": "avx2",
	} {
		if got[key] != want {
			t.Errorf("%q is %v, want %v", key, got[key], want)
		}
	}
	if s := got["sections_s"].(map[string]any); s["Exchange"] != 0.25 {
		t.Errorf("sections are %v", s)
	}
}

func TestVerdict(t *testing.T) {
	for _, c := range []struct {
		passed, standard bool
		want             Verification
	}{
		{true, true, Successful},
		{true, false, NotPerformed},
		{false, true, Unsuccessful},
		{false, false, Unsuccessful},
	} {
		if got := Verdict(c.passed, c.standard); got != c.want {
			t.Errorf("Verdict(%v, %v) is %q, want %q", c.passed, c.standard, got, c.want)
		}
	}
}
