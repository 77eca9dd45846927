// SPDX-License-Identifier: BSD-3-Clause

//go:build ofi

package jobtest

const fabric = "ofi" // for gorun, and the build tag that it needs
