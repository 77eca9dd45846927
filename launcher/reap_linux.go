// SPDX-License-Identifier: BSD-3-Clause

package launcher

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// adoptOrphans makes this process the parent of all its descendants whose
// parents end: so none of them escapes, not even with a session of its own.
func adoptOrphans() error {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("become a subreaper: %w", err)
	}
	return nil
}

// killChildren kills all children of this process and their process groups,
// but for those in spare, and returns how many there are. Children that these
// leave become our own, after they are gone: so kill again each time that a
// child has ended, until none is left.
func killChildren(spare map[int]bool) int {
	n := 0
	for _, pid := range children() {
		if !spare[pid] {
			n++
			unix.Kill(-pid, unix.SIGKILL)
			unix.Kill(pid, unix.SIGKILL)
		}
	}
	return n
}

// children returns the process numbers of this process's children, zombies
// included.
func children() []int {
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return nil
	}
	var pids []int
	for _, task := range tasks {
		list, err := os.ReadFile("/proc/self/task/" + task.Name() + "/children")
		if err != nil {
			if _, err := os.Stat("/proc/self/task/" + task.Name()); err != nil {
				continue // the thread has ended
			}
			return childrenByParent() // a kernel without CONFIG_PROC_CHILDREN
		}
		for field := range strings.FieldsSeq(string(list)) {
			if pid, err := strconv.Atoi(field); err == nil {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}

// childrenByParent is children by a look at all processes.
func childrenByParent() []int {
	processes, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	var pids []int
	for _, p := range processes {
		pid, err := strconv.Atoi(p.Name())
		if err != nil {
			continue
		}
		stat, err := os.ReadFile("/proc/" + p.Name() + "/stat")
		if err != nil {
			continue
		}
		// pid (name) state ppid …, and the name may hold anything.
		fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
		if len(fields) > 1 && fields[1] == strconv.Itoa(os.Getpid()) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// awaitChild waits until a child has ended, without reaping it, and reports
// whether there is one at all.
func awaitChild() bool {
	for {
		err := unix.Waitid(unix.P_ALL, 0, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			return err == nil
		}
	}
}

// reapChild reaps a child that has ended, and reports whether there was one.
func reapChild() (pid int, n int, ok bool) {
	var status unix.WaitStatus
	pid, err := unix.Wait4(-1, &status, unix.WNOHANG, nil)
	if err != nil || pid <= 0 {
		return 0, 0, false
	}
	return pid, exitNumber(status), true
}

// exitNumber returns an exit code, or −signal.
func exitNumber(status unix.WaitStatus) int {
	if status.Signaled() {
		return -int(status.Signal())
	}
	return status.ExitStatus()
}
