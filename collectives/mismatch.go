// SPDX-License-Identifier: BSD-3-Clause

package collectives

import (
	"bytes"
	"time"

	"github.com/goshmem/goshmem/fabric"
)

// reportPatience is how long a mismatch's report waits for what the others
// called. They are all in a collective, so it takes microseconds; unless one dies.
const reportPatience = 2 * time.Second

// mismatch tells the others what this member called and where, learns the same
// of them, and returns the error that names this call and the first that
// differs. The group is of no use afterwards: its words stay poisoned.
func (g *Group) mismatch(c Call) error {
	e := &MismatchError{PE: g.world(g.me), Call: c.String(), CallSite: g.site()}
	if err := g.report(e.Call, e.CallSite); err != nil {
		return err
	}
	e.Other, e.OtherCall, e.OtherPlace = e.PE, "another collective", "an unknown place"
	for i := 1; i < g.n; i++ {
		q := (g.me + i) % g.n
		call, site, err := g.reported(q)
		if err != nil {
			return err
		}
		if call == e.Call {
			continue
		}
		if call != "" {
			e.Other, e.OtherCall, e.OtherPlace = g.world(q), call, site
			break
		}
		if e.Other == e.PE {
			e.Other = g.world(q)
		}
	}
	return e
}

// report publishes what this member called in its own segment.
func (g *Group) report(call, site string) error {
	text := []byte(call + "\x00" + site)
	if len(text) > textSize {
		text = text[:textSize]
	}
	buf := make([]byte, textSize)
	copy(buf, text)
	ep := g.w.Endpoint()
	if err := ep.Put(g.world(g.me), g.off+offText, buf); err != nil {
		return err
	}
	if err := ep.Quiet(); err != nil {
		return err
	}
	if err := ep.PutWord(g.world(g.me), g.off+offReport, 8, 1); err != nil {
		return err
	}
	return ep.Quiet()
}

// reported returns what member q published, or "" if it does not in time.
func (g *Group) reported(q int) (call, site string, err error) {
	ep := g.w.Endpoint()
	for wait, end := time.Microsecond, time.Now().Add(reportPatience); ; wait = min(2*wait, time.Millisecond) {
		v, err := ep.FetchAtomic(g.world(q), fabric.OpRead, fabric.Uint64, g.off+offReport, 0, 0)
		if err != nil {
			return "", "", err
		}
		if v != 0 {
			break
		}
		if time.Now().After(end) {
			return "", "", nil
		}
		time.Sleep(wait)
	}
	buf := make([]byte, textSize)
	if err := ep.Get(g.world(q), buf, g.off+offText); err != nil {
		return "", "", err
	}
	a, b, _ := bytes.Cut(buf, []byte{0})
	b, _, _ = bytes.Cut(b, []byte{0})
	return string(a), string(b), nil
}
