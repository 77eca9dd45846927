// SPDX-License-Identifier: BSD-3-Clause

package fabrictest

// Rows of QuietPEs: what Quiet does, for the PEs it names.
var quietPERows = []row{
	{name: "quiet pes: completes puts so that a third PE sees them", n: 3, run: func(p *pe) { quietThirdPE(p, p.quietPEs(0, 1, 1)) }},
	{name: "quiet pes: completes words and atomics", n: 3, run: func(p *pe) { quietWords(p, p.quietPEs(1)) }},
	{name: "quiet pes: puts, gets and fetches that do not wait are complete after it", n: 2, run: func(p *pe) {
		nonBlocking(p, p.quietPEs(p.next()))
	}},
	{name: "quiet pes: is not starved by a busy neighbour on its endpoint", n: 2, run: func(p *pe) {
		quietNotStarved(p, p.ep, p.quietPEs(1))
	}},
	{name: "quiet pes: of none waits for nobody", n: 2, run: func(p *pe) {
		p.must(p.ep.PutWord(p.next(), 8, 8, 1))
		p.must(p.ep.QuietPEs(nil))
		p.must(p.ep.QuietPEs([]int{}))
		p.waitEQ(8, 1)
	}},
}
