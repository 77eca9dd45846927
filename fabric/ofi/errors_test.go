// SPDX-License-Identifier: BSD-3-Clause

//go:build ofi && cgo && linux

package ofi

import (
	"errors"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// TestFailed_NamesThePEAndTheRemedy: that of the operation which failed, not of the
// one that found out.
func TestFailed_NamesThePEAndTheRemedy(t *testing.T) {
	for code, remedy := range map[int]string{
		int(syscall.ENOTCONN):     "has ended, or its connection was cut",
		badState:                  "has ended, or its connection was cut",
		int(syscall.ECANCELED):    "given up",
		int(syscall.EACCES):       "key",
		int(syscall.EHOSTUNREACH): "routes",
	} {
		err := failed("quiet", -1, &failure{code: code, kind: "put", pe: 3, text: "the reason"})
		require.ErrorContains(t, err, "put to PE 3: the reason: ", "code %d", code)
		require.ErrorContains(t, err, remedy, "code %d", code)
		err = failed("get", 5, errorOf(-int64(code)))
		require.ErrorContains(t, err, "get to PE 5: ", "code %d", code)
		require.Equal(t, code < 256, errors.Is(err, syscall.Errno(code)), "code %d", code)
	}
	require.EqualError(t, failed("get", 5, errAborted), "fabric/ofi: get to PE 5: fabric/ofi: the job is ending")
}

// TestLockedRemedy_HasTheNumbers: who may not lock as much as is to be registered is told
// both, and what to do.
func TestLockedRemedy_HasTheNumbers(t *testing.T) {
	var old unix.Rlimit
	require.NoError(t, unix.Getrlimit(unix.RLIMIT_MEMLOCK, &old))
	t.Cleanup(func() { require.NoError(t, unix.Setrlimit(unix.RLIMIT_MEMLOCK, &old)) })
	require.NoError(t, unix.Setrlimit(unix.RLIMIT_MEMLOCK, &unix.Rlimit{Cur: 64 << 10, Max: old.Max}))
	for _, code := range []syscall.Errno{syscall.ENOMEM, syscall.EPERM, syscall.EAGAIN} {
		require.Contains(t, lockedRemedy(errorOf(-int64(code)), 1<<20), "may lock 64 KiB, the segment has 1024 KiB: raise the limit (ulimit -l")
		require.Empty(t, lockedRemedy(errorOf(-int64(code)), 64<<10))
	}
	require.Empty(t, lockedRemedy(errorOf(-int64(syscall.EINVAL)), 1<<20))
}
