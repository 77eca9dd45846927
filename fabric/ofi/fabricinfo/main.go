// SPDX-License-Identifier: BSD-3-Clause

// Fabricinfo lists what libfabric offers on this machine, the preferred first, and why
// each offer is or is not usable by goshmem: what gorun --fabric-info shows.
//
//	go run -tags ofi github.com/goshmem/goshmem/fabric/ofi/fabricinfo
package main

import (
	"fmt"
	"io"
	"os"
	"text/tabwriter"

	"github.com/goshmem/goshmem/fabric/ofi"
)

func main() {
	infos, err := ofi.List()
	if err == nil {
		err = list(os.Stdout, infos)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// list writes one line for each offer.
func list(w io.Writer, infos []ofi.Info) error {
	if len(infos) == 0 {
		_, err := fmt.Fprintln(w, "libfabric offers nothing on this machine")
		return err
	}
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	fmt.Fprintln(t, "PROVIDER\tVERSION\tINTERFACE\tNETWORK\tUSABLE")
	for _, x := range infos {
		usable := "no"
		if x.Usable {
			usable = "yes"
		}
		if x.Reason != "" {
			usable += ": " + x.Reason
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", x.Provider, x.Version, x.Domain, x.Fabric, usable)
	}
	return t.Flush()
}
