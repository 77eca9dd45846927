// SPDX-License-Identifier: BSD-3-Clause

//go:build ofi && cgo && linux

package ofi

import (
	"errors"
	"fmt"
	"syscall"
)

// A failure is libfabric's error. Below 256 its code is the system's errno, and
// errors.Is finds that.
type failure struct {
	code int
	kind string // of what failed, "": not known
	pe   int    // its target, -1: not known
	text string
}

// Error returns libfabric's text.
func (f *failure) Error() string { return f.text }

// Unwrap returns the errno, if the code is one.
func (f *failure) Unwrap() error {
	if f.code < 256 {
		return syscall.Errno(f.code)
	}
	return nil
}

// remedies say what to do about the failures of operations.
var remedies = [...]struct {
	code   int
	remedy string
}{
	{int(syscall.ENOTCONN), "that PE has ended, or its connection was cut"},
	{int(syscall.ECONNRESET), "that PE has ended, or its connection was cut"},
	{badState, "that PE has ended, or its connection was cut"},
	{int(syscall.ECANCELED), "the connection to that PE was given up"},
	{int(syscall.EACCES), "its key is not the one that the PE published"},
	{int(syscall.EHOSTUNREACH), "check the interface that was chosen and the routes to that host"},
	{int(syscall.ENETUNREACH), "check the interface that was chosen and the routes to that host"},
}

// failed is the function of that name. Of a PE that has never answered it says where it
// was looked for.
func (d *Domain) failed(op string, pe int, err error) error {
	var f *failure
	if !errors.As(err, &f) {
		return failed(op, pe, err)
	}
	err = failed(op, pe, err)
	if f.pe >= 0 {
		pe = f.pe
	}
	if pe < 0 || d.shim.heard(pe) || f.code == int(syscall.EACCES) {
		return err
	}
	return fmt.Errorf("%w: it has never answered, %s", err, d.way(pe))
}

// way says what is between this PE and another one.
func (d *Domain) way(pe int) string {
	to := "?"
	if b, err := decodeBlob(d.peers.blobs.Blob(pe)); err == nil {
		to = d.shim.address(b.name)
	}
	return fmt.Sprintf("from %s to %s: check that these are addresses at which the hosts reach each other, and choose the interface if not", d.Address(), to)
}

// failed returns an operation's error, with the target's number.
func failed(op string, pe int, err error) error {
	var f *failure
	if !errors.As(err, &f) {
		return fmt.Errorf("fabric/ofi: %s to PE %d: %w", op, pe, err)
	}
	if f.pe >= 0 {
		op, pe = f.kind, f.pe // the one that failed, of several
	}
	for _, r := range remedies {
		if f.code == r.code {
			return fmt.Errorf("fabric/ofi: %s to PE %d: %w: %s", op, pe, err, r.remedy)
		}
	}
	return fmt.Errorf("fabric/ofi: %s to PE %d: %w", op, pe, err)
}

var (
	errClosed  = errors.New("fabric/ofi: the endpoint is closed")
	errAborted = errors.New("fabric/ofi: the job is ending")
)
