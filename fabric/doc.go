// SPDX-License-Identifier: BSD-3-Clause

// Package fabric says what it takes to move bytes and words to another PE.
//
// It holds interfaces and values only: no goroutine, no cgo, no memory of its
// own. A provider (fabric/loop, fabric/shm, later fabric/ofi) implements
// [Provider], [Domain] and [Endpoint]; package fabrictest holds the suite that
// each of them passes.
//
// Every PE of a job owns one segment, and an [Addr] is a byte offset in it, so
// (PE, Addr) names any byte of the job. Scalars travel through [Endpoint] as
// words (a size and a uint64), never as pointers: a pointer handed to an
// interface method escapes, and an escaping scalar costs an allocation.
//
// What a provider may lack (non-blocking, strided and fused transfers) are
// optional interfaces of one method each, with fallbacks in this package that
// are built from the nine methods of Endpoint.
package fabric
