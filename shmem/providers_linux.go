// SPDX-License-Identifier: BSD-3-Clause

package shmem

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	mathbits "math/bits"
	"os"

	"golang.org/x/sys/unix"

	"github.com/goshmem/goshmem/fabric"
	"github.com/goshmem/goshmem/fabric/shm"
	"github.com/goshmem/goshmem/internal/env"
	"github.com/goshmem/goshmem/internal/segment"
	"github.com/goshmem/goshmem/launcher/pmi"
)

// affinity returns the cores that this process may run on.
func affinity() unix.CPUSet {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil || set.Count() == 0 {
		set.Set(0)
	}
	return set
}

// cores returns how many cores this process may run on.
func cores() int {
	set := affinity()
	return set.Count()
}

// sharedCores returns how many cores the PEs of client's job may run on
// together: a launcher may have bound each to its own.
func sharedCores(client *pmi.Client) (int, error) {
	set := affinity()
	var mask []byte
	for _, word := range set {
		mask = binary.NativeEndian.AppendUint64(mask, uint64(word))
	}
	table, err := client.Allgather(mask)
	if err != nil {
		return 0, err
	}
	union := make([]byte, len(mask))
	n := 0
	for i := range union {
		for _, m := range table {
			if i < len(m) {
				union[i] |= m[i]
			}
		}
		n += mathbits.OnesCount8(union[i])
	}
	return max(n, 1), nil
}

// openLone opens the domain of the only PE, on an anonymous file.
func openLone(l segment.Layout, vars env.Table) (Host, error) {
	file, err := segment.CreateFile(l)
	if err != nil {
		return Host{}, err
	}
	return openShared(file, nil, vars)
}

// openShared opens this PE's domain on its node's shared file, which it closes, joined
// with libfabric if some PEs are on other nodes, or if that is asked for.
func openShared(file *os.File, client *pmi.Client, vars env.Table) (Host, error) {
	job := fabric.Job{NPEs: 1}
	if client != nil {
		job = fabric.Job{PE: client.PE(), NPEs: client.NPEs()}
	}
	d, err := shm.New(file).Open(job)
	if err := errors.Join(err, file.Close()); err != nil {
		return Host{}, err
	}
	l := d.(*shm.Domain).Layout()
	h := Host{Domain: d, Fabric: "shm", PE: job.PE, NPEs: job.NPEs, Crowded: l.PEs > l.Cores}
	name, err := vars.FabricName()
	farAtomics, aerr := vars.FarAtomics()
	switch {
	case err != nil || aerr != nil:
		return Host{}, errors.Join(err, aerr)
	case name == "shm" && l.PEs < l.NPEs:
		return Host{}, fmt.Errorf("%s=shm: %d of the %d PEs are on other nodes, which shared memory does not reach: leave it empty, or set it to ofi", env.Fabric, l.NPEs-l.PEs, l.NPEs)
	case name == "ofi" || farAtomics || l.PEs < l.NPEs:
		return joinFar(h, l, client, vars, name == "ofi", farAtomics)
	}
	h.Leave = func() error { return leaveNear(client, vars) }
	return h, connect(d, h.PE, h.NPEs)
}

// shareFile makes one shared file for PEs that another launcher started. PE 0
// creates it under a name that only its user can open and that nobody can guess,
// the rest open it, and it is unlinked once all have.
func shareFile(client *pmi.Client, l segment.Layout) (*os.File, error) {
	var file *os.File
	var name string
	var err error
	if l.Cores, err = sharedCores(client); err != nil {
		return nil, err
	}
	if client.PE() == 0 {
		if file, err = createNamed(l); err == nil {
			name = file.Name()
			defer os.Remove(name)
		}
	}
	// Failures are exchanged too, so that all PEs say why.
	blob := []byte(name)
	if err != nil {
		blob = []byte("\x00" + err.Error())
	}
	table, xerr := client.Allgather(blob)
	if xerr != nil {
		return nil, xerr
	}
	if err := blobError(table[0]); err != nil {
		return nil, err
	}
	if client.PE() != 0 {
		file, err = os.OpenFile(string(table[0]), os.O_RDWR|unix.O_NOFOLLOW, 0)
	}
	blob = nil
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("PE %d does not see PE 0's shared file %s, so it is on another node: start jobs of several nodes by gorun --host", client.PE(), table[0])
	}
	if err != nil {
		blob = []byte("\x00" + err.Error())
	}
	if table, xerr = client.Allgather(blob); xerr != nil {
		return nil, xerr
	}
	for _, b := range table {
		if err := blobError(b); err != nil {
			return nil, err
		}
	}
	return file, nil
}

func blobError(b []byte) error {
	if len(b) > 0 && b[0] == 0 {
		return errors.New(string(b[1:]))
	}
	return nil
}

// createNamed creates a shared file in memory that others can open by name.
func createNamed(l segment.Layout) (*os.File, error) {
	file, err := os.CreateTemp("/dev/shm", "goshmem-*") // 0600, exclusive
	if err != nil {
		return nil, fmt.Errorf("create a shared file: %w", err)
	}
	if err := l.Format(file); err != nil {
		return nil, errors.Join(err, file.Close(), os.Remove(file.Name()))
	}
	return file, nil
}
