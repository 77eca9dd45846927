// SPDX-License-Identifier: BSD-3-Clause

// Package pmi is how a PE finds its job: which PE it is, how many there are,
// and how they first exchange bytes, before any fabric connects them.
//
// [FromEnv] finds out who started this process and gives a [Client]. Two
// protocols are spoken:
//
//   - gorun's own, over TCP on the loopback interface. Both ends prove that
//     they know the job's secret before anything is believed (handshake.go),
//     then the client sends one request at a time (wire.go).
//   - PMI-1, the text protocol of MPICH's process managers, which Slurm
//     speaks too: so mpiexec and srun can start our programs (pmi1_client.go).
//
// [Server] is the other end of both, for package launcher: so gorun can start
// MPI programs and other SHMEMs. A job of several nodes has a server on each, and
// a [Hub] that joins them (nodes.go).
//
// The package needs the standard library only, and of that not package net,
// which would double what a program takes to start: it brings the C library
// along, for names that nobody has to look up here.
package pmi
