// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"strings"
	"testing"
)

func TestCount(t *testing.T) {
	for _, c := range []struct {
		name, in string
		want     totals
		shown    []string
		hidden   []string
		err      string
	}{
		{
			name: "tests and subtests count one each, packages none",
			in: `{"Action":"output","Package":"p","Test":"TestA","Output":"loud\n"}
{"Action":"pass","Package":"p","Test":"TestA/x"}
{"Action":"pass","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Test":"TestB","Output":"=== RUN   TestB\n"}
{"Action":"output","Package":"p","Test":"TestB","Output":"    b_test.go:7: no such tool\n"}
{"Action":"skip","Package":"p","Test":"TestB"}
{"Action":"skip","Package":"empty"}
{"Action":"pass","Package":"p","Elapsed":1.25}
`,
			want:   totals{passed: 2, skipped: 1},
			shown:  []string{"skip p TestB: b_test.go:7: no such tool\n", "ok   p 1.2s\n"},
			hidden: []string{"loud", "==="},
		},
		{
			name: "a failed test shows its output and fails its package once",
			in: `{"Action":"output","Package":"p","Test":"TestA","Output":"got 1, want 2\n"}
{"Action":"fail","Package":"p","Test":"TestA"}
{"Action":"fail","Package":"p"}
`,
			want:  totals{failed: 1},
			shown: []string{"FAIL p TestA 0.0s\n     got 1, want 2\n"},
		},
		{
			name: "a test that was under way when its time was up shows what it said",
			in: `{"Action":"output","Package":"p","Test":"TestA","Output":"panic: test timed out after 10m0s\n"}
{"Action":"output","Package":"q","Test":"TestB","Output":"loud\n"}
{"Action":"output","Package":"p","Output":"FAIL\tp\t600s\n"}
{"Action":"fail","Package":"p"}
`,
			want:   totals{failed: 1},
			shown:  []string{"p TestA has not ended:\n     panic: test timed out after 10m0s\n"},
			hidden: []string{"loud"},
		},
		{
			name: "a package that does not compile is one failure",
			in: `{"ImportPath":"p [p.test]","Action":"build-output","Output":"x.go:1:1: undefined: y\n"}
{"ImportPath":"p [p.test]","Action":"build-fail"}
{"Action":"output","Package":"p","Output":"FAIL\tp [build failed]\n"}
{"Action":"fail","Package":"p","FailedBuild":"p [p.test]"}
`,
			want:  totals{failed: 1},
			shown: []string{"x.go:1:1: undefined: y"},
		},
		{
			name:  "what is no JSON is passed on",
			in:    "hello from PE 0\n{\"Action\":\"pass\",\"Package\":\"p\",\"Test\":\"TestA\"}\nlast line",
			want:  totals{passed: 1},
			shown: []string{"hello from PE 0\n", "last line"},
		},
		{name: "no test at all is an error", in: `{"Action":"skip","Package":"p"}`, err: "no test ran"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out strings.Builder
			got, err := count(strings.NewReader(c.in), &out)
			if c.err != "" {
				if err == nil || err.Error() != c.err {
					t.Fatalf("error %v, want %q", err, c.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got != c.want {
				t.Errorf("counted %v, want %v", got, c.want)
			}
			for _, s := range c.shown {
				if !strings.Contains(out.String(), s) {
					t.Errorf("output lacks %q:\n%s", s, out.String())
				}
			}
			for _, s := range c.hidden {
				if strings.Contains(out.String(), s) {
					t.Errorf("output has %q:\n%s", s, out.String())
				}
			}
		})
	}
}
