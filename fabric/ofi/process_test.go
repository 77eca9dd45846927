// SPDX-License-Identifier: BSD-3-Clause

//go:build ofi && cgo && linux

package ofi

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/goshmem/goshmem/fabric"
)

// peerRole says in a process's environment that it is PE 1 of a test, and which part it plays.
const peerRole = "GOSHMEM_OFI_TEST_PEER"

const peerSegment = 2 << 20

// echoes is how many messages the echoing peer answers.
const echoes = 50

func TestMain(m *testing.M) {
	if role := os.Getenv(peerRole); role != "" {
		if err := playPeer(role); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// playPeer is PE 1. It writes its blob to its output, reads PE 0's and plays its part until
// its input ends.
func playPeer(role string) error {
	role, rest, _ := strings.Cut(role, " ")
	provider, source, _ := strings.Cut(rest, " ")
	if role == "shm" {
		return playShm()
	}
	p, err := New(Options{Provider: provider, Source: source}).Open(fabric.Job{PE: 1, NPEs: 2, SegmentSize: peerSegment})
	if err != nil {
		return err
	}
	d := p.(*Domain)
	own, err := d.Register(make([]byte, peerSegment))
	if err != nil {
		return err
	}
	fmt.Printf("%x\n", own)
	in := bufio.NewReader(os.Stdin)
	line, err := in.ReadString('\n')
	if err != nil {
		return err
	}
	other, err := hex.DecodeString(strings.TrimSpace(line))
	if err != nil {
		return err
	}
	if err := d.Connect(fabric.NewTable([][]byte{other, own})); err != nil {
		return err
	}
	fmt.Println("ready")
	switch role {
	case "wait":
		if err := d.Wait(waitFor(1, peerSegment-8, 1)); err != nil {
			return err
		}
	case "dump":
		if err := d.Wait(waitFor(1, peerSegment-8, 1)); err != nil {
			return err
		}
		fmt.Printf("%x\n", d.segment[:cellSpace])
	case "pingpong":
		e, err := d.Endpoint()
		if err != nil {
			return err
		}
		for i := uint64(1); ; i++ {
			if err := d.Wait(waitFor(1, 0, i)); err != nil {
				return err
			}
			if d.word(8).load(8) != 0 {
				break
			}
			if err := e.PutWord(0, 0, 8, i); err != nil {
				return err
			}
		}
		if err := e.Close(); err != nil {
			return err
		}
	case "arrivals":
		if err := noteArrivals(d); err != nil {
			return err
		}
	case "echo":
		e, err := d.Endpoint()
		if err != nil {
			return err
		}
		for i := range uint64(echoes) {
			if err := d.Wait(waitFor(1, 0, i+1)); err != nil {
				return err
			}
			if err := e.(*Endpoint).PutSignal(0, 1024, d.segment[1024:][:3000], 0, fabric.OpWrite, i+1); err != nil {
				return err
			}
		}
		if err := e.Close(); err != nil {
			return err
		}
	case "compute":
		x := uint64(1)
		keepBusy(in, func() {
			for range 100_000 {
				x = x*6364136223846793005 + 1
			}
		})
		runtime.KeepAlive(x)
	case "sleep":
		keepBusy(in, func() { _ = unix.Nanosleep(&unix.Timespec{Nsec: 20e6}, nil) })
	}
	_, _ = io.Copy(io.Discard, in) // serving takes no call
	return d.Close()
}

// keepBusy calls f, which calls nothing of the library, until the input ends. No other goroutine
// runs beside it: those that would serve wait for their turn, for milliseconds.
func keepBusy(in io.Reader, f func()) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	var over atomic.Bool
	go func() {
		_, _ = io.Copy(io.Discard, in)
		over.Store(true)
	}()
	for !over.Load() {
		f()
	}
}

// A peer is PE 1 in a process of its own, together with the domain of PE 0 here.
type peerProcess struct {
	domain *Domain
	cmd    *exec.Cmd
	out    *bufio.Reader
}

// startPeer starts PE 1 in the given part and connects PE 0 with it.
func startPeer(t testing.TB, o Options, role string) *peerProcess {
	t.Helper()
	exe, err := os.Executable()
	require.NoError(t, err)
	return startPeerBy(t, exec.Command(exe), o, "", role)
}

// startPeerBy is startPeer for a PE 1 whose process is started by cmd, at an address of
// another host.
func startPeerBy(t testing.TB, cmd *exec.Cmd, o Options, source, role string) *peerProcess {
	t.Helper()
	p := &peerProcess{cmd: cmd}
	p.cmd.Env = append(os.Environ(), peerRole+"="+role+" "+o.Provider+" "+source)
	p.cmd.Stderr = os.Stderr
	in, err := p.cmd.StdinPipe()
	require.NoError(t, err)
	out, err := p.cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, p.cmd.Start())
	p.out = bufio.NewReader(out)
	t.Cleanup(func() {
		in.Close()
		if p.domain == nil || p.domain.ended() != nil {
			p.cmd.Process.Kill()
			p.cmd.Wait()
		} else if err := p.cmd.Wait(); err != nil {
			t.Errorf("PE 1: %v", err)
		}
	})
	other, err := hex.DecodeString(p.line(t))
	require.NoError(t, err)
	d, err := New(o).Open(fabric.Job{NPEs: 2, SegmentSize: peerSegment})
	require.NoError(t, err)
	p.domain = d.(*Domain)
	own, err := d.Register(make([]byte, peerSegment))
	require.NoError(t, err)
	connect(t, []*Domain{p.domain}, [][]byte{own, other})
	_, err = fmt.Fprintf(in, "%x\n", own)
	require.NoError(t, err)
	require.Equal(t, "ready", p.line(t))
	return p
}

// line returns the next line that PE 1 wrote.
func (p *peerProcess) line(t testing.TB) string {
	t.Helper()
	line, err := p.out.ReadString('\n')
	require.NoError(t, err)
	return strings.TrimSpace(line)
}

// release ends the wait of a PE 1 that waits.
func (p *peerProcess) release(t testing.TB) {
	t.Helper()
	e := endpoint(t, p.domain)
	require.NoError(t, e.PutWord(1, peerSegment-8, 8, 1))
	require.NoError(t, e.Close())
}

// stop stops PE 1 and returns when it stands.
func (p *peerProcess) stop(t *testing.T) {
	t.Helper()
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGSTOP))
	var status syscall.WaitStatus
	_, err := syscall.Wait4(p.cmd.Process.Pid, &status, syscall.WUNTRACED, nil)
	require.NoError(t, err)
	require.True(t, status.Stopped())
}

func (p *peerProcess) resume(t *testing.T) {
	t.Helper()
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGCONT))
}

func (p *peerProcess) kill(t *testing.T) {
	t.Helper()
	require.NoError(t, p.cmd.Process.Kill())
}
