// SPDX-License-Identifier: BSD-3-Clause

//go:build ofi && cgo && linux

package ofi

/*
#cgo pkg-config: libfabric
#cgo CFLAGS: -std=gnu11 -Wall
#cgo nocallback shim_open
#cgo nocallback shim_endpoint
#cgo nocallback shim_insert
#cgo nocallback shim_register
#cgo nocallback shim_start
#cgo nocallback shim_close
#cgo nocallback shim_free
#cgo nocallback shim_stream_open
#cgo nocallback shim_stream_close
#cgo nocallback shim_atomic_valid
#cgo nocallback shim_put
#cgo nocallback shim_get
#cgo nocallback shim_put_strided
#cgo nocallback shim_get_strided
#cgo nocallback shim_put_signal
#cgo nocallback shim_notify
#cgo nocallback shim_put_words
#cgo nocallback shim_atomic
#cgo nocallback shim_fetch
#cgo nocallback shim_fetch_counted
#cgo nocallback shim_quiet
#cgo nocallback shim_quieted
#cgo nocallback shim_finish
#cgo nocallback shim_release
#cgo nocallback shim_wait_word
#cgo nocallback shim_progress
#cgo nocallback shim_mail_open
#cgo nocallback shim_flusher_start
#cgo nocallback shim_box_new
#cgo nocallback shim_box_open
#cgo nocallback shim_box_close
#cgo nocallback shim_box_wait
#cgo nocallback shim_boxes_end
#cgo nocallback shim_flush
#cgo nocallback shim_flusher_wake
#cgo nocallback shim_records
#include "shim.h"
*/
import "C"

import (
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"github.com/goshmem/goshmem/fabric"
)

// No function here is noescape: a get that is still in flight when it returns
// goes on writing to its buffer, which must not be on a stack.

// What a shim call came to; negative values are -errno.
const (
	done    = C.SHIM_DONE
	pending = C.SHIM_PENDING
	again   = C.SHIM_AGAIN
)

// badState is libfabric's code for a call that an endpoint cannot take any more.
const badState = C.FI_EOPBADSTATE

// How a put treats its source.
const (
	putCopy  = C.SHIM_COPY
	putKeep  = C.SHIM_KEEP
	putAwait = C.SHIM_AWAIT
)

// fiOps are libfabric's numbers of the operations.
var fiOps = [fabric.NumOps]int{
	fabric.OpMin: C.FI_MIN, fabric.OpMax: C.FI_MAX, fabric.OpSum: C.FI_SUM, fabric.OpProd: C.FI_PROD,
	fabric.OpLor: C.FI_LOR, fabric.OpLand: C.FI_LAND, fabric.OpLxor: C.FI_LXOR,
	fabric.OpBor: C.FI_BOR, fabric.OpBand: C.FI_BAND, fabric.OpBxor: C.FI_BXOR,
	fabric.OpWrite: C.FI_ATOMIC_WRITE, fabric.OpRead: C.FI_ATOMIC_READ,
	fabric.OpCswap: C.FI_CSWAP, fabric.OpCswapNE: C.FI_CSWAP_NE,
	fabric.OpCswapLE: C.FI_CSWAP_LE, fabric.OpCswapLT: C.FI_CSWAP_LT,
	fabric.OpCswapGE: C.FI_CSWAP_GE, fabric.OpCswapGT: C.FI_CSWAP_GT,
	fabric.OpMswap: C.FI_MSWAP,
}

// libfabric numbers the types as package fabric does.
const (
	_ = uint(C.FI_INT8-int(fabric.Int8)) + uint(int(fabric.Int8)-C.FI_INT8)
	_ = uint(C.FI_UINT64-int(fabric.Uint64)) + uint(int(fabric.Uint64)-C.FI_UINT64)
	_ = uint(C.FI_FLOAT-int(fabric.Float32)) + uint(int(fabric.Float32)-C.FI_FLOAT)
	_ = uint(C.FI_DOUBLE-int(fabric.Float64)) + uint(int(fabric.Float64)-C.FI_DOUBLE)
	_ = uint(C.FI_FLOAT_COMPLEX-int(fabric.Complex64)) + uint(int(fabric.Complex64)-C.FI_FLOAT_COMPLEX)
)

// bounceSize is the size in bytes of the largest put that is copied.
const bounceSize = C.SHIM_BOUNCE

// fewPEs is how many PEs a job has at most whose domains sleep on the provider's sockets.
const fewPEs = C.SHIM_FEW

// maxRanges is how many ranges go in one message at most.
const maxRanges = C.SHIM_IOVS

// maxEndpoints is how many libfabric endpoints a domain opens at most.
const maxEndpoints = C.SHIM_ENDPOINTS

// maxInflight is how many counted operations of a stream are in flight at most.
const maxInflight = C.SHIM_INFLIGHT

// A waiter is C memory: what a caller waits for.
type waiter struct{ c *C.struct_shim_wait }

// left returns the number of operations that have not completed: 32 bits, which
// stay until w is released.
func (w waiter) left() word { return word{unsafe.Pointer(&w.c.left)} }

// failure returns the error that an awaited operation ended with.
func (w waiter) failure() *failure {
	return &failure{kind: kinds[w.c.error.kind], code: int(w.c.error.code), pe: int(w.c.error.pe), text: C.GoString(&w.c.error.text[0])}
}

// kinds are what operations are called in errors.
var kinds = [...]string{C.SHIM_PUT: "put", C.SHIM_GET: "get", C.SHIM_ATOMIC: "atomic operation", C.SHIM_BATCH: "batch", C.SHIM_PROBE: "probe"}

// A target is where an operation goes.
type target struct {
	addr, at, key uint64
	pe            int
}

func (t target) c() C.struct_shim_target {
	return C.struct_shim_target{addr: C.fi_addr_t(t.addr), at: C.uint64_t(t.at), key: C.uint64_t(t.key), pe: C.int32_t(t.pe)}
}

// A result is what a shim call returned.
type result struct {
	status int64
	value  uint64
	wait   waiter
}

func resultOf(r C.struct_shim_result) result {
	return result{int64(r.status), uint64(r.value), waiter{r.wait}}
}

// bytesOf returns a slice's first byte as a C type without pointers: cgo then
// does not look for pointers in what surrounds it.
func bytesOf(b []byte) *C.uint8_t {
	// In bounds and alive as b is; callers keep b for as long as C may use it.
	return (*C.uint8_t)(unsafe.Pointer(unsafe.SliceData(b)))
}

// A stream is the C side of an endpoint.
type stream struct{ c *C.struct_shim_stream }

func (s stream) put(t target, src []byte, from uint64, how int, w waiter) result {
	return resultOf(C.shim_put(s.c, t.c(), bytesOf(src), C.size_t(len(src)), C.size_t(from), C.int(how), w.c))
}

func (s stream) get(t target, dst []byte, from uint64, counted bool, w waiter) result {
	return resultOf(C.shim_get(s.c, t.c(), bytesOf(dst), C.size_t(len(dst)), C.size_t(from), C.bool(counted), w.c))
}

// strides is a strided transfer as seen from here: block by block, local and
// remote bytes from one to the next.
type strides struct{ block, blocks, local, remote int }

func (st strides) c() C.struct_shim_strides {
	return C.struct_shim_strides{block: C.size_t(st.block), blocks: C.size_t(st.blocks), local: C.size_t(st.local), remote: C.size_t(st.remote)}
}

func (s stream) putStrided(t target, src []byte, st strides, from uint64, w waiter) result {
	return resultOf(C.shim_put_strided(s.c, t.c(), bytesOf(src), st.c(), C.size_t(from), w.c))
}

func (s stream) getStrided(t target, dst []byte, st strides, from uint64, w waiter) result {
	return resultOf(C.shim_get_strided(s.c, t.c(), bytesOf(dst), st.c(), C.size_t(from), w.c))
}

func (s stream) putSignal(t target, src []byte, signal target, op int, v, from uint64, w waiter) result {
	return resultOf(C.shim_put_signal(s.c, t.c(), bytesOf(src), C.size_t(len(src)), signal.c(), C.int(op), C.uint64_t(v), C.size_t(from), w.c))
}

func (s stream) notify(t target, words []uint64) result {
	// Alive during the call, which copies them.
	p := (*C.uint64_t)(unsafe.Pointer(unsafe.SliceData(words)))
	return resultOf(C.shim_notify(s.c, t.c(), p, C.size_t(len(words))))
}

func (s stream) putWords(t target, words []uint64, from uint64) result {
	// Alive during the call, which copies them.
	p := (*C.uint64_t)(unsafe.Pointer(unsafe.SliceData(words)))
	return resultOf(C.shim_put_words(s.c, t.c(), p, C.size_t(len(words)), C.size_t(from)))
}

func (s stream) atomic(t target, op, dt int, v uint64) result {
	return resultOf(C.shim_atomic(s.c, t.c(), C.int(op), C.int(dt), C.uint64_t(v)))
}

func (s stream) fetch(t target, op, dt int, compare bool, v, cmp uint64) result {
	return resultOf(C.shim_fetch(s.c, t.c(), C.int(op), C.int(dt), C.bool(compare), C.uint64_t(v), C.uint64_t(cmp)))
}

func (s stream) fetchCounted(t target, op, dt int, compare bool, v, cmp uint64, dest []byte) result {
	return resultOf(C.shim_fetch_counted(s.c, t.c(), C.int(op), C.int(dt), C.bool(compare), C.uint64_t(v), C.uint64_t(cmp), bytesOf(dest), C.uint8_t(len(dest))))
}

// quiet waits for what was counted so far; see shim_quiet. take says whether it
// returns a failure that was kept.
func (s stream) quiet(take bool) result { return resultOf(C.shim_quiet(s.c, C.bool(take))) }

func (s stream) quieted(epoch uint64, take bool) result {
	return resultOf(C.shim_quieted(s.c, C.uint64_t(epoch), C.bool(take)))
}

func (s stream) finish(w waiter) result { return resultOf(C.shim_finish(s.c, w.c)) }

func (s stream) release(w waiter) { C.shim_release(s.c, w.c) }

func (s stream) close() { C.shim_stream_close(s.c) }

// The words of a stream that Go reads. They stay until it is closed; each typed
// atomic is one word behind zero-size markers.

func (s stream) inflight() *atomic.Uint32 { return (*atomic.Uint32)(unsafe.Pointer(&s.c.inflight)) }
func (s stream) failed() *atomic.Uint32   { return (*atomic.Uint32)(unsafe.Pointer(&s.c.failed)) }

// oldest returns the word of 64 bits that says which epochs are complete.
func (s stream) oldest() word { return word{unsafe.Pointer(&s.c.oldest)} }

// A shim is the C side of a domain.
type shim struct{ c *C.struct_shim_domain }

// config is how the shim is to work.
type config struct {
	spin       time.Duration // that a call polls
	standby    time.Duration // that the thread stands back at first
	pauses     int           // polls before it yields now and then
	yields     int           // polls from one yield to the next
	spinners   int           // calls that poll at once
	pe, npes   int
	connect    time.Duration // how long a batch waits for a PE's first answer
	maxMessage uint64        // bytes, 0: the provider's
	inOrder    bool          // an atomic on several ranges is done in their order
	sockets    bool          // sleep on the provider's sockets
}

// openShim opens a domain and takes info over.
func openShim(info offer, c config) (shim, string, error) {
	o := C.shim_open(info.c, C.struct_shim_config{
		spin_ns: C.uint64_t(c.spin), standby_ns: C.uint64_t(c.standby),
		pauses: C.uint32_t(c.pauses), yields: C.uint32_t(c.yields), spinners: C.uint32_t(c.spinners),
		pe: C.uint32_t(c.pe), npes: C.uint32_t(c.npes), connect_ns: C.uint64_t(c.connect), max_message: C.uint64_t(c.maxMessage),
		in_order: C.bool(c.inOrder), sockets: C.bool(c.sockets),
	})
	return shim{o.domain}, C.GoString(o.step), errorOf(int64(o.status))
}

// close ends the thread and closes everything; free gives the memory back.
func (s shim) close() { C.shim_close(s.c) }
func (s shim) free()  { C.shim_free(s.c) }

func (s shim) start() error { return errorOf(int64(C.shim_start(s.c))) }

// endpoint opens another libfabric endpoint and returns its index.
func (s shim) endpoint() (int, error) {
	i := C.shim_endpoint(s.c)
	return int(i), errorOf(min(int64(i), 0))
}

// stream opens a stream on endpoint ep. A late one works while the job is ending.
func (s shim) stream(ep int, late bool) (stream, error) {
	c := C.shim_stream_open(s.c, C.uint32_t(ep), C.bool(late))
	if c == nil {
		return stream{}, syscall.ENOMEM
	}
	return stream{c}, nil
}

// register registers the segment, which the caller keeps pinned until close, and
// the control page. It returns the keys, and the addresses by which peers name
// them.
func (s shim) register(segment []byte, key, controlKey uint64) (mem, control region, err error) {
	// Alive: pinned, or mapped for good, as promised.
	p := unsafe.Pointer(unsafe.SliceData(segment))
	if err := errorOf(int64(C.shim_register(s.c, p, C.size_t(len(segment)), C.uint64_t(key), &s.c.segment_mr))); err != nil {
		return mem, control, err
	}
	page := unsafe.Pointer(s.c.control)
	if err := errorOf(int64(C.shim_register(s.c, page, controlSize, C.uint64_t(controlKey), &s.c.control_mr))); err != nil {
		return mem, control, err
	}
	mem = region{key: uint64(C.fi_mr_key(s.c.segment_mr)), size: uint64(len(segment))}
	control = region{key: uint64(C.fi_mr_key(s.c.control_mr)), size: controlSize}
	if s.c.info.domain_attr.mr_mode&C.FI_MR_VIRT_ADDR != 0 {
		mem.base, control.base = uint64(uintptr(p)), uint64(uintptr(page))
	}
	return mem, control, nil
}

// controlSize is the size of the control page in bytes.
const controlSize = 4096

// valid reports whether the provider runs op on dt in the given form.
func (s shim) valid(op, dt int, form uint64) bool {
	return C.shim_atomic_valid(s.c, C.int(op), C.int(dt), C.uint64_t(form)) != 0
}

const (
	formPlain   = 0
	formFetch   = C.FI_FETCH_ATOMIC
	formCompare = C.FI_COMPARE_ATOMIC
)

// name returns the address of the first endpoint.
func (s shim) name() ([]byte, error) {
	b := make([]byte, maxName)
	n := C.size_t(len(b))
	// b is alive during the call, which keeps nothing.
	if err := errorOf(int64(C.fi_getname(&s.c.eps[0].fid, unsafe.Pointer(unsafe.SliceData(b)), &n))); err != nil {
		return nil, err
	}
	return b[:n], nil
}

// insert adds a peer's address to the address vector.
func (s shim) insert(name []byte) (addr uint64, err error) {
	var a C.fi_addr_t
	// name is alive during the call, which copies it.
	n := C.shim_insert(s.c, unsafe.Pointer(unsafe.SliceData(name)), C.size_t(len(name)), &a)
	if n != 1 {
		return 0, errorOf(min(int64(n), -int64(C.FI_EINVAL)))
	}
	return uint64(a), nil
}

// address returns a text of an address.
func (s shim) address(name []byte) string {
	b := make([]byte, 128)
	n := C.size_t(len(b))
	// Both are alive during the call, which keeps nothing.
	text := (*C.char)(unsafe.Pointer(unsafe.SliceData(b)))
	C.fi_av_straddr(s.c.av, unsafe.Pointer(unsafe.SliceData(name)), text, &n)
	b[len(b)-1] = 0
	return C.GoString(text)
}

// heard reports whether an operation to pe has ever completed.
func (s shim) heard(pe int) bool {
	// In bounds: pe is below npes, the array's length.
	return *(*C.uint8_t)(unsafe.Add(unsafe.Pointer(s.c.heard), pe)) != 0
}

// waitWord polls until the word satisfies c, for the time of spin.
func (s shim) waitWord(w word, c fabric.Cond, spin time.Duration) bool {
	sc := C.struct_shim_cond{word: w.p, value: C.uint64_t(c.Value), size: C.uint8_t(c.Type.Size()), cmp: C.uint8_t(c.Cmp)}
	if c.Type.Signed() {
		sc.is_signed = 1
	}
	return C.shim_wait_word(s.c, sc, C.uint64_t(spin)) == done
}

func (s shim) progress() { C.shim_progress(s.c) }

// setWaker names the words of another fabric's waits that the thread rings too.
func (s shim) setWaker(sleepers, doorbell *uint32) {
	// Both are mapped until the process ends, as SetWaker demands.
	s.c.other_doorbell = (*C.uint32_t)(unsafe.Pointer(doorbell))
	atomic.StorePointer((*unsafe.Pointer)(unsafe.Pointer(&s.c.other_sleepers)), unsafe.Pointer(sleepers))
}

func (s shim) stats() Stats {
	n := &s.c.counters
	// The C side adds to them atomically; each lives as long as the domain.
	load := func(p *C.uint64_t) uint64 { return atomic.LoadUint64((*uint64)(unsafe.Pointer(p))) }
	return Stats{
		Writes: load(&n.writes), Reads: load(&n.reads),
		Atomics: load(&n.atomics), FetchAtomics: load(&n.fetches), CompareAtomics: load(&n.compares), Notes: load(&n.notes),
		InjectedWrites: load(&n.injected), BouncedWrites: load(&n.bounced),
		Batches: load(&n.batches), Records: load(&n.records), Acks: load(&n.acks),
	}
}

// The words of a domain that Go shares with its thread. They stay until it is
// closed; each typed atomic is one word behind zero-size markers.

func (s shim) sleepers() *atomic.Uint32 { return (*atomic.Uint32)(unsafe.Pointer(&s.c.sleepers)) }
func (s shim) doorbell() *atomic.Uint32 { return (*atomic.Uint32)(unsafe.Pointer(&s.c.doorbell)) }
func (s shim) standing() *atomic.Uint32 { return (*atomic.Uint32)(unsafe.Pointer(&s.c.standing)) }
func (s shim) handback() *atomic.Uint32 { return (*atomic.Uint32)(unsafe.Pointer(&s.c.handback)) }
func (s shim) aborted() *atomic.Uint32  { return (*atomic.Uint32)(unsafe.Pointer(&s.c.aborted)) }
func (s shim) malformed() *atomic.Uint32 {
	return (*atomic.Uint32)(unsafe.Pointer(&s.c.mail.malformed))
}
func (s shim) broken() *atomic.Uint32 { return (*atomic.Uint32)(unsafe.Pointer(&s.c.broken)) }

// sleepersWord returns the address of a plain word, for other packages.
func (s shim) sleepersWord() *uint32 { return (*uint32)(unsafe.Pointer(&s.c.sleepers)) }

// control returns the word by which another PE ends the job: 1 + its number.
func (s shim) control() *atomic.Uint64 {
	return (*atomic.Uint64)(unsafe.Pointer(&s.c.control.aborted))
}

// libraryVersion returns the version of the libfabric that runs.
func libraryVersion() uint32 { return uint32(C.fi_version()) }

// errorOf returns the error that a negative status stands for.
func errorOf(status int64) error {
	if status >= 0 {
		return nil
	}
	return &failure{code: int(-status), pe: -1, text: C.GoString(C.fi_strerror(C.int(-status)))}
}
