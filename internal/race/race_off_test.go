// SPDX-License-Identifier: BSD-3-Clause

//go:build !race

package race_test

import (
	"reflect"
	"testing"

	"github.com/goshmem/goshmem/internal/race"
)

func TestTokensTakeNoMemoryWithoutTheDetector(t *testing.T) {
	if size := reflect.TypeFor[race.Tokens]().Size(); size != 0 {
		t.Errorf("Tokens takes %d bytes", size)
	}
	if size := reflect.TypeFor[race.Token]().Size(); size != 0 {
		t.Errorf("Token takes %d bytes", size)
	}
}
