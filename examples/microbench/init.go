// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"bufio"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/goshmem/goshmem/shmem"
)

// reportInit prints the time that Init took on PE 0, and PE 0's memory, where the
// system tells.
func reportInit(pe *shmem.PE, took time.Duration, out io.Writer) error {
	pe.BarrierAll()
	figure(out, "init_s", took.Seconds(), "s")
	for _, m := range []struct{ name, file, key string }{
		{"rss", "/proc/self/status", "VmRSS:"},
		{"pss", "/proc/self/smaps_rollup", "Pss:"},
	} {
		if f, err := os.Open(m.file); err == nil {
			if kib, ok := lookup(f, m.key); ok {
				figure(out, m.name, kib/1024, "MiB")
			}
			f.Close()
		}
	}
	pe.BarrierAll()
	return nil
}

// lookup returns the number after key in lines such as "VmRSS:   1234 kB".
func lookup(r io.Reader, key string) (kib float64, ok bool) {
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) >= 2 && fields[0] == key {
			kib, err := strconv.ParseFloat(fields[1], 64)
			return kib, err == nil
		}
	}
	return 0, false
}
