// SPDX-License-Identifier: BSD-3-Clause

//go:build ofi && cgo && linux

package ofi

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

func someBlob() blob {
	return blob{
		version: 1<<16 | 17, provider: "tcp;ofi_rxm", name: []byte{2, 0, 1, 2, 127, 0, 0, 1},
		segment: region{key: 7, base: 1 << 40, size: 1 << 30},
		control: region{key: 9, base: 1 << 20, size: controlSize},
		token:   11,
	}
}

func TestBlob_ComesBackAsItWas(t *testing.T) {
	want := someBlob()
	p, err := want.encode()
	require.NoError(t, err)
	got, err := decodeBlob(p)
	require.NoError(t, err)
	require.Equal(t, want, got)
}

func TestBlob_RefusesWhatIsNoBlob(t *testing.T) {
	good, err := someBlob().encode()
	require.NoError(t, err)
	for n := range good {
		_, err := decodeBlob(good[:n])
		require.Error(t, err, "the first %d of %d bytes", n, len(good))
	}
	_, err = decodeBlob(append(bytes.Clone(good), 0))
	require.ErrorContains(t, err, "1 bytes too many")
	_, err = decodeBlob([]byte("something else altogether"))
	require.ErrorContains(t, err, "not an address of this fabric")

	over := someBlob()
	over.segment.base = ^uint64(0)
	p, err := over.encode()
	require.NoError(t, err)
	_, err = decodeBlob(p)
	require.ErrorContains(t, err, "region of 1073741824 bytes at 0xffffffffffffffff")
}

// FuzzDecodeBlob: whatever comes from another PE is refused or makes sense.
func FuzzDecodeBlob(f *testing.F) {
	good, err := someBlob().encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add(good[:20])
	f.Add([]byte(blobMagic))
	f.Fuzz(func(t *testing.T, p []byte) {
		b, err := decodeBlob(p)
		if err != nil {
			return
		}
		again, err := b.encode()
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(again, p) {
			t.Errorf("decoded % x, which encodes as % x", p, again)
		}
	})
}
