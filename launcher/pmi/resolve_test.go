// SPDX-License-Identifier: BSD-3-Clause

package pmi

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestResolve(t *testing.T) {
	const hosts = "127.0.0.1\tlocalhost\n# 10.0.0.9 gone\n10.0.0.1 n1.cluster n1 # first\nbad n2\nfe80::2%eth0 n6\n"
	tests := []struct{ host, want string }{
		{"10.1.2.3", "10.1.2.3"},
		{"::1", "::1"},
		{"localhost", "127.0.0.1"},
		{"n1", "10.0.0.1"},
		{"N1.Cluster", "10.0.0.1"},
		{"self", "127.0.0.1"},
		{"self.cluster", "127.0.0.1"},
		{"n6", "fe80::2%eth0"},
	}
	for _, test := range tests {
		got, err := resolve(test.host, "self.example", hosts)
		require.NoError(t, err, test.host)
		require.Equal(t, test.want, got.String(), test.host)
	}
	for _, host := range []string{"", "n2", "gone", "other"} {
		_, err := resolve(host, "self", hosts)
		require.ErrorContains(t, err, "PMI_FD", host)
	}
	_, err := resolve("", "", hosts)
	require.Error(t, err)
}
