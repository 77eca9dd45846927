// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/goshmem/goshmem/internal/env"
	"github.com/goshmem/goshmem/launcher"
)

// options are what the command line and the environment ask for.
type options struct {
	np      int // 0: as many as the hosts have slots, or 1
	hosts   []launcher.Host
	agent   []string
	iface   string
	fabric  string
	stats   bool
	heap    string
	heapBy  string // the flag or variable that gave heap
	label   bool
	export  []string
	dir     string
	timeout time.Duration
	bind    launcher.Binding
	verbose bool
	info    bool
	version bool
	help    bool

	program string
	args    []string
}

// defaultHeap is the size of a PE's symmetric heap unless something is said.
const defaultHeap = "256M"

// flagSet returns the flags, which set o.
func (o *options) flagSet() *pflag.FlagSet {
	f := pflag.NewFlagSet("gorun", pflag.ContinueOnError)
	f.SetInterspersed(false) // behind the program's name all is the program's
	f.SortFlags = false
	f.Usage = func() {}
	f.VarP(value{"N", func(s string) error { return setNP(&o.np, s) }}, "np", "n", "number of PEs (default 1, or with --host all slots; also -np N)")
	f.VarP(value{"a:2,b:2", func(s string) (err error) { o.hosts, err = parseHosts(s); return err }}, "host", "H", "hosts to run on, each with its number of slots (default this one); they are filled in this order; the program is at the same path on all, and one that gorun builds in $TMPDIR, which they must share then")
	f.Var(value{"COMMAND", func(s string) (err error) { o.agent, err = parseAgent(s); return err }}, "launcher-exec", "command that starts another one, put behind it, on host "+launcher.AgentHost+", such as 'ip netns exec "+launcher.AgentHost+"'")
	f.StringVar(&o.iface, "iface", "", "each host's network interface for the data between hosts (default the one that leads to the other hosts)")
	f.Var(value{"ofi|shm", func(s string) error { return setFabric(&o.fabric, s) }}, "fabric", "what carries all transfers: libfabric, also on one host, or shared memory (default shared memory on a host, and libfabric between hosts)")
	f.BoolVar(&o.stats, "stats", false, "show at the end how often libfabric was called")
	f.StringVar(&o.heap, "heap", "", "size of each PE's symmetric heap, such as 64M or 1.5g (default $SHMEM_SYMMETRIC_SIZE, or "+defaultHeap+")")
	f.BoolVarP(&o.label, "label", "l", false, "start each line of output with the PE's number")
	f.VarP(value{"NAME[=V]", func(s string) error { o.export = append(o.export, s); return nil }}, "export", "x", "set a variable in the environment of the PEs; may be repeated")
	f.StringVar(&o.dir, "wdir", "", "folder in which the PEs start")
	f.Var(value{"TIME", func(s string) error { return setTimeout(&o.timeout, s) }}, "timeout", "end the job after this time, with status 124: seconds, or such as 1m30s")
	f.Var(value{"none|core", func(s string) error { return setBind(&o.bind, s) }}, "bind-to", "let PEs use all cores, or bind each to its share (default core if there is a core for each PE, else none)")
	f.BoolVarP(&o.verbose, "verbose", "v", false, "tell what happens")
	f.BoolVar(&o.info, "fabric-info", false, "show what this machine's libfabric offers and what of it can be used, and exit")
	f.BoolVar(&o.version, "version", false, "show the version and exit")
	f.BoolVarP(&o.help, "help", "h", false, "show this help and exit")
	return f
}

// A value is a flag that a function sets.
type value struct {
	placeholder string
	set         func(s string) error
}

func (v value) Set(s string) error { return v.set(s) }
func (v value) String() string     { return "" }
func (v value) Type() string       { return v.placeholder }

func setNP(np *int, s string) error {
	n, err := strconv.Atoi(s)
	if err != nil {
		return errors.New("want a number of PEs")
	}
	if n < 1 || n > launcher.MaxPEs {
		return fmt.Errorf("%d PEs: want 1 to %d", n, launcher.MaxPEs)
	}
	*np = n
	return nil
}

func setFabric(fabric *string, s string) error {
	switch s {
	case "ofi", "shm":
		*fabric = s
		return nil
	}
	return errors.New("want ofi or shm")
}

func setTimeout(timeout *time.Duration, s string) error {
	if _, err := strconv.ParseFloat(s, 64); err == nil {
		s += "s"
	}
	d, err := time.ParseDuration(s)
	if err != nil || d <= 0 {
		return errors.New("want a time above 0: seconds, or such as 1m30s")
	}
	*timeout = d
	return nil
}

func setBind(bind *launcher.Binding, s string) error {
	switch s {
	case "none":
		*bind = launcher.BindNone
	case "core":
		*bind = launcher.BindCore
	default:
		return errors.New("want none or core")
	}
	return nil
}

// parse reads the command line, and variables for the flags that it lacks.
func parse(args []string, lookup func(string) (string, bool)) (*options, error) {
	o := new(options)
	f := o.flagSet()
	if err := f.Parse(withLongNP(f, args)); err != nil {
		return nil, flagError(err)
	}
	if o.help || o.version {
		return o, nil
	}
	if o.heap != "" {
		o.heapBy = "--heap"
	}
	var err error
	f.VisitAll(func(flag *pflag.Flag) {
		name := envName(flag)
		s, ok := lookup(name)
		if flag.Changed || !ok || name == "" || err != nil {
			return
		}
		if e := f.Set(flag.Name, s); e != nil {
			err = fmt.Errorf("%s=%s: %w", name, s, cause(e))
		}
		if flag.Name == "heap" {
			o.heapBy = name
		}
	})
	if err != nil {
		return nil, err
	}
	if o.info {
		return o, nil
	}
	if f.NArg() == 0 {
		return nil, errors.New("no program given: gorun [flags] program [arguments]")
	}
	o.program, o.args = f.Arg(0), f.Args()[1:]
	return o, o.settle()
}

// settle fits the options together.
func (o *options) settle() (err error) {
	switch {
	case len(o.hosts) > 0:
		o.hosts, err = place(o.hosts, o.np)
		if err != nil {
			return err
		}
		o.np = 0
		for _, h := range o.hosts {
			o.np += h.PEs
		}
	case len(o.agent) > 0:
		return errors.New("--launcher-exec: want --host, too: the hosts to start on")
	case o.np == 0:
		o.np = 1
	}
	if o.fabric == "shm" && len(o.hosts) > 1 {
		return fmt.Errorf("--fabric shm: shared memory is of one host, and the job has %d", len(o.hosts))
	}
	return nil
}

// tags returns the build tags that the program needs.
func (o *options) tags() []string {
	if o.fabric == "ofi" || len(o.hosts) > 1 {
		return []string{"ofi"}
	}
	return nil
}

// envName returns the variable that sets a flag, or "".
func envName(f *pflag.Flag) string {
	switch f.Name {
	case "help", "version", "fabric-info":
		return ""
	}
	return "GORUN_" + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
}

// withLongNP returns args with -np written --np: all launchers have -np, but to
// pflag it is -n with the value "p". Arguments of the program stay as they are.
func withLongNP(f *pflag.FlagSet, args []string) []string {
	args = append([]string(nil), args...)
	for i := 0; i < len(args); i++ {
		arg := args[i]
		if arg == "--" || len(arg) < 2 || arg[0] != '-' {
			break
		}
		if arg == "-np" || strings.HasPrefix(arg, "-np=") {
			arg = "-" + arg
			args[i] = arg
		}
		if takesNext(f, arg) {
			i++
		}
	}
	return args
}

// takesNext reports whether the value of a flag is the next argument.
func takesNext(f *pflag.FlagSet, arg string) bool {
	if name, ok := strings.CutPrefix(arg, "--"); ok {
		flag := f.Lookup(name) // nil also for name=value
		return flag != nil && flag.NoOptDefVal == ""
	}
	for i := 1; i < len(arg); i++ {
		flag := f.ShorthandLookup(arg[i : i+1])
		if flag == nil {
			return false
		}
		if flag.NoOptDefVal == "" {
			return i == len(arg)-1
		}
	}
	return false
}

// flagError words an error of pflag.
func flagError(err error) error {
	var invalid *pflag.InvalidValueError
	if errors.As(err, &invalid) {
		return fmt.Errorf("--%s %s: %w", invalid.GetFlag().Name, invalid.GetValue(), cause(err))
	}
	return err
}

// cause returns what the flag itself has to say.
func cause(err error) error {
	var invalid *pflag.InvalidValueError
	if errors.As(err, &invalid) && invalid.Unwrap() != nil {
		return invalid.Unwrap()
	}
	return err
}

// job returns the job without its program.
func (o *options) job(environ []string) (launcher.Job, error) {
	job := launcher.Job{
		Env:     environ,
		Dir:     o.dir,
		NPEs:    o.np,
		Hosts:   o.hosts,
		Agent:   o.agent,
		Iface:   o.iface,
		Label:   o.label,
		Timeout: o.timeout,
		Bind:    o.bind,
		Verbose: o.verbose,
	}
	for _, text := range o.export {
		name, _, set := strings.Cut(text, "=")
		if name == "" {
			return job, fmt.Errorf("--export %s: want NAME or NAME=VALUE", text)
		}
		if set {
			job.Env = setEnv(job.Env, name, text)
		} else if _, ok := getEnv(job.Env, name); !ok {
			return job, fmt.Errorf("--export %s: it is not set; give it a value: -x %[1]s=VALUE", name)
		}
	}
	if o.fabric != "" {
		job.Env = setEnv(job.Env, env.Fabric, env.Fabric+"="+o.fabric)
	}
	if o.stats {
		job.Env = setEnv(job.Env, env.Stats, env.Stats+"=1")
	}
	if o.dir != "" {
		if info, err := os.Stat(o.dir); err != nil || !info.IsDir() {
			return job, fmt.Errorf("--wdir %s: no such directory", o.dir)
		}
	}
	var err error
	job.Heap, err = o.heapSize(job.Env)
	return job, err
}

// heapSize returns the size of a PE's heap: as a flag says, or as the standard's
// variable does, or as its older name does.
func (o *options) heapSize(environ []string) (uint64, error) {
	by, text := o.heapBy, o.heap
	for _, name := range []string{"SHMEM_SYMMETRIC_SIZE", "SMA_SYMMETRIC_SIZE"} {
		if by == "" {
			if s, ok := getEnv(environ, name); ok {
				by, text = name, s
			}
		}
	}
	if by == "" {
		text = defaultHeap
	}
	size, err := env.ParseSize(text)
	if err == nil && size > launcher.MaxHeap {
		err = fmt.Errorf("%s is too large, want at most %d bytes", text, uint64(launcher.MaxHeap))
	}
	if err != nil {
		return 0, fmt.Errorf("%s: %w", by, err)
	}
	return size, nil
}

func getEnv(environ []string, name string) (value string, ok bool) {
	for _, e := range environ {
		if v, found := strings.CutPrefix(e, name+"="); found {
			value, ok = v, true
		}
	}
	return value, ok
}

// setEnv returns environ with the one entry for name that is given.
func setEnv(environ []string, name, entry string) []string {
	var changed []string
	for _, e := range environ {
		if !strings.HasPrefix(e, name+"=") {
			changed = append(changed, e)
		}
	}
	return append(changed, entry)
}

func usage() string {
	f := new(options).flagSet()
	return `gorun runs a program as a job of several PEs.

Usage: gorun [flags] program [arguments]

program is an executable, found like in a shell, or a Go package: a folder or a
.go file, which is built first (with -tags ofi for several hosts or --fabric ofi).
On several hosts, gorun and the executable are at the same path on each.

` + f.FlagUsagesWrapped(100) + `
Each flag can be set in the environment as well: GORUN_NP=4, GORUN_LABEL=1,
GORUN_BIND_TO=none; a flag on the command line wins.
`
}

func version() string {
	v := "(unknown version)"
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		v = info.Main.Version
	}
	return fmt.Sprintf("gorun %s, %s, %s/%s", v, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
