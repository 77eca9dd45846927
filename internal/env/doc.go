// SPDX-License-Identifier: BSD-3-Clause

// Package env knows every environment variable that goshmem reads: its name,
// its older name, its default and what its value means.
//
// A [Table] reads them through a function with the signature of
// [os.LookupEnv], so tests bring their own environment. The launcher's own
// GORUN_* variables are not here: they belong to package launcher.
package env
