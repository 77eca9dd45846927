// SPDX-License-Identifier: BSD-3-Clause

package fabric

import "sync/atomic"

// The optional capabilities of an Endpoint. Each has a fallback below, built
// from the nine methods of Endpoint. Whoever holds an endpoint looks a
// capability up once, not at every operation.

// NBIPutter puts without waiting for src.
type NBIPutter interface {
	// PutNBI is Put, except that src may be read until Quiet.
	PutNBI(pe int, dst Addr, src []byte) error
}

// NBIGetter gets without waiting for the data.
type NBIGetter interface {
	// GetNBI is Get, except that dst may be written until Quiet.
	GetNBI(pe int, dst []byte, src Addr) error
}

// NBIFetcher fetches without waiting for the value.
type NBIFetcher interface {
	// FetchAtomicNBI is FetchAtomic, except that the old value's low
	// len(result) bytes are written to result, in the machine's byte order, by Quiet at
	// the latest. len(result) is dt's size.
	FetchAtomicNBI(pe int, op Op, dt Datatype, dst Addr, v, cmp uint64, result []byte) error
}

// SignalPutter fuses a put with an update of a signal word.
type SignalPutter interface {
	// PutSignal copies src to dst on PE pe and then updates the uint64 signal
	// there by op ([OpWrite] or [OpSum]). The signal is never visible before
	// the data. It returns once src may be reused.
	PutSignal(pe int, dst Addr, src []byte, signal Addr, op Op, v uint64) error
}

// Strides describes a strided transfer: Blocks blocks of Block bytes each,
// Dst bytes from block to block at the destination and Src at the source.
type Strides struct {
	Block, Blocks int
	Dst, Src      int
}

// StridedPutter puts blocks with gaps between them.
type StridedPutter interface {
	// PutStrided copies s.Blocks blocks from src to dst. Completion is Put's.
	PutStrided(pe int, dst Addr, src []byte, s Strides) error
}

// StridedGetter gets blocks with gaps between them.
type StridedGetter interface {
	// GetStrided copies s.Blocks blocks from src to dst. Completion is Get's.
	GetStrided(pe int, dst []byte, src Addr, s Strides) error
}

// A Part is one range of a vectored transfer.
type Part struct {
	Off  Addr   // of the bytes in the target's segment
	Data []byte // the bytes here; they may be none
}

// VectorPutter puts several ranges at once.
type VectorPutter interface {
	// PutV copies each part's bytes to their place on PE pe. Completion is
	// Put's. The ranges there do not overlap each other. parts is not kept.
	PutV(pe int, parts []Part) error
}

// VectorGetter gets several ranges at once.
type VectorGetter interface {
	// GetV copies each part's bytes from their place on PE pe. Completion is
	// Get's. The buffers do not overlap each other. parts is not kept.
	GetV(pe int, parts []Part) error
}

// WordsPutter puts several words at once: a small payload and its flag in one message.
type WordsPutter interface {
	// PutWords stores words one after the other from dst on, which is aligned to 8
	// bytes, on PE pe. Each is stored untorn, but they are in no order: a waiter for one
	// may not see the others yet. Completion is Put's.
	PutWords(pe int, dst Addr, words []uint64) error
}

// Notifier sends words of which nobody learns whether they have come, so that the network
// carries one message where it carries two for a put.
type Notifier interface {
	// Notify stores words, 8 at most, one after the other from dst on, which is aligned to
	// 8 bytes, on PE pe. They may come in any order and in pieces: who sends them twice knows,
	// when both are equal, that they have come. Neither Fence nor Quiet cares about them; if
	// they can't come, the job ends. words may be reused on return.
	Notify(pe int, dst Addr, words []uint64) error
}

// PEQuieter completes what was issued to some PEs, whatever others do.
type PEQuieter interface {
	// QuietPEs returns once every operation to one of pes that was issued on this
	// endpoint before it is complete and visible to all PEs. A failure that was kept is
	// returned, as by Quiet. pes is not kept.
	QuietPEs(pes []int) error
}

// Batcher collects small operations.
type Batcher interface {
	// Batch opens a batch, or closes it. While it is open, small puts and atomics that
	// return no value may be held back, to go out together: until the next Fence or Quiet,
	// until somebody of this PE waits or calls for something to be returned, until as many are there as
	// go together, and for some 50 µs. Nothing else changes; it is a hint. Closing
	// sends what is held back, as Close does, and waits for nothing.
	Batch(open bool) error
}

// Extended is an Endpoint with every optional capability, each the endpoint's
// own or the fallback. The zero value is not usable; see [Extend].
type Extended struct {
	Endpoint
	nbiPut  NBIPutter
	nbiGet  NBIGetter
	nbiAtom NBIFetcher
	signal  SignalPutter
	sput    StridedPutter
	sget    StridedGetter
	vput    VectorPutter
	vget    VectorGetter
	words   WordsPutter
	notify  Notifier
	quieter PEQuieter
	batch   Batcher
}

// Extend looks up ep's optional capabilities.
func Extend(ep Endpoint) *Extended {
	f := fallback{ep}
	x := &Extended{Endpoint: ep, nbiPut: f, nbiGet: f, nbiAtom: f, signal: f, sput: f, sget: f, vput: f, vget: f, words: f, notify: f, quieter: f, batch: f}
	if c, ok := ep.(NBIPutter); ok {
		x.nbiPut = c
	}
	if c, ok := ep.(NBIGetter); ok {
		x.nbiGet = c
	}
	if c, ok := ep.(NBIFetcher); ok {
		x.nbiAtom = c
	}
	if c, ok := ep.(SignalPutter); ok {
		x.signal = c
	}
	if c, ok := ep.(StridedPutter); ok {
		x.sput = c
	}
	if c, ok := ep.(StridedGetter); ok {
		x.sget = c
	}
	if c, ok := ep.(VectorPutter); ok {
		x.vput = c
	}
	if c, ok := ep.(VectorGetter); ok {
		x.vget = c
	}
	if c, ok := ep.(WordsPutter); ok {
		x.words = c
	}
	if c, ok := ep.(Notifier); ok {
		x.notify = c
	}
	if c, ok := ep.(PEQuieter); ok {
		x.quieter = c
	}
	if c, ok := ep.(Batcher); ok {
		x.batch = c
	}
	return x
}

// PutNBI implements [NBIPutter].
func (x *Extended) PutNBI(pe int, dst Addr, src []byte) error { return x.nbiPut.PutNBI(pe, dst, src) }

// GetNBI implements [NBIGetter].
func (x *Extended) GetNBI(pe int, dst []byte, src Addr) error { return x.nbiGet.GetNBI(pe, dst, src) }

// FetchAtomicNBI implements [NBIFetcher].
func (x *Extended) FetchAtomicNBI(pe int, op Op, dt Datatype, dst Addr, v, cmp uint64, result []byte) error {
	return x.nbiAtom.FetchAtomicNBI(pe, op, dt, dst, v, cmp, result)
}

// PutSignal implements [SignalPutter].
func (x *Extended) PutSignal(pe int, dst Addr, src []byte, signal Addr, op Op, v uint64) error {
	return x.signal.PutSignal(pe, dst, src, signal, op, v)
}

// PutStrided implements [StridedPutter].
func (x *Extended) PutStrided(pe int, dst Addr, src []byte, s Strides) error {
	return x.sput.PutStrided(pe, dst, src, s)
}

// GetStrided implements [StridedGetter].
func (x *Extended) GetStrided(pe int, dst []byte, src Addr, s Strides) error {
	return x.sget.GetStrided(pe, dst, src, s)
}

// PutV implements [VectorPutter].
func (x *Extended) PutV(pe int, parts []Part) error { return x.vput.PutV(pe, parts) }

// GetV implements [VectorGetter].
func (x *Extended) GetV(pe int, parts []Part) error { return x.vget.GetV(pe, parts) }

// PutWords implements [WordsPutter].
func (x *Extended) PutWords(pe int, dst Addr, words []uint64) error {
	return x.words.PutWords(pe, dst, words)
}

// Notify implements [Notifier].
func (x *Extended) Notify(pe int, dst Addr, words []uint64) error {
	return x.notify.Notify(pe, dst, words)
}

// QuietPEs implements [PEQuieter].
func (x *Extended) QuietPEs(pes []int) error { return x.quieter.QuietPEs(pes) }

// Batch implements [Batcher].
func (x *Extended) Batch(open bool) error { return x.batch.Batch(open) }

// fallback builds the optional capabilities from the nine.
type fallback struct{ ep Endpoint }

// PutNBI is Put: a blocking put is a legal non-blocking one.
func (f fallback) PutNBI(pe int, dst Addr, src []byte) error { return f.ep.Put(pe, dst, src) }

// GetNBI is Get.
func (f fallback) GetNBI(pe int, dst []byte, src Addr) error { return f.ep.Get(pe, dst, src) }

// FetchAtomicNBI is FetchAtomic.
func (f fallback) FetchAtomicNBI(pe int, op Op, dt Datatype, dst Addr, v, cmp uint64, result []byte) error {
	old, err := f.ep.FetchAtomic(pe, op, dt, dst, v, cmp)
	if err != nil {
		return err
	}
	PutBits(result, old)
	return nil
}

// PutSignal is Put, Fence, then the signal's update.
func (f fallback) PutSignal(pe int, dst Addr, src []byte, signal Addr, op Op, v uint64) error {
	if err := f.ep.Put(pe, dst, src); err != nil {
		return err
	}
	if err := f.ep.Fence(); err != nil {
		return err
	}
	return f.ep.Atomic(pe, op, Uint64, signal, v)
}

// PutStrided puts block by block.
func (f fallback) PutStrided(pe int, dst Addr, src []byte, s Strides) error {
	for i := range s.Blocks {
		from := i * s.Src
		if err := f.ep.Put(pe, dst+uintptr(i*s.Dst), src[from:from+s.Block]); err != nil {
			return err
		}
	}
	return nil
}

// GetStrided gets block by block.
func (f fallback) GetStrided(pe int, dst []byte, src Addr, s Strides) error {
	for i := range s.Blocks {
		to := i * s.Dst
		if err := f.ep.Get(pe, dst[to:to+s.Block], src+uintptr(i*s.Src)); err != nil {
			return err
		}
	}
	return nil
}

// PutV puts part by part.
func (f fallback) PutV(pe int, parts []Part) error {
	for _, p := range parts {
		if err := f.ep.Put(pe, p.Off, p.Data); err != nil {
			return err
		}
	}
	return nil
}

// GetV gets part by part.
func (f fallback) GetV(pe int, parts []Part) error {
	for _, p := range parts {
		if err := f.ep.Get(pe, p.Data, p.Off); err != nil {
			return err
		}
	}
	return nil
}

// PutWords puts word by word.
func (f fallback) PutWords(pe int, dst Addr, words []uint64) error {
	for i, v := range words {
		if err := f.ep.PutWord(pe, dst+8*uintptr(i), 8, v); err != nil {
			return err
		}
	}
	return nil
}

// Notify puts them.
func (f fallback) Notify(pe int, dst Addr, words []uint64) error { return f.PutWords(pe, dst, words) }

// QuietPEs is Quiet, which waits for more.
func (f fallback) QuietPEs([]int) error { return f.ep.Quiet() }

// Batch does nothing: nothing is held back.
func (f fallback) Batch(bool) error { return nil }

// Committer is an optional capability of a Domain whose memory costs nothing
// until it is committed.
type Committer interface {
	// Affords reports whether each near PE can commit another size bytes, and
	// if not, an error with the numbers.
	Affords(size uintptr) error

	// Commit makes size bytes at off of the own segment ready for use: pages
	// exist, so that no access can fail for want of memory. They read as zero.
	Commit(off Addr, size uintptr) error

	// Populate makes a range that every near PE has committed cheap to reach
	// on all of them from this process, as far as it finds that worth while.
	Populate(off Addr, size uintptr)

	// Release gives the memory back. The bytes read as zero afterwards.
	Release(off Addr, size uintptr) error
}

// Turner is an optional capability of a Domain: a word for each near PE besides the segments,
// 0 at first. Those of all PEs lie close together, for PEs that take turns.
type Turner interface {
	// Turn returns near PE pe's word.
	Turn(pe int) *atomic.Uint64

	// WaitTurn returns once the own PE's word is v or more. It sleeps as Wait does for a Cond
	// that is System and Long: whoever raises the word calls Wake.
	WaitTurn(v uint64) error
}
