// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"testing"
	"time"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"github.com/goshmem/goshmem/launcher"
)

func parseWith(env map[string]string, args ...string) (*options, error) {
	return parse(args, func(name string) (string, bool) {
		value, ok := env[name]
		return value, ok
	})
}

func TestParse(t *testing.T) {
	tests := []struct {
		args []string
		env  map[string]string
		want options
	}{
		{[]string{"app"}, nil, options{np: 1}},
		{[]string{"-np", "4", "app"}, nil, options{np: 4}},
		{[]string{"-np=4", "app"}, nil, options{np: 4}},
		{[]string{"-n", "4", "app"}, nil, options{np: 4}},
		{[]string{"-n4", "app"}, nil, options{np: 4}},
		{[]string{"--np", "4", "app"}, nil, options{np: 4}},
		{[]string{"--np=4", "app"}, nil, options{np: 4}},
		{[]string{"-l", "-np", "4", "app"}, nil, options{np: 4, label: true}},
		{[]string{"-ln", "4", "app"}, nil, options{np: 4, label: true}},
		{[]string{"--wdir", "-np", "-np", "4", "app"}, nil, options{np: 4, dir: "-np"}},
		{[]string{"-x", "-np=1", "-np=4", "app"}, nil, options{np: 4, export: []string{"-np=1"}}},
		{[]string{"-lx", "-np", "-np=4", "app"}, nil, options{np: 4, label: true, export: []string{"-np"}}},
		{[]string{"app", "-np", "4", "--", "-h"}, nil, options{np: 1, args: []string{"-np", "4", "--", "-h"}}},
		{[]string{"-n", "2", "--", "app", "-np", "4"}, nil, options{np: 2, args: []string{"-np", "4"}}},
		{[]string{"-x", "A=1", "-x", "B", "app"}, nil, options{np: 1, export: []string{"A=1", "B"}}},
		{[]string{"--timeout", "1.5", "app"}, nil, options{np: 1, timeout: 1500 * time.Millisecond}},
		{[]string{"--timeout", "2m", "app"}, nil, options{np: 1, timeout: 2 * time.Minute}},
		{[]string{"--bind-to", "none", "-v", "app"}, nil, options{np: 1, bind: launcher.BindNone, verbose: true}},
		{[]string{"--heap", "1g", "app"}, map[string]string{"GORUN_HEAP": "2g"}, options{np: 1, heap: "1g", heapBy: "--heap"}},
		{
			[]string{"app"},
			map[string]string{"GORUN_NP": "3", "GORUN_HEAP": "2g", "GORUN_LABEL": "true", "GORUN_EXPORT": "A=1", "GORUN_WDIR": "/d", "GORUN_TIMEOUT": "9", "GORUN_BIND_TO": "core", "GORUN_VERBOSE": "1"},
			options{np: 3, heap: "2g", heapBy: "GORUN_HEAP", label: true, export: []string{"A=1"}, dir: "/d", timeout: 9 * time.Second, bind: launcher.BindCore, verbose: true},
		},
		{
			[]string{"--host", "a:2,b", "--launcher-exec", "ssh '{host}' --", "--iface", "ib0", "--fabric", "ofi", "--stats", "app"},
			nil,
			options{np: 3, hosts: []launcher.Host{{Name: "a", PEs: 2}, {Name: "b", PEs: 1}}, agent: []string{"ssh", "{host}", "--"}, iface: "ib0", fabric: "ofi", stats: true},
		},
		{[]string{"-np", "1", "-H", "a:2,b", "app"}, nil, options{np: 1, hosts: []launcher.Host{{Name: "a", PEs: 1}}}},
		{
			[]string{"app"},
			map[string]string{"GORUN_HOST": "a:2", "GORUN_LAUNCHER_EXEC": "x {host}", "GORUN_IFACE": "i", "GORUN_FABRIC": "shm", "GORUN_STATS": "1", "GORUN_FABRIC_INFO": "1"},
			options{np: 2, hosts: []launcher.Host{{Name: "a", PEs: 2}}, agent: []string{"x", "{host}"}, iface: "i", fabric: "shm", stats: true},
		},
		{[]string{"-np", "2", "--label=false", "app"}, map[string]string{"GORUN_NP": "bad", "GORUN_LABEL": "1"}, options{np: 2}},
	}
	for _, test := range tests {
		got, err := parseWith(test.env, test.args...)
		require.NoError(t, err, "%q", test.args)
		test.want.program = "app"
		if test.want.args == nil {
			test.want.args = []string{}
		}
		require.Equal(t, &test.want, got, "%q", test.args)
	}
}

func TestParse_Errors(t *testing.T) {
	tests := []struct {
		args []string
		env  map[string]string
		want string
	}{
		{nil, nil, "no program given"},
		{[]string{"-np", "2"}, nil, "no program given"},
		{[]string{"-np"}, nil, "np"},
		{[]string{"-np", "0", "app"}, nil, "--np 0: 0 PEs: want 1 to 65536"},
		{[]string{"-np", "-3", "app"}, nil, "--np -3: -3 PEs"},
		{[]string{"-np", "four", "app"}, nil, "--np four: want a number of PEs"},
		{[]string{"--frobnicate", "app"}, nil, "--frobnicate"},
		{[]string{"--timeout", "0", "app"}, nil, "--timeout 0: want a time above 0"},
		{[]string{"--timeout", "-1s", "app"}, nil, "want a time above 0"},
		{[]string{"--timeout", "NaN", "app"}, nil, "want a time above 0"},
		{[]string{"--bind-to", "socket", "app"}, nil, "--bind-to socket: want none or core"},
		{[]string{"-np", "4", "--host", "a:2,b", "app"}, nil, "--np 4: the hosts have 3 slots in all"},
		{[]string{"--host", "a:x", "app"}, nil, "--host a:x: a:x: want a number of slots"},
		{[]string{"--launcher-exec", "ssh {host}", "app"}, nil, "--launcher-exec: want --host, too"},
		{[]string{"--host", "a", "--launcher-exec", "ssh host", "app"}, nil, "it does not say where the host's name goes: want {host} in it"},
		{[]string{"--host", "a", "--launcher-exec", "ssh '{host}", "app"}, nil, "a ' is not closed"},
		{[]string{"--host", "a", "--launcher-exec", " ", "app"}, nil, "want a command"},
		{[]string{"--fabric", "tcp", "app"}, nil, "--fabric tcp: want ofi or shm"},
		{[]string{"--fabric", "shm", "--host", "a,b", "app"}, nil, "--fabric shm: shared memory is of one host, and the job has 2"},
		{[]string{"app"}, map[string]string{"GORUN_NP": "x"}, "GORUN_NP=x: want a number of PEs"},
		{[]string{"app"}, map[string]string{"GORUN_LABEL": "maybe"}, "GORUN_LABEL=maybe"},
	}
	for _, test := range tests {
		_, err := parseWith(test.env, test.args...)
		require.ErrorContains(t, err, test.want, "%q %v", test.args, test.env)
	}
}

func TestOptions_Job(t *testing.T) {
	env := []string{"A=0", "SMA_SYMMETRIC_SIZE=2M", "A=1"}
	o := &options{np: 2, export: []string{"A=2", "B=", "SMA_SYMMETRIC_SIZE"}}
	job, err := o.job(env)
	require.NoError(t, err)
	require.Equal(t, []string{"SMA_SYMMETRIC_SIZE=2M", "A=2", "B="}, job.Env)
	require.Equal(t, uint64(2<<20), job.Heap)

	o = &options{np: 2, fabric: "ofi", stats: true}
	job, err = o.job([]string{"SHMEM_FABRIC=shm", "A=0"})
	require.NoError(t, err)
	require.Equal(t, []string{"A=0", "SHMEM_FABRIC=ofi", "SHMEM_STATS=1"}, job.Env)

	tests := map[string]options{
		"-x NAME=VALUE":                           {export: []string{"NAME"}},
		"want NAME or NAME=VALUE":                 {export: []string{"=x"}},
		"--wdir /no/such: no such directory":      {dir: "/no/such"},
		`--heap: "lots" is not a size`:            {heap: "lots", heapBy: "--heap"},
		"--heap: 80t is too large":                {heap: "80t", heapBy: "--heap"},
		`GORUN_HEAP: "-1" is not a size`:          {heap: "-1", heapBy: "GORUN_HEAP"},
		`such as 268435456, 256M or 1.5g`:         {heap: "x", heapBy: "--heap"},
		`SMA_SYMMETRIC_SIZE: "bad" is not a size`: {export: []string{"SMA_SYMMETRIC_SIZE=bad"}},
	}
	for want, o := range tests {
		_, err := o.job(env)
		require.ErrorContains(t, err, want)
	}
}

func TestOptions_Tags(t *testing.T) {
	several := []launcher.Host{{Name: "a", PEs: 1}, {Name: "b", PEs: 1}}
	for _, o := range []options{{fabric: "ofi"}, {hosts: several}} {
		require.Equal(t, []string{"ofi"}, o.tags())
	}
	for _, o := range []options{{}, {fabric: "shm"}, {hosts: several[:1]}} {
		require.Empty(t, o.tags())
	}
}

func TestUsage_NamesEveryFlag(t *testing.T) {
	text := usage()
	new(options).flagSet().VisitAll(func(f *pflag.Flag) {
		require.Contains(t, text, "--"+f.Name)
	})
}
