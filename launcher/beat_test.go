// SPDX-License-Identifier: BSD-3-Clause

package launcher

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var beatSecret = bytes.Repeat([]byte{7}, 32)

func testPulse(node, nodes int) *pulse {
	return newPulse("job", beatSecret, node, nodes, time.Unix(0, 0))
}

func TestPulse_NeighboursFormARing(t *testing.T) {
	for nodes := 2; nodes < 6; nodes++ {
		witnesses := make([]int, nodes)
		for node := range nodes {
			for _, n := range testPulse(node, nodes).near {
				require.NotEqual(t, node, n.node)
				witnesses[n.node]++
			}
		}
		for _, n := range witnesses {
			require.Equal(t, min(2, nodes-1), n, "%d nodes", nodes)
		}
	}
}

func TestPulse_HearsItsNeighboursOnly(t *testing.T) {
	now := time.Unix(1, 0)
	p := testPulse(0, 4)
	require.True(t, p.hear(testPulse(1, 4).beat(0), now))
	require.True(t, p.hear(testPulse(3, 4).beat(0), now))

	far := testPulse(2, 4)
	later := testPulse(1, 4)
	first := later.beat(0)
	second := later.beat(0)
	require.True(t, p.hear(second, now))
	otherJob := newPulse("other", beatSecret, 1, 4, now)
	otherSecret := newPulse("job", make([]byte, 32), 1, 4, now)
	for range 5 {
		otherJob.beat(0)
		otherSecret.beat(0)
	}
	damaged := later.beat(0)
	damaged[20]++
	for name, b := range map[string][]byte{
		"no neighbour":  far.beat(0),
		"for another":   later.beat(2),
		"from before":   first,
		"again":         second,
		"another job's": otherJob.beat(0),
		"a stranger's":  otherSecret.beat(0),
		"damaged":       damaged,
		"cut":           later.beat(0)[:beatSize-1],
		"too long":      append(later.beat(0), 0),
		"nothing":       nil,
	} {
		require.False(t, p.hear(b, now), name)
	}
	require.True(t, p.hear(later.beat(0), now), "the beats between are lost, which is fine")
}

func TestPulse_TellsWhoIsLate(t *testing.T) {
	p := testPulse(0, 3)
	one := testPulse(1, 3)
	now := time.Unix(0, 0)
	for now.Before(time.Unix(10, 0)) {
		now = now.Add(beatTick)
		if now.Nanosecond() == 0 {
			require.True(t, p.hear(one.beat(0), now))
		}
		age := now.Sub(time.Unix(0, 0))
		if late := p.late(now); age >= beatLate {
			require.Equal(t, []lateNode{{2, age}}, late)
		} else {
			require.Empty(t, late)
		}
	}
}

// A process that has not run knows nothing of the others in that time.
func TestPulse_BlamesNobodyForItsOwnSleep(t *testing.T) {
	p := testPulse(0, 2)
	now := time.Unix(0, 0).Add(beatTick)
	require.Empty(t, p.late(now))
	now = now.Add(time.Minute)
	require.Empty(t, p.late(now))
	for range beatLate / beatTick {
		now = now.Add(beatTick)
		p.late(now)
	}
	require.NotEmpty(t, p.late(now.Add(beatTick)))
}

// A beat that has come between the sleep's end and the next look is not taken for
// one of the future.
func TestPulse_HearsABeatAfterItsOwnSleep(t *testing.T) {
	p, one := testPulse(0, 2), testPulse(1, 2)
	now := time.Unix(0, 0).Add(time.Minute)
	require.True(t, p.hear(one.beat(0), now))
	now = now.Add(beatTick)
	require.Empty(t, p.late(now))
	for end := now.Add(beatLate); now.Before(end); {
		now = now.Add(beatTick)
		if now.Before(end) {
			require.Empty(t, p.late(now))
		}
	}
	require.Equal(t, []lateNode{{1, beatLate}}, p.late(now))
}

func TestVigil(t *testing.T) {
	late := func(ages ...any) (l lateness) {
		for i := 0; i < len(ages); i += 2 {
			l.Late = append(l.Late, lateNode{ages[i].(int), ages[i+1].(time.Duration)})
		}
		return l
	}
	down := func(l lateness) lateness {
		l.Down = true
		return l
	}
	const long, short = beatLost, beatLate
	tests := map[string]struct {
		reports []lateness
		dead    int
		want    int
	}{
		"nobody is late":                     {[]lateness{{}, {}}, nobody, nobody},
		"not yet":                            {[]lateness{late(1, short), late(0, short)}, nobody, nobody},
		"two do not hear each other":         {[]lateness{late(1, long), late(0, short)}, nobody, 1},
		"the second one tells first":         {[]lateness{late(1, short), late(0, long)}, nobody, 1},
		"the second one tells alone":         {[]lateness{{}, late(0, long)}, nobody, 0},
		"the first has no link":              {[]lateness{down(late(1, long)), late(0, short)}, nobody, 0},
		"the second has no link":             {[]lateness{late(1, short), down(late(0, long))}, nobody, 1},
		"the middle of three":                {[]lateness{late(1, long), late(0, short, 2, short), late(1, short)}, nobody, 1},
		"the first of three":                 {[]lateness{late(1, long, 2, long), late(0, short), late(0, short)}, nobody, 0},
		"one of many, who does not know":     {[]lateness{{}, late(2, long), {}, late(2, short), {}}, nobody, 2},
		"one of many, who blames the others": {[]lateness{{}, late(2, short), late(1, long, 3, long), late(2, short), {}}, nobody, 2},
		"who has ended is not missed":        {[]lateness{late(1, long), {}}, 1, nobody},
		"who has ended still tells":          {[]lateness{late(1, short), late(0, long)}, 1, 0},
		"who has ended and has no link":      {[]lateness{late(1, long), down(late(0, long))}, 1, nobody},
	}
	for name, test := range tests {
		v := vigil{test.reports}
		require.Equal(t, test.want, v.lost(func(node int) bool { return node != test.dead }), name)
	}
}

func FuzzBeat(f *testing.F) {
	f.Add(testPulse(1, 2).beat(0))
	f.Add(testPulse(0, 2).beat(1))
	f.Add([]byte(beatMagic))
	f.Fuzz(func(t *testing.T, b []byte) {
		p := testPulse(0, 2)
		if !p.hear(b, time.Unix(1, 0)) {
			return
		}
		// It can only be what node 1 itself may have sent.
		one := testPulse(1, 2)
		one.seq = p.near[0].seq - 1
		if !bytes.Equal(b, one.beat(0)) {
			t.Errorf("%x was taken for a beat", b)
		}
	})
}
