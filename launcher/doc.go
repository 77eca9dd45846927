// SPDX-License-Identifier: BSD-3-Clause

// Package launcher starts the PEs of a job, wires them up, watches them, and
// ends them; command gorun is its user.
//
// A job is a tree of processes: the launcher ([Run]), one proxy for each node
// ([Proxy], which is the same executable started again), and the proxy's PEs.
// Launcher and proxy exchange frames (frame.go) over the proxy's standard input
// and output, so the proxy may as well be at the other end of a remote shell: on
// other hosts it is started by an agent ([Job.Agent]).
//
// The launcher decides: it knows why the job ends and with which status
// (verdict.go), and it writes the output. The proxy obeys: it starts PEs, runs
// the bootstrap server of package pmi for them, passes on their output and
// signals, and kills. When the launcher is gone, the proxy kills everything
// below it; when the proxy is gone, the kernel kills the PEs, and the launcher
// what the PEs have left. So nothing outlives a job, however it ends, with two
// exceptions, both of processes that a PE has turned into daemons: they stay if
// launcher and proxy are killed at once, and on another machine, where the
// launcher can't kill, if the proxy is itself killed.
//
// With several nodes, the proxies find the addresses at which these reach each
// other (network.go), exchange beats there (beat.go), so that one that is cut off
// is missed and named, and join the rounds of their bootstrap servers by way of
// the launcher.
//
// The package starts any executable: it knows neither package shmem nor any
// fabric. It runs on Linux; elsewhere [Run] says so.
package launcher
