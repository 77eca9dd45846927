// SPDX-License-Identifier: BSD-3-Clause

//go:build ofi && cgo && linux

package ofi

// #include <stdlib.h>
// #include "shim.h"
import "C"

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"syscall"
	"unsafe"
)

// An offer is one fi_info. The list that it is part of is libfabric's, until
// openShim takes a copy of it.
type offer struct{ c *C.struct_fi_info }

// A query asks libfabric what it offers.
type query struct {
	provider string // "": every one
	source   string // address of this host, "": any
	txSize   int    // 0: the default
	messages bool   // with messages, too
	all      bool   // also what this package cannot use
}

// ask runs f on the offers, which live that long.
func ask(q query, f func([]offer) error) error {
	if err := prepare(); err != nil {
		return err
	}
	if err := checkVersion(libraryVersion()); err != nil {
		return err
	}
	var node *C.char
	var flags C.uint64_t
	if q.source != "" {
		node = C.CString(q.source)
		defer C.free(unsafe.Pointer(node)) // C memory of our own
		flags = C.FI_SOURCE
	}
	var hints *C.struct_fi_info
	if !q.all {
		hints = C.fi_dupinfo(nil) // as fi_allocinfo does
		if hints == nil {
			return syscall.ENOMEM
		}
		defer C.fi_freeinfo(hints)
		demand(hints, q)
	}
	var list *C.struct_fi_info
	ret := C.fi_getinfo(C.SHIM_API, node, nil, flags, hints, &list)
	if ret == -C.FI_ENODATA {
		return f(nil)
	}
	if err := errorOf(int64(ret)); err != nil {
		return fmt.Errorf("fi_getinfo: %w", err)
	}
	defer C.fi_freeinfo(list)
	var offers []offer
	for c := list; c != nil; c = c.next {
		offers = append(offers, offer{c})
	}
	return f(offers)
}

// checkVersion refuses a library whose behaviour this package does not know.
func checkVersion(v uint32) error {
	if v < C.SHIM_API {
		return fmt.Errorf("libfabric %s is too old: 1.17 or newer is needed", versionText(v))
	}
	return nil
}

// demand says what this package needs, and what it is prepared for.
func demand(hints *C.struct_fi_info, q query) {
	hints.caps = C.FI_RMA | C.FI_ATOMIC
	if q.messages {
		hints.caps |= C.FI_MSG
	}
	hints.mode = C.FI_CONTEXT | C.FI_CONTEXT2
	hints.ep_attr._type = C.FI_EP_RDM
	hints.domain_attr.mr_mode = C.FI_MR_VIRT_ADDR | C.FI_MR_ALLOCATED | C.FI_MR_PROV_KEY | C.FI_MR_ENDPOINT
	hints.domain_attr.threading = C.FI_THREAD_SAFE
	hints.domain_attr.data_progress = C.FI_PROGRESS_MANUAL
	hints.domain_attr.resource_mgmt = C.FI_RM_ENABLED
	hints.domain_attr.av_type = C.FI_AV_TABLE
	hints.tx_attr.size = C.size_t(q.txSize)
	if q.provider != "" {
		hints.fabric_attr.prov_name = C.CString(q.provider) // fi_freeinfo frees it
	}
}

// keep returns a copy that outlives the list.
func (o offer) keep() (offer, error) {
	c := C.fi_dupinfo(o.c)
	if c == nil {
		return offer{}, syscall.ENOMEM
	}
	return offer{c}, nil
}

// free frees a copy.
func (o offer) free() { C.fi_freeinfo(o.c) }

func (o offer) provider() string { return C.GoString(o.c.fabric_attr.prov_name) }

func (o offer) info() Info {
	v := o.c.fabric_attr.prov_version
	return Info{
		Provider: o.provider(),
		Version:  fmt.Sprintf("%d.%d", v>>16, v&0xffff),
		Fabric:   C.GoString(o.c.fabric_attr.name),
		Domain:   C.GoString(o.c.domain_attr.name),
	}
}

// byIP reports whether the provider's addresses are IP addresses.
func (o offer) byIP() bool {
	switch o.c.addr_format {
	case C.FI_SOCKADDR, C.FI_SOCKADDR_IN, C.FI_SOCKADDR_IN6:
		return true
	}
	return false
}

// source returns the IP address that an endpoint would have.
func (o offer) source() (netip.Addr, bool) {
	if o.c.src_addr == nil {
		return netip.Addr{}, false
	}
	// In bounds: libfabric says how long the address is; alive as the offer is.
	b := unsafe.Slice((*byte)(o.c.src_addr), o.c.src_addrlen)
	// A sockaddr_in has its address behind family and port, a sockaddr_in6 behind the flow label too.
	switch {
	case o.c.addr_format != C.FI_SOCKADDR_IN6 && len(b) >= 8 && b[0] == syscall.AF_INET:
		return netip.AddrFrom4([4]byte(b[4:8])), true
	case len(b) >= 24 && b[0] == syscall.AF_INET6:
		return netip.AddrFrom16([16]byte(b[8:24])), true
	}
	return netip.Addr{}, false
}

// lacks says why this package cannot use the offer at all; nil: it can.
func (o offer) lacks() error {
	var missing []string
	if o.c.ep_attr._type != C.FI_EP_RDM {
		return errors.New("its endpoints are not reliable datagram ones (FI_EP_RDM)")
	}
	if o.c.caps&C.FI_RMA == 0 {
		missing = append(missing, "puts and gets (FI_RMA)")
	}
	if o.c.caps&C.FI_ATOMIC == 0 {
		missing = append(missing, "atomics (FI_ATOMIC)")
	}
	if len(missing) > 0 {
		return fmt.Errorf("it has no %s", strings.Join(missing, " and no "))
	}
	return nil
}

// The attributes that the rest of the package looks at.

// allocated: registered memory must have its pages, and keep them.
func (o offer) allocated() bool { return o.c.domain_attr.mr_mode&C.FI_MR_ALLOCATED != 0 }

// givesKeys: the provider chooses the keys.
func (o offer) givesKeys() bool { return o.c.domain_attr.mr_mode&C.FI_MR_PROV_KEY != 0 }

// localKeys: the provider wants local buffers registered.
func (o offer) localKeys() bool { return o.c.domain_attr.mr_mode&C.FI_MR_LOCAL != 0 }

// keySize is the size of a key in bytes.
func (o offer) keySize() int { return int(o.c.domain_attr.mr_key_size) }

// auto: the provider makes progress by itself.
func (o offer) auto() bool { return o.c.domain_attr.data_progress == C.FI_PROGRESS_AUTO }

// messages: it has them.
func (o offer) messages() bool { return o.c.caps&C.FI_MSG != 0 }

// maxMessage is the size of the largest message in bytes.
func (o offer) maxMessage() uint64 { return uint64(o.c.ep_attr.max_msg_size) }

// txSize is how many operations an endpoint has room for.
func (o offer) txSize() int { return int(min(o.c.tx_attr.size, 1<<20)) }

// injectSize is the size of the largest injected message in bytes.
func (o offer) injectSize() int { return int(min(o.c.tx_attr.inject_size, 1<<20)) }
