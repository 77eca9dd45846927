// SPDX-License-Identifier: BSD-3-Clause

package launcher

import (
	"bytes"
	"strings"
)

// lastWords keeps what a PE has last said on its standard error.
type lastWords struct {
	line   []byte // unfinished
	last   string // the last line that is not blank
	outcry string // the last line with which a Go program says that it crashes
}

// maxWords bounds a line that is kept, in bytes.
const maxWords = 400

// crashExit is the status of a Go program after a panic.
const crashExit = 2

// note takes more of the PE's standard error.
func (w *lastWords) note(data []byte) {
	for len(data) > 0 {
		part, rest, ended := bytes.Cut(data, []byte{'\n'})
		if room := maxWords - len(w.line); len(part) > room {
			part = part[:room]
		}
		w.line = append(w.line, part...)
		if ended {
			w.end()
		}
		data = rest
	}
}

// end ends the line under way.
func (w *lastWords) end() {
	text := strings.TrimSpace(string(w.line))
	w.line = w.line[:0]
	if text == "" {
		return
	}
	w.last = text
	if isOutcry(text) {
		w.outcry = text
	}
}

// isOutcry reports whether a line starts the report of a Go crash, which may
// be labelled with the PE. The report's last lines are of little use: they tell
// where some goroutine was created.
func isOutcry(text string) bool {
	if label, rest, ok := strings.Cut(text, ": "); ok && strings.HasPrefix(label, "PE ") {
		text = rest
	}
	return strings.HasPrefix(text, "panic: ") || strings.HasPrefix(text, "fatal error: ")
}

// quote returns the words worth quoting for a PE that has ended with status, and
// whether they are those of a Go crash.
func (w *lastWords) quote(status int) (text string, panicked bool) {
	w.end()
	if status == crashExit && w.outcry != "" {
		return w.outcry, true
	}
	return w.last, false
}
