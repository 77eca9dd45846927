// SPDX-License-Identifier: BSD-3-Clause

//go:build !(ofi && cgo && linux)

package ofi

import (
	"errors"

	"github.com/goshmem/goshmem/fabric"
)

var errOff = errors.New("fabric/ofi: this program was built without libfabric: " +
	"on Linux install libfabric 1.17 or newer with its headers (apt-get install libfabric-dev) and build with: CGO_ENABLED=1 go build -tags ofi")

// A Provider cannot open anything in this build.
type Provider struct{ name string }

// New returns a provider that says what this build lacks.
func New(o Options) *Provider { return &Provider{o.Provider} }

// Name implements [fabric.Provider].
func (p *Provider) Name() string { return p.name }

// Probe implements [fabric.Provider]: it returns what this build lacks.
func (p *Provider) Probe() error { return errOff }

// Open implements [fabric.Provider]: it returns what this build lacks.
func (p *Provider) Open(fabric.Job) (fabric.Domain, error) { return nil, errOff }

// List returns what this build lacks.
func List() ([]Info, error) { return nil, errOff }
