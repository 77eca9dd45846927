// SPDX-License-Identifier: BSD-3-Clause

//go:build !linux

package shm

import (
	"errors"
	"os"

	"github.com/goshmem/goshmem/fabric"
)

// A Provider opens domains on one node's shared file, on Linux.
type Provider struct{}

var errUnsupported = errors.New("fabric/shm: several processes share memory on Linux only: use shmemtest here, or run on Linux")

// New returns a provider that refuses: shared memory is for Linux.
func New(*os.File) *Provider { return &Provider{} }

// Name implements [fabric.Provider].
func (p *Provider) Name() string { return "shm" }

// Probe implements [fabric.Provider].
func (p *Provider) Probe() error { return errUnsupported }

// Open implements [fabric.Provider].
func (p *Provider) Open(fabric.Job) (fabric.Domain, error) { return nil, errUnsupported }
