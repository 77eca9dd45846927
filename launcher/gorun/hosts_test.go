// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goshmem/goshmem/launcher"
)

func TestParseHosts(t *testing.T) {
	tests := map[string][]launcher.Host{
		"a":                  {{Name: "a", PEs: 1}},
		"a:2,b:3":            {{Name: "a", PEs: 2}, {Name: "b", PEs: 3}},
		"n-1.x_y:4,10.0.0.1": {{Name: "n-1.x_y", PEs: 4}, {Name: "10.0.0.1", PEs: 1}},
		"[::1]:4,[fd00::2]":  {{Name: "::1", PEs: 4}, {Name: "fd00::2", PEs: 1}},
	}
	for s, want := range tests {
		got, err := parseHosts(s)
		require.NoError(t, err, s)
		require.Equal(t, want, got, s)
	}
	bad := map[string]string{
		"":                 `"" is not a host's name`,
		"a,,b":             `"" is not a host's name`,
		"-oProxy:1":        `"-oProxy" is not a host's name`,
		"a b:1":            `"a b" is not a host's name`,
		"a;rm:1":           `"a;rm" is not a host's name`,
		"a:0":              "a:0: want a number of slots from 1 to 65536",
		"a:":               "a:: want a number of slots",
		"a:x":              "a:x: want a number of slots",
		"a:65537":          "a:65537: want a number of slots",
		"::1:4":            `"" is not a host's name`,
		"[::1":             `"[::1": want [IPv6 address]`,
		"[::1]4":           `"[::1]4": want [IPv6 address]`,
		"[10.0.0.1]":       "want [IPv6 address]",
		"[fe80::1%eth0]:2": `"[fe80::1%eth0]:2": want [IPv6 address] or [IPv6 address]:slots, without a zone`,
		"a:1,b,a:2":        "host a is there twice",
	}
	for s, want := range bad {
		_, err := parseHosts(s)
		require.ErrorContains(t, err, want, "%q", s)
	}
}

func TestPlace(t *testing.T) {
	hosts := []launcher.Host{{Name: "a", PEs: 2}, {Name: "b", PEs: 3}}
	tests := []struct {
		np   int
		want []launcher.Host
	}{
		{0, hosts},
		{5, hosts},
		{4, []launcher.Host{{Name: "a", PEs: 2}, {Name: "b", PEs: 2}}},
		{2, []launcher.Host{{Name: "a", PEs: 2}}},
		{1, []launcher.Host{{Name: "a", PEs: 1}}},
	}
	for _, test := range tests {
		got, err := place(hosts, test.np)
		require.NoError(t, err)
		require.Equal(t, test.want, got, "np %d", test.np)
	}
	_, err := place(hosts, 6)
	require.ErrorContains(t, err, "--np 6: the hosts have 5 slots in all")
}

func TestSplitWords(t *testing.T) {
	tests := map[string][]string{
		"":                              nil,
		"ip netns exec {host}":          {"ip", "netns", "exec", "{host}"},
		"  a\t b\n":                     {"a", "b"},
		`sh -c 'exec "$@"' sh`:          {"sh", "-c", `exec "$@"`, "sh"},
		`"a b"c 'd'"e"`:                 {"a bc", "de"},
		`a\ b \' "\"\x\\" '\'`:          {"a b", "'", `"\x\`, `\`},
		`'' ""`:                         {"", ""},
		`$HOME * ~ "$x" "` + "``" + `"`: {"$HOME", "*", "~", "$x", "``"},
	}
	for s, want := range tests {
		got, err := splitWords(s)
		require.NoError(t, err, s)
		require.Equal(t, want, got, s)
	}
	for s, want := range map[string]string{`a 'b`: "a ' is not closed", `"a\"`: `a " is not closed`, `a\`: `nothing behind the last \`} {
		_, err := splitWords(s)
		require.EqualError(t, err, want, s)
	}
}

func FuzzSplitWords(f *testing.F) {
	f.Add(`sh -c 'mount && exec "$@"' sh`)
	f.Add(`a\ b "c\"d"`)
	f.Fuzz(func(t *testing.T, s string) {
		words, err := splitWords(s)
		if err != nil {
			return
		}
		// Quoted again, they are the same words.
		var quoted strings.Builder
		for _, w := range words {
			quoted.WriteString(" " + quote(w))
		}
		again, err := splitWords(quoted.String())
		require.NoError(t, err)
		require.Equal(t, words, again)
	})
}

// quote returns a word in single quotes.
func quote(w string) string {
	var q strings.Builder
	q.WriteString("'")
	for i := range len(w) {
		if w[i] == '\'' {
			q.WriteString(`'\''`)
		} else {
			q.WriteString(w[i : i+1])
		}
	}
	return q.String() + "'"
}
