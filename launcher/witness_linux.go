// SPDX-License-Identifier: BSD-3-Clause

package launcher

import (
	"os"
	"os/signal"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// When standard input is a terminal, PE 0 must be in the terminal's foreground
// process group to read from it. So all processes of the job stay in the
// launcher's group then, and what the user types (Ctrl-C) reaches each of them
// from the kernel: forwarding it would deliver it twice. But a signal may have
// been sent to the launcher alone. The proxy is a witness: it is in the group,
// so it sees the former and not the latter.
type witness struct {
	signals chan os.Signal   // what the group gets
	overdue chan unix.Signal // what the launcher alone has got

	seen    map[unix.Signal]time.Time
	pending map[unix.Signal]*time.Timer
}

const (
	// witnessWait is how long a signal that the launcher has got may still
	// turn out to be one of the group's. The kernel tells the proxy first, so
	// this need only be longer than the proxy's own ways.
	witnessWait = 100 * time.Millisecond

	// launcherWait is how long the launcher may take to tell of a signal that
	// the group has got.
	launcherWait = 2 * time.Second
)

// forwarded are the signals that a launcher passes on to the PEs.
var forwarded = [...]os.Signal{
	unix.SIGINT, unix.SIGTERM, unix.SIGUSR1, unix.SIGUSR2, unix.SIGHUP,
	unix.SIGQUIT, unix.SIGCONT, unix.SIGTSTP, unix.SIGWINCH,
}

// watchSignals makes the proxy outlive what its PEs get; the launcher tells it
// when to end.
func (p *proxy) watchSignals() *witness {
	w := &witness{
		signals: make(chan os.Signal, 16),
		overdue: make(chan unix.Signal, 16),
		seen:    make(map[unix.Signal]time.Time),
		pending: make(map[unix.Signal]*time.Timer),
	}
	signal.Notify(w.signals, unignored(forwarded[:])...)
	return w
}

// unignored returns those signals that this process was not started to ignore,
// as nohup does.
func unignored(signals []os.Signal) []os.Signal {
	return slices.DeleteFunc(slices.Clone(signals), signal.Ignored)
}

// see notes a signal that the group has got.
func (w *witness) see(s unix.Signal) {
	if t := w.pending[s]; t != nil && t.Stop() {
		delete(w.pending, s)
		return
	}
	w.seen[s] = time.Now()
}

// forward notes a signal that the launcher has got, which will come by overdue
// unless the group has got it, too.
func (w *witness) forward(s unix.Signal) {
	if t, ok := w.seen[s]; ok && time.Since(t) < launcherWait {
		delete(w.seen, s)
		return
	}
	w.pending[s] = time.AfterFunc(witnessWait, func() { w.overdue <- s })
}
