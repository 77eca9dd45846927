// SPDX-License-Identifier: BSD-3-Clause

package launcher

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/goshmem/goshmem/internal/segment"
	"github.com/goshmem/goshmem/launcher/pmi"
)

// File descriptors of a PE, beyond the standard three.
const (
	fdSecret = 3 + iota
	fdSegment
	fdPMI
)

// A starter starts the PEs of a node, from one thread: the kernel kills them
// when the thread that has started them ends, which may be long before the
// process does.
type starter struct {
	job     *nodeJob
	addr    string // of the bootstrap server
	source  string // of this node, for the other ones
	cores   []int  // of this node
	args    []string
	env     []string
	segment *os.File // the node's shared file
	null    int      // /dev/null
	stdin   int      // for PE 0
}

// newStarter makes what all PEs share.
func newStarter(job *nodeJob, addr string) (*starter, error) {
	cores, err := nodeCores()
	if err != nil {
		return nil, err
	}
	layout, err := job.layout(len(cores))
	if err != nil {
		return nil, err
	}
	s := &starter{
		job:   job,
		addr:  addr,
		cores: cores,
		args:  toStrings(job.Args),
		env:   withGOMAXPROCS(toStrings(job.Env), len(cores), job.PEs),
		stdin: fdProxyStdin,
	}
	if s.segment, err = segment.CreateFile(layout); err != nil {
		return nil, err
	}
	if s.null, err = unix.Open(os.DevNull, unix.O_RDWR|unix.O_CLOEXEC, 0); err != nil {
		return nil, fmt.Errorf("open %s: %w", os.DevNull, err)
	}
	return s, nil
}

// A process is a PE that runs.
type process struct {
	pid    int
	stdout *os.File // our ends of its streams; nil: not ours
	stderr *os.File
	pmi    *os.File // our end of its PMI-1 socket
}

// start starts the i-th PE of the node.
func (s *starter) start(i int) (p process, err error) {
	var ends []int // the PE's ends, which are not for us
	defer func() {
		for _, fd := range ends {
			unix.Close(fd)
		}
		if err != nil {
			p.close()
		}
	}()

	files := []uintptr{0: uintptr(s.null), 1: fdProxyStdout, fdSegment: s.segment.Fd(), fdPMI: 0}
	if s.job.First+i == 0 {
		files[0] = uintptr(s.stdin)
	}
	if s.job.Piped {
		if p.stdout, files[1], err = newPipe(&ends); err != nil {
			return p, err
		}
	}
	if p.stderr, files[2], err = newPipe(&ends); err != nil {
		return p, err
	}
	secretFD, inode, err := secretPipe(s.job.Secret, &ends)
	if err != nil {
		return p, err
	}
	files[fdSecret] = secretFD
	if p.pmi, files[fdPMI], err = newSocket(&ends); err != nil {
		return p, err
	}

	attr := &syscall.ProcAttr{
		Dir:   string(s.job.Dir),
		Env:   s.envOf(s.job.First+i, inode),
		Files: files,
		Sys: &syscall.SysProcAttr{
			Pdeathsig: syscall.SIGKILL,
			Setpgid:   !s.job.Shared,
		},
	}
	if err := s.bind(i); err != nil {
		return p, err
	}
	p.pid, err = syscall.ForkExec(string(s.job.Path), s.args, attr)
	return p, err
}

// bind binds the calling thread, and so the PE that it starts next, to the PE's
// cores. If nobody has asked for it, it need not work.
func (s *starter) bind(i int) error {
	cores := coresOf(s.cores, i, s.job.PEs, s.job.Bind)
	if cores == nil || len(cores) == len(s.cores) {
		return nil
	}
	if err := setCores(cores); err != nil && s.job.Bind == BindCore {
		return err
	}
	return nil
}

// bound reports whether each PE is bound to some of the cores.
func (s *starter) bound() bool {
	cores := coresOf(s.cores, 0, s.job.PEs, s.job.Bind)
	return cores != nil && len(cores) < len(s.cores)
}

// envOf returns the environment of a PE whose secret is in the pipe inode.
func (s *starter) envOf(pe int, inode uint64) []string {
	own := func(name string, value int) string { return name + "=" + strconv.Itoa(value) }
	env := s.env[:len(s.env):len(s.env)]
	if s.source != "" {
		env = append(env, pmi.EnvSource+"="+s.source)
	}
	if s.bound() {
		env = append(env, pmi.EnvCores+"="+strings.Trim(strings.ReplaceAll(fmt.Sprint(s.cores), " ", ","), "[]"))
	}
	return append(env,
		own(pmi.EnvPE, pe),
		own(pmi.EnvNPEs, s.job.NPEs),
		pmi.EnvAddr+"="+s.addr,
		pmi.EnvID+"="+s.job.ID,
		pmi.EnvSecret+"="+pmi.SecretPipe(fdSecret, inode),
		own(pmi.EnvSegment, fdSegment),
		own("PMI_FD", fdPMI),
		own("PMI_RANK", pe),
		own("PMI_SIZE", s.job.NPEs),
	)
}

// end undoes what only starting needs.
func (s *starter) end() {
	_ = setCores(s.cores) // if it fails, the proxy stays on the last PE's cores
	s.segment.Close()
	unix.Close(s.null)
}

func (p *process) close() {
	for _, f := range []*os.File{p.stdout, p.stderr, p.pmi} {
		if f != nil {
			f.Close()
		}
	}
}

// newPipe returns our reading end of a pipe, with deadlines, and the PE's
// writing end, which blocks as programs expect.
func newPipe(ends *[]int) (*os.File, uintptr, error) {
	var fd [2]int
	if err := unix.Pipe2(fd[:], unix.O_CLOEXEC); err != nil {
		return nil, 0, fmt.Errorf("create a pipe: %w", err)
	}
	*ends = append(*ends, fd[1])
	f, err := ours(fd[0], "pipe")
	return f, uintptr(fd[1]), err
}

// newSocket returns our end of a connected socket, with deadlines, and the PE's.
func newSocket(ends *[]int) (*os.File, uintptr, error) {
	fd, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, 0, fmt.Errorf("create a socket: %w", err)
	}
	*ends = append(*ends, fd[1])
	f, err := ours(fd[0], "pmi")
	return f, uintptr(fd[1]), err
}

// ours gives a descriptor deadlines.
func ours(fd int, name string) (*os.File, error) {
	if err := unix.SetNonblock(fd, true); err != nil {
		unix.Close(fd)
		return nil, err
	}
	return os.NewFile(uintptr(fd), name), nil
}

// secretPipe returns the reading end of a pipe that holds secret and then ends.
// Unlike a variable, it can't be read by others, nor by the PE's children.
func secretPipe(secret []byte, ends *[]int) (end uintptr, inode uint64, err error) {
	var fd [2]int
	if err := unix.Pipe2(fd[:], unix.O_CLOEXEC); err != nil {
		return 0, 0, fmt.Errorf("create a pipe: %w", err)
	}
	defer unix.Close(fd[1])
	*ends = append(*ends, fd[0])
	if _, err := unix.Write(fd[1], secret); err != nil {
		return 0, 0, fmt.Errorf("write the job's secret: %w", err)
	}
	var stat unix.Stat_t
	if err := unix.Fstat(fd[0], &stat); err != nil {
		return 0, 0, fmt.Errorf("inode of the secret's pipe: %w", err)
	}
	return uintptr(fd[0]), stat.Ino, nil
}

// startError tells why PE pe could not be started, and gorun's status then.
func startError(job *nodeJob, pe int, err error) (text string, status int) {
	path := string(job.Path)
	switch {
	case errors.Is(err, syscall.ENOEXEC):
		return path + " is neither a program for this machine nor a script that starts with #!", StatusNotRunnable
	case errors.Is(err, syscall.EACCES):
		return fmt.Sprintf("%s can't be executed: %v; see its permissions (chmod +x) and whether its file system is mounted noexec", path, err), StatusNotRunnable
	case errors.Is(err, syscall.ENOENT) && len(job.Dir) > 0 && !isDir(string(job.Dir)):
		return fmt.Sprintf("working directory %s: no such directory", job.Dir), StatusUsage
	case errors.Is(err, syscall.ENOENT):
		text := path + " not found, or the interpreter that it names"
		if job.Fed { // it may be on the launcher's node alone
			text += "; it must be there on all hosts: if gorun has built it, set TMPDIR to a folder that they share, or build it first"
		}
		return text, StatusNotFound
	case errors.Is(err, syscall.EAGAIN):
		return fmt.Sprintf("start PE %d of %d: %v; there is a limit of processes (ulimit -u, or pids.max of the control group)", pe, job.NPEs, err), StatusError
	}
	return fmt.Sprintf("start PE %d of %d: %v", pe, job.NPEs, err), StatusError
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
