// SPDX-License-Identifier: BSD-3-Clause

package pmi

import (
	"bufio"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// A line is a message of PMI-1: cmd=NAME, then key=value pairs, set apart by
// spaces and ended by a newline. A value may contain "=". The order of the keys
// has no meaning.
type line struct {
	cmd  string
	args map[string]string
}

const (
	// maxLineSent is the longest line, newline included, that every peer reads
	// whole: clients and Slurm have buffers of 1024 bytes.
	maxLineSent = 1023

	// maxLineRead bounds what a peer can make us keep.
	maxLineRead = 64 << 10
)

// parseLine reads a line without its newline.
func parseLine(text string) (line, error) {
	fields := strings.FieldsFunc(text, func(r rune) bool { return r == ' ' })
	if len(fields) == 0 {
		return line{}, errors.New("empty line")
	}
	cmd, ok := strings.CutPrefix(fields[0], "cmd=")
	if !ok || cmd == "" {
		return line{}, fmt.Errorf("line starts %.40q, want cmd=", fields[0])
	}
	l := line{cmd: cmd, args: make(map[string]string, len(fields)-1)}
	for _, f := range fields[1:] {
		key, value, _ := strings.Cut(f, "=")
		if key == "" {
			return line{}, fmt.Errorf("pair %.40q has no key", f)
		}
		l.args[key] = value
	}
	return l, nil
}

// rc returns the line's result code; none means success.
func (l line) rc() error {
	if rc, ok := l.args["rc"]; ok && rc != "0" {
		return fmt.Errorf("%s: rc=%s msg=%s", l.cmd, rc, l.args["msg"])
	}
	return nil
}

// number returns the value of key as a number in [low, high].
func (l line) number(key string, low, high int) (int, error) {
	n, err := strconv.Atoi(l.args[key])
	if err != nil || n < low || n > high {
		return 0, fmt.Errorf("%s: %s=%.40q: want a number from %d to %d", l.cmd, key, l.args[key], low, high)
	}
	return n, nil
}

// A lineReader reads lines from a peer.
type lineReader struct {
	r *bufio.Reader
}

// text returns the next line without its newline, or io.EOF at the end.
func (r lineReader) text() (string, error) {
	var b []byte
	for {
		part, err := r.r.ReadSlice('\n')
		if len(b)+len(part) > maxLineRead {
			return "", fmt.Errorf("line of more than %d bytes: %w", maxLineRead, errTooLong)
		}
		b = append(b, part...)
		switch {
		case err == nil:
			return string(b[:len(b)-1]), nil
		case errors.Is(err, bufio.ErrBufferFull):
		case len(b) > 0:
			return "", noEOF(err)
		default:
			return "", err
		}
	}
}

func (r lineReader) line() (line, error) {
	text, err := r.text()
	if err != nil {
		return line{}, err
	}
	return parseLine(text)
}
