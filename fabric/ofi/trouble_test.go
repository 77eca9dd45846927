// SPDX-License-Identifier: BSD-3-Clause

//go:build ofi && cgo && linux

package ofi

import (
	"bytes"
	"encoding/binary"
	"errors"
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/goshmem/goshmem/fabric"
)

// TestWrongKey_EndsLoudly: who does not know the key changes nothing, and is told.
func TestWrongKey_EndsLoudly(t *testing.T) {
	for _, o := range tested {
		t.Run(o.Provider, func(t *testing.T) {
			d := openAll(t, provider(o, 2), 2, small)
			blobs := register(t, d, func(int) []byte { return make([]byte, small) })
			forged := d[1].own
			forged.segment.key++
			p, err := forged.encode()
			require.NoError(t, err)
			connect(t, d, [][]byte{blobs[0], p})
			fill(d[1].segment, 3)
			want := append([]byte(nil), d[1].segment...)
			e := endpoint(t, d[0])
			err = e.Put(1, 0, make([]byte, 8))
			if err == nil {
				err = e.Quiet()
			}
			require.ErrorContains(t, err, "to PE 1")
			t.Log(err)
			require.Equal(t, want, d[1].segment)
			require.Error(t, e.Get(1, make([]byte, 8), 0))
		})
	}
}

// TestConnect_NobodyThere: a PE that nobody can reach is an error with both addresses,
// not a hang: where nothing listens, and where no route leads.
func TestConnect_NobodyThere(t *testing.T) {
	for name, lose := range map[string]func(b []byte, port uint16){
		"no listener": func(b []byte, port uint16) { binary.BigEndian.PutUint16(b[2:], port) }, // of a sockaddr_in
		"no route":    func(b []byte, _ uint16) { copy(b[4:], []byte{203, 0, 113, 9}) },
	} {
		t.Run(name, func(t *testing.T) {
			d := openAll(t, provider(Options{ConnectTimeout: 300 * time.Millisecond}, 2), 2, small)
			blobs := register(t, d, func(int) []byte { return make([]byte, small) })

			// Now, so that no endpoint gets the port.
			l, err := net.Listen("tcp", "127.0.0.1:0")
			require.NoError(t, err)
			port := l.Addr().(*net.TCPAddr).AddrPort().Port()
			require.NoError(t, l.Close())

			lost := d[1].own
			lost.name = bytes.Clone(lost.name)
			lose(lost.name, port)
			p, err := lost.encode()
			require.NoError(t, err)
			connect(t, d, [][]byte{blobs[0], p})
			e := endpoint(t, d[0])
			err = e.Put(1, 0, make([]byte, 8))
			if err == nil {
				err = e.Quiet()
			}
			require.ErrorContains(t, err, "to PE 1")
			require.Regexp(t, "no answer within 300ms, from|it has never answered, from", err.Error())
			require.ErrorContains(t, err, netip.AddrPortFrom(netip.AddrFrom4([4]byte(lost.name[4:])), binary.BigEndian.Uint16(lost.name[2:])).String())
			require.ErrorContains(t, err, d[0].Address())
			t.Log(err)
		})
	}
}

// TestAbort_EndsWhatWaits: operations to a PE that does not answer end with the cause.
func TestAbort_EndsWhatWaits(t *testing.T) {
	for _, o := range tested {
		t.Run(o.Provider, func(t *testing.T) {
			p := startPeer(t, o, "serve")
			d := p.domain
			e := endpoint(t, d)
			b := make([]byte, 8)
			require.NoError(t, e.Get(1, b, 0))
			p.stop(t)
			cause := errors.New("the reason")
			ended := make(chan error, 3)
			go func() { ended <- e.Get(1, b, 0) }()
			go func() { _, err := e.FetchAtomic(1, fabric.OpSum, fabric.Uint64, 0, 1, 0); ended <- err }()
			go func() {
				err := e.PutWord(1, 0, 8, 1)
				if err == nil {
					err = e.Quiet()
				}
				ended <- err
			}()
			for d.waitersParked() < 3 {
				require.NoError(t, e.Progress())
			}
			d.Abort(cause)
			for range cap(ended) {
				require.ErrorIs(t, <-ended, cause)
			}
			require.ErrorIs(t, e.Quiet(), cause)
			require.ErrorIs(t, d.Wait(waitFor(0, 0, 77)), cause)
		})
	}
}

// TestAbort_TellsBehindTheUnreachable: a PE that nobody can reach keeps none of those that
// come after it from being told.
func TestAbort_TellsBehindTheUnreachable(t *testing.T) {
	d := openAll(t, provider(Options{}, 3), 3, small)
	blobs := register(t, d, func(int) []byte { return make([]byte, small) })
	lost := d[1].own
	lost.name = bytes.Clone(lost.name)
	binary.BigEndian.PutUint16(lost.name[2:], 1) // of a sockaddr_in: nothing listens there
	p, err := lost.encode()
	require.NoError(t, err)
	connect(t, d[1:2], blobs)
	blobs[1] = p
	connect(t, []*Domain{d[0], d[2]}, blobs)
	d[0].Abort(errors.New("enough"))
	d[0].telling.Wait()
	require.ErrorContains(t, d[2].ended(), "PE 0 ended it")
}

func (d *Domain) waitersParked() int {
	d.waits.mu.Lock()
	defer d.waits.mu.Unlock()
	return len(d.waits.parked)
}

// TestAbort_ReachesOtherProcesses: a PE that waits in another process is told who ended the
// job.
func TestAbort_ReachesOtherProcesses(t *testing.T) {
	for _, o := range tested {
		t.Run(o.Provider, func(t *testing.T) {
			p := startPeer(t, o, "wait")
			p.domain.Abort(errors.New("enough"))
			require.Equal(t, "fabric/ofi: the job is ending: PE 0 ended it", p.line(t))
		})
	}
}

// TestPeer_AnswersFromAnotherProcess: words go to and fro.
func TestPeer_AnswersFromAnotherProcess(t *testing.T) {
	for _, o := range tested {
		t.Run(o.Provider, func(t *testing.T) {
			p := startPeer(t, o, "echo")
			e := endpoint(t, p.domain)
			data := make([]byte, 3000)
			for i := range uint64(echoes) {
				fill(data, int(i))
				require.NoError(t, e.PutSignal(1, 1024, data, 0, fabric.OpWrite, i+1))
				require.NoError(t, p.domain.Wait(waitFor(0, 0, i+1)))
				require.Equal(t, data, p.domain.segment[1024:][:len(data)], "message %d", i)
			}
			require.NoError(t, e.Quiet())
		})
	}
}

// TestPeer_StoppedDelaysNoOther: an endpoint completes while another one's operation
// waits for a PE that is stopped.
func TestPeer_StoppedDelaysNoOther(t *testing.T) {
	for _, o := range tested {
		t.Run(o.Provider, func(t *testing.T) {
			p := startPeer(t, o, "serve")
			e, other := endpoint(t, p.domain), endpoint(t, p.domain)
			require.NoError(t, e.Get(1, make([]byte, 8), 0))
			p.stop(t)
			for i := range 100 {
				require.NoError(t, e.PutWord(1, fabric.Addr(8*i), 8, 7))
			}
			for e.s.inflight().Load() < 200 { // of the 256 that the shorter queue takes
				require.NoError(t, e.PutWord(1, 0, 8, 7))
			}
			for i := range uint64(100) {
				require.NoError(t, other.PutWord(0, 8, 8, i))
				require.NoError(t, other.Quiet())
				require.Equal(t, i, p.domain.word(8).load(8))
			}
			require.NotZero(t, e.s.inflight().Load(), "PE 1 was not stopped")
			p.resume(t)
			require.NoError(t, e.Quiet())
			word, err := e.FetchAtomic(1, fabric.OpRead, fabric.Uint64, 8*99, 0, 0)
			require.NoError(t, err)
			require.Equal(t, uint64(7), word)
		})
	}
}

// TestPeer_StoppedLeavesQuietPEs: operations to one PE complete while those of the same
// endpoint to another, which is stopped, do not.
func TestPeer_StoppedLeavesQuietPEs(t *testing.T) {
	for _, o := range tested {
		t.Run(o.Provider, func(t *testing.T) {
			p := startPeer(t, o, "serve")
			e := endpoint(t, p.domain)
			require.NoError(t, e.Get(1, make([]byte, 8), 0))
			p.stop(t)
			for i := range uint64(50) {
				require.NoError(t, e.PutWord(1, 0, 8, i))
				require.NoError(t, e.PutWord(0, 8, 8, i))
				require.NoError(t, e.QuietPEs([]int{0}))
				require.Equal(t, i, p.domain.word(8).load(8))
			}
			require.NotZero(t, e.s.inflight().Load(), "PE 1 was not stopped")
			p.resume(t)
			require.NoError(t, e.QuietPEs([]int{1, 0}))
			require.Zero(t, e.s.inflight().Load())
			word, err := e.FetchAtomic(1, fabric.OpRead, fabric.Uint64, 0, 0, 0)
			require.NoError(t, err)
			require.Equal(t, uint64(49), word)
		})
	}
}

// TestPeer_StoppedLeavesBuffers: strided puts to a PE that is stopped take all bounce
// buffers that one endpoint gets. Others have some left, and what can do without does.
func TestPeer_StoppedLeavesBuffers(t *testing.T) {
	const bounces = 256 // SHIM_BOUNCES
	for _, o := range tested {
		t.Run(o.Provider, func(t *testing.T) {
			p := startPeer(t, o, "serve")
			d := p.domain
			e, other := endpoint(t, d), endpoint(t, d)
			require.NoError(t, e.Get(1, make([]byte, 8), 0))
			p.stop(t)
			src := make([]byte, 4<<10)
			fill(src, 1)
			away, err := e.target("strided put", 1, 0, len(src))
			require.NoError(t, err)
			st := strides{block: 64, blocks: 32, local: 128, remote: 64}
			for e.s.putStrided(away, src, st, 0, waiter{}).status == done {
			}
			require.EqualValues(t, bounces/2, d.Stats().BouncedWrites, "the provider's queue was full before")

			dense := make([]byte, 2048)
			for i := range 32 {
				copy(dense[64*i:], src[128*i:][:64])
			}
			for i, x := range []*Endpoint{other, e} {
				if x == e && o.Provider == "sockets" {
					break // its endpoint sends to one PE after the other
				}
				at := fabric.Addr(i * small)
				back := make([]byte, len(src))
				copy(d.segment[at:], src)
				require.NoError(t, x.GetStrided(0, back, at, fabric.Strides{Block: 64, Blocks: 32, Dst: 64, Src: 128}))
				require.Equal(t, dense, back[:len(dense)])
				require.NoError(t, x.PutSignal(0, at+8192, src[:256], at, fabric.OpWrite, 7))
				require.NoError(t, d.Wait(waitFor(0, at, 7)))
				require.Equal(t, src[:256], d.segment[at+8192:][:256])
			}
			require.NoError(t, other.PutStrided(0, 0, src, fabric.Strides{Block: 64, Blocks: 32, Dst: 64, Src: 128}))
			require.NoError(t, other.Quiet())
			require.Equal(t, dense, d.segment[:len(dense)])
			require.EqualValues(t, bounces/2, e.s.inflight().Load(), "PE 1 was not stopped")
			p.resume(t)
			require.NoError(t, e.Quiet())
			back := make([]byte, len(dense))
			require.NoError(t, e.Get(1, back, 0))
			require.Equal(t, dense, back)
		})
	}
}

// TestPeer_KilledIsNamed: operations to a PE that was killed fail with its number, or
// go on trying until the job is aborted; none says that it succeeded.
func TestPeer_KilledIsNamed(t *testing.T) {
	for _, o := range tested {
		t.Run(o.Provider, func(t *testing.T) {
			p := startPeer(t, o, "serve")
			d := p.domain
			e := endpoint(t, d)
			big := make([]byte, 48<<10)
			require.NoError(t, e.Put(1, 0, big))
			require.NoError(t, e.Quiet())
			p.stop(t) // so that the puts are under way when it dies
			for range 100 {
				require.NoError(t, e.PutNBI(1, 0, big))
			}
			p.kill(t)
			err := e.Quiet()
			require.ErrorContains(t, err, "to PE 1")
			t.Log(err)
			err = nil

			ended := make(chan error, 1)
			go func() { _, err := e.FetchAtomic(1, fabric.OpSum, fabric.Uint64, 0, 1, 0); ended <- err }()
			select {
			case err = <-ended:
			case <-time.After(500 * time.Millisecond): // it tries on
			}
			d.Abort(errors.New("PE 1 was killed"))
			if err == nil {
				err = <-ended
			}
			require.ErrorContains(t, err, "PE 1")
			t.Log(err)
		})
	}
}
