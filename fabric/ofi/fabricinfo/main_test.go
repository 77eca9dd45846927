// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goshmem/goshmem/fabric/ofi"
)

func TestList(t *testing.T) {
	var b strings.Builder
	require.NoError(t, list(&b, []ofi.Info{
		{Provider: "tcp;ofi_rxm", Version: "117.0", Fabric: "10.0.0.0/16", Domain: "eth0", Usable: true},
		{Provider: "net", Version: "117.0", Fabric: "10.0.0.0/16", Domain: "eth0", Reason: "it has no atomics"},
	}))
	require.Equal(t, `PROVIDER     VERSION  INTERFACE  NETWORK      USABLE
tcp;ofi_rxm  117.0    eth0       10.0.0.0/16  yes
net          117.0    eth0       10.0.0.0/16  no: it has no atomics
`, b.String())

	b.Reset()
	require.NoError(t, list(&b, nil))
	require.Equal(t, "libfabric offers nothing on this machine\n", b.String())
}
