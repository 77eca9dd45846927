// SPDX-License-Identifier: BSD-3-Clause

package launcher

import (
	"errors"
	"net"
	"time"

	"github.com/goshmem/goshmem/launcher/pmi"
)

// acceptRetry is how long to wait when a connection can't be accepted: out of
// descriptors for the moment, since nothing else goes wrong here.
const acceptRetry = 10 * time.Millisecond

// accept serves whoever connects to l, until l is closed, each connection from
// a goroutine of its own.
func accept(l net.Listener, s *pmi.Server, log func(text string)) {
	for {
		conn, err := l.Accept()
		switch {
		case err == nil:
			serve := s.Greet(conn, conn.RemoteAddr().String()) // here, so that connections are noted in their order
			go serve()
		case errors.Is(err, net.ErrClosed):
			return
		default:
			log("bootstrap: " + err.Error())
			s.DropStranger()
			time.Sleep(acceptRetry)
		}
	}
}
