// SPDX-License-Identifier: BSD-3-Clause

//go:build !ofi

package jobtest

const fabric = "" // the usual one
