// SPDX-License-Identifier: BSD-3-Clause

// Hello is the smallest program of a job: every PE says which one it is.
//
//	gorun -np 4 hello
package main

import (
	"fmt"

	"github.com/goshmem/goshmem/shmem"
)

func main() { shmem.Main(hello) }

func hello(pe *shmem.PE) error {
	_, err := fmt.Printf("hello from PE %d of %d\n", pe.MyPE(), pe.NPEs())
	return err
}
