// SPDX-License-Identifier: BSD-3-Clause

//go:build ofi && cgo && linux

package ofi

import (
	"net"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goshmem/goshmem/fabric"
)

func TestList_SaysWhatIsUsableAndWhyNot(t *testing.T) {
	infos, err := List()
	require.NoError(t, err)
	usable := map[string]bool{}
	for _, x := range infos {
		t.Logf("%-14s %-8s %-10s %-20s usable %-5v %s", x.Provider, x.Version, x.Domain, x.Fabric, x.Usable, x.Reason)
		usable[x.Provider] = usable[x.Provider] || x.Usable
		if !x.Usable && x.Reason == "" {
			t.Errorf("%+v is not usable for no reason", x)
		}
	}
	for _, o := range tested {
		require.True(t, usable[o.Provider], o.Provider)
	}
	for _, v := range verdicts {
		if v.refused != "" {
			require.False(t, usable[v.name], v.name)
		}
	}
}

func TestOpen_ChoosesTCPHere(t *testing.T) {
	for _, want := range []string{"", "tcp", "tcp;ofi_rxm"} {
		d, err := New(Options{Provider: want}).Open(fabric.Job{NPEs: 1})
		require.NoError(t, err)
		require.Equal(t, "tcp;ofi_rxm", d.(*Domain).Provider(), "asked for %q", want)
		require.NoError(t, d.Close())
	}
}

// TestOpen_SaysWhatIsWrong: errors name what was asked for, and what there is.
func TestOpen_SaysWhatIsWrong(t *testing.T) {
	for _, c := range []struct {
		o    Options
		want []string
	}{
		{Options{Provider: "carrier-pigeon"}, []string{"there is no provider carrier-pigeon here", "usable here: tcp;ofi_rxm"}},
		{Options{Provider: "shm"}, []string{"provider shm cannot be used", "fabric shm serves PEs of one node"}},
		{Options{Provider: "udp"}, []string{"provider udp cannot be used", "crashes"}},
		{Options{Provider: "net"}, []string{"provider net cannot be used", "no atomics"}},
		{Options{Source: "example.org"}, []string{`source address "example.org"`}},
		{Options{Source: "203.0.113.7"}, []string{"203.0.113.7 is no address of this host"}},
	} {
		p := New(c.o)
		_, err := p.Open(fabric.Job{NPEs: 1})
		for _, want := range c.want {
			require.ErrorContains(t, err, want, "%+v", c.o)
		}
		require.Equal(t, err.Error(), p.Probe().Error())
	}
	require.NoError(t, New(Options{}).Probe())
}

func TestCheckVersion_RefusesWhatIsTooOld(t *testing.T) {
	require.EqualError(t, checkVersion(1<<16|16), "libfabric 1.16 is too old: 1.17 or newer is needed")
	require.NoError(t, checkVersion(1<<16|17))
	require.NoError(t, checkVersion(2<<16))
	require.NoError(t, checkVersion(libraryVersion()))
}

func TestOpen_TakesTheSourceAddress(t *testing.T) {
	for _, o := range tested {
		for _, o.Source = range []string{"127.0.0.2", "::1"} {
			t.Run(o.Provider+" "+o.Source, func(t *testing.T) {
				if l, err := net.Listen("tcp", net.JoinHostPort(o.Source, "0")); err != nil {
					t.Skip(err)
				} else {
					l.Close()
				}
				d := connected(t, provider(o, 1), 1, small)[0]
				require.Contains(t, d.Address(), o.Source)
				e := endpoint(t, d)
				require.NoError(t, e.PutWord(0, 8, 8, 5))
				require.NoError(t, e.Quiet())
				require.Equal(t, uint64(5), d.word(8).load(8))
			})
		}
	}
}

func TestConnect_RefusesWhatDoesNotFit(t *testing.T) {
	d := openAll(t, provider(Options{}, 2), 2, small)[0]
	t.Cleanup(func() { require.NoError(t, d.Close()) })
	require.ErrorContains(t, d.Connect(fabric.Table{}), "no segment is registered")
	own, err := d.Register(make([]byte, small))
	require.NoError(t, err)
	_, err = d.Register(make([]byte, small))
	require.ErrorContains(t, err, "registered already")

	other := d.own
	other.provider = "sockets"
	sockets, err := other.encode()
	require.NoError(t, err)
	other = d.own
	other.version++
	newer, err := other.encode()
	require.NoError(t, err)
	for _, c := range []struct {
		blobs [][]byte
		want  string
	}{
		{[][]byte{own}, "1 addresses for 2 PEs"},
		{[][]byte{own, own[:9]}, "PE 1: address cut short"},
		{[][]byte{own, sockets}, "PE 1 uses provider sockets, this one tcp;ofi_rxm"},
		{[][]byte{own, newer}, "PE 1 has libfabric"},
	} {
		require.ErrorContains(t, d.Connect(fabric.NewTable(c.blobs)), c.want)
	}
}

// TestKeys_AreRandom: nobody can guess the key of a segment, or reuse one.
func TestKeys_AreRandom(t *testing.T) {
	for _, o := range tested {
		t.Run(o.Provider, func(t *testing.T) {
			keys := map[uint64]bool{}
			for _, d := range connected(t, provider(o, 4), 4, small) {
				keys[d.own.segment.key] = true
				keys[d.own.control.key] = true
			}
			require.Len(t, keys, 8)
			o.Key = 42
			require.Equal(t, uint64(42), connected(t, provider(o, 1), 1, small)[0].own.segment.key)
		})
	}
}
