// SPDX-License-Identifier: BSD-3-Clause

package shmem

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
)

// Error is what misuse panics with: a zero or freed object, a PE or a range out
// of bounds, an element type with pointers, collectives that do not match.
// Misuse is always looked for: the checks together cost about 1 ns.
type Error struct {
	Op     string // the call: "Put"
	PE     int    // the PE that made it, -1 if it made none
	Object string // the symmetric object: "[]int64 of 8 elements at offset 65536"
	Range  string // the elements wanted: "elements 0 to 63"
	Target int    // the PE named, -1 if none
	Reason string // what is wrong, and what to do
	Site   string // file:line of the call, outside of this package
	Err    error  // the cause, if there is one

	alias string   // what the world calls a team's Target
	at    badIndex // of At and Slice, whose text is made when it is asked for
}

// badIndex is what At and Slice know of a bad index. They must stay small
// enough to be inlined, so the report is written late.
type badIndex struct {
	ctx     *Context
	off     uintptr
	i, j, n int
}

// Error puts everything that is known in one line.
func (e *Error) Error() string {
	if e.at != (badIndex{}) {
		e.explainIndex()
	}
	var b strings.Builder
	fmt.Fprintf(&b, "shmem: %s", e.Op)
	if e.PE >= 0 {
		fmt.Fprintf(&b, " by PE %d", e.PE)
	}
	fmt.Fprintf(&b, ": %s", e.Reason)
	sep := " ("
	part := func(s string) {
		if s != "" {
			b.WriteString(sep + s)
			sep = ", "
		}
	}
	part(e.Range)
	if e.Object != "" {
		part("object " + e.Object)
	}
	if e.Target >= 0 {
		part(fmt.Sprintf("target PE %d%s", e.Target, e.alias))
	}
	if sep == ", " {
		b.WriteString(")")
	}
	if e.Site != "" {
		b.WriteString(" at " + e.Site)
	}
	return b.String()
}

// explainIndex writes the report of a bad index.
func (e *Error) explainIndex() {
	at := e.at
	e.at, e.PE, e.Target = badIndex{}, -1, -1
	if at.ctx != nil {
		e.PE = at.ctx.pe.me
	}
	e.Object = fmt.Sprintf("of %d elements at offset %d", at.n, at.off)
	e.Range = rangeText(at.i, at.j)
	e.Reason = "index out of bounds"
	e.Site = panicSite()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// ErrEnding is the cause of errors and panics that come only because another
// PE ended the job.
var ErrEnding = errors.New("the job is ending")

// misuse starts the report of a misused object. The verb is the one that the
// program called, if op is what that one is made of: AtomicInc, not AtomicAdd.
func (x Sym[T]) misuse(op string, n, target int) *Error {
	verb, site := call(false)
	if verb != "" {
		op = verb
	}
	e := &Error{Op: op, PE: -1, Target: target, Object: x.String(), Site: site}
	if x.ctx != nil {
		e.PE, e.alias = x.ctx.pe.me, x.ctx.alias(target)
	}
	if n > 0 {
		e.Range = rangeText(0, n)
	}
	return e
}

// String describes the object.
func (x Sym[T]) String() string {
	var zero T
	if x.obj == nil {
		return fmt.Sprintf("zero Sym[%T]", zero)
	}
	s := fmt.Sprintf("[]%T of %d elements at offset %d", zero, x.n, x.off)
	if x.obj.live == 0 {
		s += ", freed"
	}
	return s
}

func rangeText(i, j int) string {
	if j == i+1 {
		return fmt.Sprintf("element %d", i)
	}
	return fmt.Sprintf("elements %d to %d", i, j-1)
}

// check panics if n elements of x on PE target cannot be named; op is for the
// report. It is the slow path's: the fast paths test the same by fewer means.
func (x Sym[T]) check(op string, n, target int) {
	var reason string
	switch {
	case x.ctx == nil || x.obj == nil:
		reason = "the symmetric object is the zero Sym: use what Alloc returned"
	case x.ctx.closed.Load():
		reason = closedReason
	case x.obj.live == 0 && x.n > 0:
		reason = "the symmetric object was freed"
	case target < 0 || target >= x.ctx.npes:
		reason = x.ctx.team.outOfRange(target)
	case n > x.n || n < 0:
		reason = fmt.Sprintf("%d elements do not fit the object's %d", n, x.n)
	default:
		return
	}
	e := x.misuse(op, n, target)
	e.Reason = reason
	panic(e)
}

// checkScalar is check for the verbs that want an object of one element.
func (x Sym[T]) checkScalar(op string, target int) {
	x.check(op, min(x.n, 1), target)
	if x.n == 1 {
		return
	}
	x.refuse(op, target, "the object has %d elements, this takes one: select it by At(i)", x.n)
}

// refuse panics with a reason.
func (x Sym[T]) refuse(op string, target int, format string, args ...any) {
	e := x.misuse(op, 0, target)
	e.Reason = fmt.Sprintf(format, args...)
	panic(e)
}

// fail ends the calling goroutine because the fabric could not do what was
// asked: a verb has no error to return, and the job cannot go on.
func (ctx *Context) fail(op string, target int, err error) {
	panic(&Error{Op: op, PE: ctx.pe.me, Target: target, Reason: err.Error(), Site: callSite(), Err: err, alias: ctx.alias(target)})
}

// must is fail if err is not nil.
func (ctx *Context) must(op string, target int, err error) {
	if err != nil {
		ctx.fail(op, target, err)
	}
}

// callSite returns file:line of the innermost call from outside this package.
func callSite() string {
	_, site := call(false)
	return site
}

// panicSite is callSite for the panic that is under way, seen from a deferred
// function or from the runtime's report; "" if there is none.
func panicSite() string {
	_, site := call(true)
	return site
}

// call returns the innermost call from outside this package: the function of
// this package that was called, and file:line of the call.
func call(panicking bool) (verb, site string) {
	var pcs [64]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs[:])])
	for {
		f, more := frames.Next()
		name, ours := strings.CutPrefix(f.Function, thisPackage)
		switch {
		case panicking:
			panicking = f.Function != "runtime.gopanic"
		case ours:
			verb = strings.TrimSuffix(name, "[...]") // a type argument has no name here
			verb = verb[strings.LastIndexByte(verb, '.')+1:]
		case f.Function != "" && !strings.HasPrefix(f.Function, collectivesPackage):
			return verb, fmt.Sprintf("%s:%d", f.File, f.Line)
		}
		if !more {
			return verb, ""
		}
	}
}

const (
	module             = "github.com/goshmem/goshmem/"
	thisPackage        = module + "shmem."
	collectivesPackage = module + "collectives."
)
