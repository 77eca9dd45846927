// SPDX-License-Identifier: BSD-3-Clause

package shmem_test

import "github.com/goshmem/goshmem/shmem"

// waitVerbs are the waits and tests, of words that are 0.
func waitVerbs[T shmem.Integer](pe *shmem.PE) []verb {
	x := alloc[T](pe, 4)
	one := x.At(2)
	status, zeroes, indices := []int{1, 0, 0, 1}, make([]T, 4), make([]int, 4)
	const eq, ne = shmem.CmpEQ, shmem.CmpNE
	return []verb{
		{"WaitUntil", func() { shmem.WaitUntil(one, eq, 0) }},
		{"WaitUntilAll", func() { shmem.WaitUntilAll(x, status, eq, 0) }},
		{"WaitUntilAny", func() { _ = shmem.WaitUntilAny(x, status, eq, 0) }},
		{"WaitUntilSome", func() { _ = shmem.WaitUntilSome(indices, x, status, eq, 0) }},
		{"WaitUntilAllVector", func() { shmem.WaitUntilAllVector(x, nil, eq, zeroes) }},
		{"WaitUntilAnyVector", func() { _ = shmem.WaitUntilAnyVector(x, status, eq, zeroes) }},
		{"WaitUntilSomeVector", func() { _ = shmem.WaitUntilSomeVector(indices, x, nil, eq, zeroes) }},
		{"Test", func() { _ = shmem.Test(one, eq, 0) }},
		{"Test that fails", func() { _ = shmem.Test(one, ne, 0) }},
		{"TestAll", func() { _ = shmem.TestAll(x, status, eq, 0) }},
		{"TestAll that fails", func() { _ = shmem.TestAll(x, status, ne, 0) }},
		{"TestAny", func() { _ = shmem.TestAny(x, status, eq, 0) }},
		{"TestAny that fails", func() { _ = shmem.TestAny(x, nil, ne, 0) }},
		{"TestSome", func() { _ = shmem.TestSome(indices, x, status, eq, 0) }},
		{"TestAllVector", func() { _ = shmem.TestAllVector(x, status, eq, zeroes) }},
		{"TestAnyVector", func() { _ = shmem.TestAnyVector(x, nil, eq, zeroes) }},
		{"TestSomeVector", func() { _ = shmem.TestSomeVector(indices, x, status, ne, zeroes) }},
	}
}
