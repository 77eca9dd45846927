// SPDX-License-Identifier: BSD-3-Clause

package pmi

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"
)

// abortWait is how long an abort waits for the launcher to take it.
const abortWait = time.Second

// An exchange sends requests on a connection, waits for the reply of each, and
// notices at any time that the connection has ended. T is a message of the
// protocol.
type exchange[T any] struct {
	conn    io.WriteCloser
	turn    sync.Mutex // held from a request to its reply
	replies chan T
	leaving atomic.Bool // the connection's end is expected

	ended chan struct{} // closed when the connection has ended
	err   error         // why; set before ended is closed
	lost  chan struct{} // closed too if nobody expected it
}

// newExchange starts to read messages with read until it fails.
func newExchange[T any](conn io.WriteCloser, read func() (T, error)) *exchange[T] {
	x := &exchange[T]{
		conn:    conn,
		replies: make(chan T, 1),
		ended:   make(chan struct{}),
		lost:    make(chan struct{}),
	}
	go x.read(read)
	return x
}

func (x *exchange[T]) read(read func() (T, error)) {
	for {
		m, err := read()
		if err == nil {
			select {
			case x.replies <- m:
				continue
			default:
				err = errors.New("a reply that nobody asked for")
			}
		}
		x.err = err
		close(x.ended)
		if !x.leaving.Load() {
			close(x.lost)
		}
		return
	}
}

// call sends a request and returns its reply.
func (x *exchange[T]) call(request []byte) (reply T, err error) {
	x.turn.Lock()
	defer x.turn.Unlock()
	if _, err := x.conn.Write(request); err != nil {
		return reply, fmt.Errorf("connection to the launcher: %w", err)
	}
	select {
	case reply = <-x.replies:
		return reply, nil
	case <-x.ended:
	}
	// The launcher may have replied and then ended.
	select {
	case reply = <-x.replies:
		return reply, nil
	default:
		return reply, fmt.Errorf("connection to the launcher: %w", noEOF(x.err))
	}
}

// abort sends a last request, also while a call waits for its reply, and
// returns once the launcher has taken it: it then ends the connection.
func (x *exchange[T]) abort(request []byte) error {
	x.leaving.Store(true)
	if _, err := x.conn.Write(request); err != nil {
		return fmt.Errorf("connection to the launcher: %w", err)
	}
	select {
	case <-x.ended:
		return nil
	case <-time.After(abortWait):
		return fmt.Errorf("the launcher has not taken the abort for %v", abortWait)
	}
}

// finish sends a last request, waits for its reply and closes the connection.
func (x *exchange[T]) finish(request []byte) (T, error) {
	x.leaving.Store(true)
	reply, err := x.call(request)
	return reply, errors.Join(err, x.conn.Close())
}
