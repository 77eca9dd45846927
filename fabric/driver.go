// SPDX-License-Identifier: BSD-3-Clause

package fabric

// A Driver is a domain whose fabric moves while it is polled, for another domain
// that waits on its behalf: a PE has one place to sleep, whether a word of its segment is
// written by a near PE or over the network.
type Driver interface {
	Domain

	// Poll lets the fabric work for a short time, less if c holds before, and
	// reports whether c holds. It orders what was visible before the update that
	// made it hold, as Wait does. c may be on a near PE's word: then Poll lets the
	// fabric work once and returns false.
	Poll(c Cond) bool

	// Handback says that nobody polls any more. Whoever has polled calls it before
	// it sleeps, after it has set the sleeping word that SetWaker was given.
	Handback()

	// SetWaker makes the driver ring for who sleeps elsewhere: when the own segment may have been
	// written while *sleeping is not 0, it adds one to *doorbell and wakes it, as a
	// futex that processes share. Both words stay mapped until the process ends.
	SetWaker(sleeping, doorbell *uint32)

	// Ended returns why the job is ending, or nil. Who is rung looks at it.
	Ended() error
}

// Driven is an optional capability of a Domain: its Wait polls another one.
type Driven interface {
	// Drive makes every Wait from now on poll d. It is called once, before the
	// first Wait.
	Drive(d Driver)
}
