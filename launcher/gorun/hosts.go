// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"errors"
	"fmt"
	"net/netip"
	"regexp"
	"strconv"
	"strings"

	"github.com/goshmem/goshmem/launcher"
)

// hostName is what a host may be called: nothing that an agent could take for a
// flag or for more than a word.
var hostName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]*$`)

// parseHosts reads a list of hosts, each with its number of slots, which is 1
// unless it is given: a:2,b or [fd00::1]:4. A zone is of one host only, so no
// address has one.
func parseHosts(s string) ([]launcher.Host, error) {
	var hosts []launcher.Host
	seen := make(map[string]bool)
	for item := range strings.SplitSeq(s, ",") {
		name, slots, err := cutSlots(item)
		if err != nil {
			return nil, err
		}
		if seen[name] {
			return nil, fmt.Errorf("host %s is there twice", name)
		}
		seen[name] = true
		hosts = append(hosts, launcher.Host{Name: name, PEs: slots})
	}
	return hosts, nil
}

func cutSlots(item string) (name string, slots int, err error) {
	var count string
	var counted bool
	if rest, ok := strings.CutPrefix(item, "["); ok {
		if name, rest, ok = strings.Cut(rest, "]"); ok {
			count, counted = strings.CutPrefix(rest, ":")
		}
		if addr, err := netip.ParseAddr(name); !ok || err != nil || !addr.Is6() || addr.Zone() != "" || !counted && rest != "" {
			return "", 0, fmt.Errorf("%q: want [IPv6 address] or [IPv6 address]:slots, without a zone", item)
		}
	} else {
		name, count, counted = strings.Cut(item, ":")
		if !hostName.MatchString(name) {
			return "", 0, fmt.Errorf("%q is not a host's name; want a list such as a:2,b:2", name)
		}
	}
	if !counted {
		return name, 1, nil
	}
	slots, err = strconv.Atoi(count)
	if err != nil || slots < 1 || slots > launcher.MaxPEs {
		return "", 0, fmt.Errorf("%s:%s: want a number of slots from 1 to %d", name, count, launcher.MaxPEs)
	}
	return name, slots, nil
}

// place returns the hosts that np PEs need, each with as many as it gets; np 0
// stands for all slots.
func place(hosts []launcher.Host, np int) ([]launcher.Host, error) {
	slots := 0
	for _, h := range hosts {
		slots += h.PEs
	}
	if np > slots {
		return nil, fmt.Errorf("--np %d: the hosts have %d slots in all; give more with --host name:slots", np, slots)
	}
	if np == 0 {
		np = slots
	}
	var used []launcher.Host
	for _, h := range hosts {
		if h.PEs = min(h.PEs, np); h.PEs == 0 {
			break
		}
		used = append(used, h)
		np -= h.PEs
	}
	return used, nil
}

// parseAgent reads the command of an agent.
func parseAgent(s string) ([]string, error) {
	words, err := splitWords(s)
	if err != nil {
		return nil, err
	}
	if len(words) == 0 {
		return nil, errors.New("want a command")
	}
	for _, w := range words {
		if strings.Contains(w, launcher.AgentHost) {
			return words, nil
		}
	}
	return nil, fmt.Errorf("it does not say where the host's name goes: want %s in it", launcher.AgentHost)
}

// splitWords splits s into words as a shell does: at blanks that are not quoted
// by ', " or \. It expands nothing: a $ is a $.
func splitWords(s string) ([]string, error) {
	var words []string
	var word strings.Builder
	inWord := false
	quote := byte(0)
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case quote == '\'' && c != '\'', quote == '"' && c != '"' && c != '\\':
			word.WriteByte(c)
		case c == '\\':
			if i++; i == len(s) {
				return nil, errors.New(`nothing behind the last \`)
			}
			if quote == '"' && !strings.ContainsRune(`"\$`+"`", rune(s[i])) {
				word.WriteByte(c)
			}
			word.WriteByte(s[i])
			inWord = true
		case c == quote:
			quote = 0
		case quote == 0 && (c == '\'' || c == '"'):
			quote, inWord = c, true
		case c == ' ' || c == '\t' || c == '\n':
			if inWord {
				words = append(words, word.String())
				word.Reset()
			}
			inWord = false
		default:
			word.WriteByte(c)
			inWord = true
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("a %c is not closed", quote)
	}
	if inWord {
		words = append(words, word.String())
	}
	return words, nil
}
