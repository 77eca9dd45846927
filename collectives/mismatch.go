// SPDX-License-Identifier: BSD-3-Clause

package collectives

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"runtime"
	"strings"
	"time"

	"github.com/goshmem/goshmem/fabric"
	"github.com/goshmem/goshmem/internal/frames"
)

// reportPatience is how long a mismatch's report waits for what the others
// called. They are all in a collective, so it takes microseconds; unless one dies, or
// has left a broadcast and computes.
const reportPatience = 2 * time.Second

// A report is what a member publishes when it finds a mismatch: its last calls, and
// where it made them, as far as it knows.
type report struct {
	epoch uint64
	past  [slotRing]Call // of epoch%slotRing
	sites [slotRing]string
}

// mismatch tells the others what this member called and where, learns the same
// of them, and returns the error that names this call and the first that
// differs. The group is of no use afterwards: its words stay poisoned.
func (g *Group) mismatch(c Call) error {
	if g.whole != nil {
		return g.whole.mismatchIn(g, c)
	}
	if !g.far() {
		g.poisonNear()
	}
	own := report{epoch: g.epoch, past: g.past}
	for i, pcs := range g.left {
		own.sites[i] = Place(pcs)
	}
	if own.sites[g.epoch%slotRing] = Place(g.at); g.at[0] == 0 {
		own.sites[g.epoch%slotRing] = g.site()
	}
	if err := g.publish(own); err != nil {
		return err
	}
	e := &MismatchError{PE: g.world(g.me), Call: c.String(), CallSite: own.sites[g.epoch%slotRing], Other: g.world(g.me), OtherCall: "another collective", OtherPlace: "an unknown place"}
	for i := 1; i < g.n; i++ {
		q := (g.me + i) % g.n
		other, ok, err := g.reported(q)
		if err != nil {
			return err
		}
		if epoch, found := own.firstUnequal(other); ok && found {
			i := epoch % slotRing
			e.Call, e.CallSite = own.past[i].String(), own.sites[i]
			e.Other, e.OtherCall, e.OtherPlace = g.world(q), other.past[i].String(), other.sites[i]
			break
		}
		if !ok && e.Other == e.PE {
			e.Other = g.world(q)
		}
	}
	return e
}

// firstUnequal returns the first epoch of which both know the calls, and they differ.
// Members may leave a broadcast before others have come, so that one is ahead.
func (r report) firstUnequal(o report) (epoch uint64, found bool) {
	first := max(r.epoch, o.epoch, slotRing) - slotRing + 1
	for epoch := first; epoch <= min(r.epoch, o.epoch); epoch++ {
		if r.past[epoch%slotRing] != o.past[epoch%slotRing] {
			return epoch, true
		}
	}
	return 0, false
}

// Place returns file:line of the first of recorded calls that is not the library's.
func Place(pcs [frames.Depth]uintptr) string {
	if pcs[0] == 0 {
		return ""
	}
	all := runtime.CallersFrames(pcs[:])
	for {
		f, more := all.Next()
		if !strings.HasPrefix(f.Function, module+"collectives.") && !strings.HasPrefix(f.Function, module+"shmem.") {
			return fmt.Sprintf("%s:%d", f.File, f.Line)
		}
		if !more {
			return ""
		}
	}
}

const module = "github.com/goshmem/goshmem/"

// publish writes what this member called to its own segment.
func (g *Group) publish(r report) error {
	b := binary.NativeEndian.AppendUint64(make([]byte, 0, textSize), r.epoch)
	for _, c := range r.past {
		for _, v := range [...]uint64{uint64(c.Started)<<48 | uint64(c.Kind)<<32 | uint64(c.Elem), c.N, c.Arg} {
			b = binary.NativeEndian.AppendUint64(b, v)
		}
	}
	// The newest first: of long names there may not be room for all.
	for i := range uint64(slotRing) {
		b = append(append(b, r.sites[(r.epoch-i)%slotRing]...), 0)
	}
	b = append(b, make([]byte, textSize)...)
	ep, own := g.w.Endpoint(), g.world(g.me)
	if err := ep.Put(own, g.off+offText, b[:textSize]); err != nil {
		return err
	}
	if err := ep.Quiet(); err != nil {
		return err
	}
	if err := ep.PutWord(own, g.off+offReport, 8, r.epoch); err != nil {
		return err
	}
	return ep.Quiet()
}

// reported returns what member q published, and ok unless it does not in time.
func (g *Group) reported(q int) (r report, ok bool, err error) {
	ep, pe := g.w.Endpoint(), g.world(q)
	for wait, end := time.Microsecond, time.Now().Add(reportPatience); ; wait = min(2*wait, time.Millisecond) {
		v, err := ep.FetchAtomic(pe, fabric.OpRead, fabric.Uint64, g.off+offReport, 0, 0)
		if err != nil {
			return r, false, err
		}
		if v != 0 {
			break
		}
		if time.Now().After(end) {
			return r, false, nil
		}
		time.Sleep(wait)
	}
	b := make([]byte, textSize)
	if err := ep.Get(pe, b, g.off+offText); err != nil {
		return r, false, err
	}
	next := func() uint64 {
		v := binary.NativeEndian.Uint64(b)
		b = b[8:]
		return v
	}
	r.epoch = next()
	for i := range r.past {
		head := next()
		r.past[i] = Call{Started: uint16(head >> 48), Kind: Kind(head >> 32), Elem: uint32(head), N: next(), Arg: next()}
	}
	for i := range uint64(slotRing) {
		var site []byte
		site, b, _ = bytes.Cut(b, []byte{0})
		r.sites[(r.epoch-i)%slotRing] = string(site)
	}
	return r, true, nil
}
