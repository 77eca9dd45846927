// SPDX-License-Identifier: BSD-3-Clause

package collectives

import (
	"math"
	"os"
	"strings"
	"testing"
)

// A place is where the members of a group are.
type place struct{ far, shared, crowded bool }

// group returns a group that can choose.
func (p place) group(pes int) *Group {
	g := &Group{n: pes, isFar: p.far, crowded: p.crowded}
	if p.shared {
		g.node = new(Group)
	}
	return g
}

// chosen returns what a group takes for a call.
func (p place) chosen(pes int, asked Choices, o operation, bytes int) algorithm {
	g := p.group(pes)
	g.Choose(asked)
	return g.choose(o, bytes)
}

func TestChoose(t *testing.T) {
	for _, tt := range []struct {
		far, crowded bool
		pes          int
		op           operation
		bytes        int
		want         algorithm
	}{
		{false, false, 2, opSync, 0, flat},
		{false, false, 9, opSync, 0, central},
		{false, true, 2, opSync, 0, central},
		{true, false, 8, opSync, 0, dissemination},
		{true, true, 2, opSync, 0, dissemination},
		{true, true, 3, opSync, 0, star},
		{true, true, 16, opSync, 0, star},
		{true, true, 17, opSync, 0, dissemination},
		{false, false, 2, opReduce, 112, carried},
		{false, false, 2, opReduce, 113, shares},
		{true, false, 2, opReduce, 0, shares},
		{true, false, 2, opReduce, 1, doubling},
		{true, false, 2, opReduce, 24, doubling},
		{true, false, 2, opReduce, 25, shares},
		{true, false, 3, opReduce, 24, doubling},
		{true, false, 16, opReduce, 25, shares},
		{true, false, 17, opReduce, block, tree},
		{true, false, 2, opReduce, block + 1, halving},
		{true, false, 16, opReduce, block, shares},
		{true, false, 17, opReduce, block + 1, halving},
		{true, true, 16, opReduce, 25, shares},
		{true, true, 17, opReduce, 25, tree},
		{false, true, 2, opScan, 0, carried},
		{true, true, 2, opScan, 8, shares},
		{true, true, 17, opScan, 8, tree},
		{true, false, 17, opScan, 8, tree},
		{true, false, 17, opScan, 0, shares},
		{false, true, 8, opBroadcast, 112, carried},
		{false, true, 8, opBroadcast, 1 << 20, shown},
		{true, true, 8, opBroadcast, 0, relay},
		{true, true, 8, opBroadcast, 24, relay},
		{true, true, 8, opBroadcast, 25, tree},
		{false, false, 2, opFCollect, 0, push},
		{false, false, 2, opFCollect, 112, carried},
		{false, false, 2, opFCollect, 113, push},
		{true, false, 2, opFCollect, 8, pair},
		{true, false, 2, opFCollect, 25, dissemination},
		{true, false, 3, opFCollect, 8, dissemination},
		{true, false, 3, opFCollect, 0, push},
		{true, false, 16, opCollect, 0, push},
		{true, false, 17, opCollect, 0, dissemination},
		{false, true, 17, opCollect, 0, push},
		{true, false, 28, opAllToAll, 8, flags},
		{true, false, 29, opAllToAll, 8, push},
		{false, false, 2, opAllToAll, 0, push},
		{false, true, 8, opAllToAll, 112, carried},
		{false, true, 8, opAllToAll, 113, push},
	} {
		if got := (place{far: tt.far, crowded: tt.crowded}).chosen(tt.pes, Choices{}, tt.op, tt.bytes); got != tt.want {
			t.Errorf("%v of %d bytes, %d members (far %t, crowded %t): %v, want %v", tt.op, tt.bytes, tt.pes, tt.far, tt.crowded, got, tt.want)
		}
	}
}

func TestChoose_LeadersWhereNodesAreShared(t *testing.T) {
	for o, want := range map[operation]algorithm{
		opSync: leaders, opReduce: leaders, opBroadcast: leaders, opFCollect: leaders, opScan: tree, opAllToAll: flags,
	} {
		if got := (place{far: true, shared: true}).chosen(18, Choices{}, o, 8); got != want {
			t.Errorf("%v: %v, want %v", o, got, want)
		}
	}
}

// Whatever is asked for, every call has an algorithm that can serve it, and the one asked for
// if that can.
func TestChoose_ServesEveryCall(t *testing.T) {
	asked := []Choices{{}}
	for _, r := range rules() {
		var c Choices
		c[r.op] = r.how
		asked = append(asked, c)
	}
	for _, c := range asked {
		for o := range operations {
			for _, pes := range []int{1, 2, 3, 8, 9, 16, 17, 28, 29, 10_000} {
				for _, bytes := range []int{0, 1, 24, 25, 112, 113, 1 << 20, math.MaxInt} {
					for setting := range 6 {
						p := place{setting&1 != 0, setting > 3, setting&2 != 0}
						if p.far = p.far || p.shared; p.shared && pes < 3 {
							continue
						}
						got, able := p.chosen(pes, c, o, bytes), map[algorithm]bool{}
						for _, r := range rules() {
							if r.op == o && r.serves(p.group(pes)) && r.bytes.holds(bytes) {
								able[r.how] = true
							}
						}
						if !able[got] || able[c[o]] && got != c[o] {
							t.Fatalf("%v of %d bytes, %d members, %+v, %v asked for: %v", o, bytes, pes, p, c[o], got)
						}
					}
				}
			}
		}
	}
}

func TestParseChoices(t *testing.T) {
	for _, s := range []string{"", "reduce=shares", "sync=central,broadcast=tree,alltoall=flags"} {
		if _, err := ParseChoices(s); err != nil {
			t.Errorf("%q: %v", s, err)
		}
	}
	for s, want := range map[string]string{
		"reduce":              "algorithms of reduce are carried, leaders, doubling, tree, halving, shares",
		"reduce=flags":        "algorithms of reduce are carried, leaders, doubling, tree, halving, shares",
		"reduce=":             "algorithms of reduce are",
		"reduction=shares":    "the operations are sync, reduce, scan, broadcast, fcollect, collect, alltoall",
		"reduce=shares,":      "the operations are",
		"reduce=shares;a=b":   "algorithms of reduce are",
		" reduce=shares":      "the operations are",
		"sync=flat,scan=flat": "algorithms of scan are carried, tree, shares",
	} {
		if c, err := ParseChoices(s); err == nil || !strings.Contains(err.Error(), want) || c != (Choices{}) {
			t.Errorf("%q: %v, %v; want an error with %q", s, c, err, want)
		}
	}
	a, _ := ParseChoices("sync=flat")
	b, _ := ParseChoices("reduce=carried")
	if a.Word() == b.Word() || a.Word() == 0 {
		t.Errorf("words %#x and %#x", a.Word(), b.Word())
	}
}

// The document has a row for each algorithm, which starts with the operation's name and its own.
func TestRules_AreDocumented(t *testing.T) {
	text, err := os.ReadFile("../docs/collectives.md")
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, r := range rules() {
		names[r.op.String()+"="+r.how.String()] = true
	}
	for name := range names {
		if want := "| `" + name + "` |"; strings.Count(string(text), want) != 1 {
			t.Errorf("docs/collectives.md: no row, or several, of %s", want)
		}
	}
	if n := strings.Count(string(text), "\n| `"); n != len(names) {
		t.Errorf("docs/collectives.md has %d rows of algorithms, there are %d", n, len(names))
	}
}
