// SPDX-License-Identifier: BSD-3-Clause

package pmi

import "os"

// A Client is a PE's link to its launcher. Its methods may be called by several
// goroutines, which then take turns; only Abort never waits for another call.
type Client struct {
	link
	pe, npes int
	segment  *os.File
	source   string
	cores    []int
	launcher string
	lost     <-chan struct{}
}

// A link is a protocol spoken with a launcher.
type link interface {
	// Allgather gives blob to all PEs and returns the blobs of all, by PE
	// number. It is collective: every PE of the job calls it, in the same
	// order among calls of Allgather and Barrier, and it is complete when all
	// have. A blob has at most MaxBlob bytes; the result may be kept.
	Allgather(blob []byte) ([][]byte, error)

	// Barrier returns when every PE of the job has called it.
	Barrier() error

	// Abort asks the launcher to end the whole job with status code, whatever
	// the others do, and also if code is 0. It returns when the launcher has
	// taken the request, after 1 s at the latest; the launcher then kills this
	// process, too. gorun prints msg, of which at most MaxMessage bytes are
	// sent; PMI-1 has no room for it, so print it yourself there.
	Abort(code int, msg string) error

	// Finalize tells the launcher that from now on this PE may end, with
	// status 0, and closes the connection. It does not wait for other PEs.
	Finalize() error
}

// PE returns this process's number, in [0, NPEs).
func (c *Client) PE() int { return c.pe }

// NPEs returns the number of PEs of the job.
func (c *Client) NPEs() int { return c.npes }

// SegmentFile returns the node's shared file that gorun made, whose layout is
// that of internal/segment, or nil if the launcher made none. The caller owns
// the file from then on; it stays the same at each call.
func (c *Client) SegmentFile() *os.File { return c.segment }

// Source returns the IP address, without a port, of this node's interface to the
// data network: the other nodes' PEs reach this PE there. It is empty if all PEs
// share a node and the user has named no interface, or if the launcher can't tell.
func (c *Client) Source() string { return c.source }

// Cores returns the cores of this node that its PEs share, if the launcher has bound each PE
// to some of them; nil if not, or if it can't tell.
func (c *Client) Cores() []int { return c.cores }

// Launcher names the protocol: "gorun" or "PMI-1".
func (c *Client) Launcher() string { return c.launcher }

// Lost returns a channel that is closed when the connection to the launcher
// ends without Finalize or Abort: the launcher is gone, and the job with it.
func (c *Client) Lost() <-chan struct{} { return c.lost }
