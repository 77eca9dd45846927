// SPDX-License-Identifier: BSD-3-Clause

//go:build ofi && cgo && linux

package ofi

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"
)

// A verdict is what is known about a provider.
type verdict struct {
	name    string
	refused string // why it is never used
	note    string // what to know before it is used

	cpuAtomics bool // it executes atomics by CPU instructions on the target
	inOrder    bool // and those on several ranges in the order of these
	readBack   bool // its completions may come before delivery
	software   bool // the target's processor carries out puts
	stoppable  bool // a stranger's bytes may keep it from serving others
}

// verdicts are in the order of preference: native NICs, then TCP.
var verdicts = [...]verdict{
	{name: "cxi", note: untested},
	{name: "efa", note: untested},
	{name: "psm3", note: untested},
	{name: "opx", note: untested},
	{name: "psm2", note: untested},
	{name: "verbs;ofi_rxm", note: untested + "; each quiet reads back, because its completions come before delivery", cpuAtomics: true, readBack: true},
	{name: "tcp;ofi_rxm", cpuAtomics: true, inOrder: true, software: true},
	{name: "sockets", note: "slower than tcp;ofi_rxm", cpuAtomics: true, inOrder: true, software: true, stoppable: true},
	{name: "udp;ofi_rxd", refused: "it crashes when several threads poll"},
	{name: "shm", refused: "its atomics wait until the target polls, and nothing can sleep until they come; fabric shm serves PEs of one node"},
	{name: "net", refused: "it has no atomics"},
	{name: "net;ofi_rxm", refused: "it was a preview of what tcp;ofi_rxm is now"},
}

const untested = "untested: no such hardware was at hand"

// judge returns what is known about a provider, and its rank; unknown ones come last.
func judge(name string) (verdict, int) {
	i := slices.IndexFunc(verdicts[:], func(v verdict) bool { return v.name == name })
	if i >= 0 {
		return verdicts[i], i
	}
	if strings.HasSuffix(name, "ofi_rxd") {
		return verdict{name: name, refused: "ofi_rxd crashes when several threads poll"}, len(verdicts)
	}
	return verdict{name: name, note: "unknown: it is used only if it is named"}, len(verdicts)
}

// isNamed reports whether want names the provider: in full, or its lower layer.
func isNamed(provider, want string) bool {
	base, _, _ := strings.Cut(provider, ";")
	return provider == want || base == want
}

// choose returns the offer to use. The caller owns it.
func choose(o Options) (offer, verdict, error) {
	source, err := sourceOf(o.Source)
	if err != nil {
		return offer{}, verdict{}, err
	}
	name, byIP := "", false
	err = ask(query{txSize: o.TxSize}, func(offers []offer) error {
		found, err := pick(offers, o.Provider, o.Source != "")
		if err != nil {
			return err
		}
		name, byIP = found.provider(), found.byIP()
		return nil
	})
	if err != nil {
		return offer{}, verdict{}, err
	}
	q := query{provider: name, txSize: o.TxSize, messages: true}
	if byIP {
		q.source = source.String()
		if err := isLocal(source); err != nil {
			return offer{}, verdict{}, err
		}
	}
	var kept offer
	find := func(offers []offer) error {
		// libfabric takes the names for hints: look again.
		i := slices.IndexFunc(offers, func(x offer) bool {
			if x.provider() != name || x.localKeys() {
				return false
			}
			addr, ok := x.source()
			return !byIP || ok && addr.Unmap() == source
		})
		if i < 0 {
			return fmt.Errorf("provider %s has nothing at address %v", name, source)
		}
		kept, err = offers[i].keep()
		return err
	}
	if err = ask(q, find); err != nil {
		q.messages = false // batches can be done without
		err = ask(q, find)
	}
	v, _ := judge(name)
	return kept, v, err
}

// sourceOf parses the address that others reach this host at.
func sourceOf(s string) (netip.Addr, error) {
	if s == "" {
		return netip.AddrFrom4([4]byte{127, 0, 0, 1}), nil
	}
	a, err := netip.ParseAddr(s)
	if err != nil {
		return a, fmt.Errorf("source address %q: %w", s, err)
	}
	return a.Unmap(), nil
}

// isLocal returns an error if this host does not have the address.
func isLocal(a netip.Addr) error {
	l, err := net.Listen("tcp", netip.AddrPortFrom(a, 0).String())
	if err != nil {
		return fmt.Errorf("%v is no address of this host: %w", a, err)
	}
	return l.Close()
}

// pick returns the best of the offers, or the best of those that want names. remote says
// that there is an address for NICs that have no loopback.
func pick(offers []offer, want string, remote bool) (offer, error) {
	best, rank := -1, len(verdicts)
	var why []string
	refuse := func(name, reason string) {
		if text := name + ": " + reason; !slices.Contains(why, text) {
			why = append(why, text)
		}
	}
	for i, x := range offers {
		name := x.provider()
		v, r := judge(name)
		switch {
		case want != "" && !isNamed(name, want):
		case v.refused != "":
			refuse(name, v.refused)
		case x.localKeys():
			refuse(name, noLocalKeys)
		case want == "" && r == len(verdicts):
			refuse(name, v.note)
		case strings.HasPrefix(name, "verbs") && !remote:
			refuse(name, "it has no loopback: give the address of an interface")
		case best < 0 || r < rank:
			best, rank = i, r
		}
	}
	if best >= 0 {
		return offers[best], nil
	}
	return offer{}, errors.New(noneText(want, why))
}

const noLocalKeys = "it wants every local buffer registered (FI_MR_LOCAL), which this package does not do"

// noneText says that nothing is usable, why, and what libfabric offers.
func noneText(want string, why []string) string {
	infos, err := List()
	text := "no provider here has reliable endpoints with puts, gets and atomics"
	if want != "" {
		text = fmt.Sprintf("provider %s cannot be used", want)
		if len(why) == 0 {
			why = lacking(infos, want)
		}
		if len(why) == 0 {
			text = fmt.Sprintf("there is no provider %s here", want)
		}
	}
	for _, w := range why {
		text += "; " + w
	}
	if admitted := os.Getenv("FI_PROVIDER"); admitted != "" {
		text += "; the variable FI_PROVIDER admits " + admitted
	}
	if err != nil {
		return text
	}
	var usable []string
	for _, x := range infos {
		if x.Usable && !slices.Contains(usable, x.Provider) {
			usable = append(usable, x.Provider)
		}
	}
	return text + "; usable here: " + cmp.Or(strings.Join(usable, ", "), "none")
}

// lacking returns what the offers of the providers that want names lack.
func lacking(infos []Info, want string) []string {
	var why []string
	for _, x := range infos {
		text := x.Provider + ": " + x.Reason
		if isNamed(x.Provider, want) && !x.Usable && !slices.Contains(why, text) {
			why = append(why, text)
		}
	}
	return why
}

// List describes what libfabric offers on this machine, the preferred first, and
// why each offer is or is not usable.
func List() ([]Info, error) {
	var infos []Info
	add := func(x Info) {
		if !slices.Contains(infos, x) {
			infos = append(infos, x)
		}
	}
	type place struct{ provider, domain, fabric string }
	fit := map[place]bool{}
	at := func(x Info) place { return place{x.Provider, x.Domain, x.Fabric} }
	err := ask(query{}, func(offers []offer) error {
		for _, o := range offers {
			x := o.info()
			v, _ := judge(x.Provider)
			x.Usable = v.refused == "" && !o.localKeys()
			x.Reason = cmp.Or(v.refused, v.note)
			if o.localKeys() {
				x.Reason = noLocalKeys
			}
			fit[at(x)] = true
			add(x)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("fabric/ofi: %w", err)
	}
	err = ask(query{all: true}, func(offers []offer) error {
		for _, o := range offers {
			x := o.info()
			if fit[at(x)] {
				continue
			}
			v, _ := judge(x.Provider)
			x.Reason = cmp.Or(v.refused, "it does not fit what this package asks for")
			if err := o.lacks(); err != nil {
				x.Reason = err.Error()
			} else if o.localKeys() {
				x.Reason = noLocalKeys
			}
			add(x)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("fabric/ofi: %w", err)
	}
	slices.SortStableFunc(infos, func(a, b Info) int {
		_, ra := judge(a.Provider)
		_, rb := judge(b.Provider)
		return cmp.Or(ra-rb, strings.Compare(a.Provider, b.Provider))
	})
	return infos, nil
}
