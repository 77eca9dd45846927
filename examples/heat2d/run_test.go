// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"bytes"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goshmem/goshmem/examples/internal/jobtest"
	"github.com/goshmem/goshmem/fabric/loop"
)

const noErrors = "Errors          = 0\n"

func TestHeat_InProcess(t *testing.T) {
	jobtest.Verify(t, run, "-n 40 -steps 50", noErrors, 1, 2, 3, 4)
	jobtest.Verify(t, run, "-n 3 -steps 20 -even 0", noErrors, 2, 3) // a row a PE
}

// A cell's next value does not depend on who computes it.
func TestHeat_PictureIsTheSameOnAnyNumberOfPEs(t *testing.T) {
	const n = 40
	draw := func(np int) []byte {
		t.Helper()
		name := filepath.Join(t.TempDir(), "heat.png")
		jobtest.Verify(t, run, "-n 40 -steps 60 -o "+name, "Steps           = 60\n", np)
		picture, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return picture
	}
	want := draw(1)
	for _, np := range []int{2, 3, 4} {
		if !bytes.Equal(draw(np), want) {
			t.Errorf("the picture of %d PEs is not that of one", np)
		}
	}
	decoded, err := png.Decode(bytes.NewReader(want))
	if err != nil {
		t.Fatal(err)
	}
	if size := decoded.Bounds().Size(); size.X != n || size.Y != n {
		t.Errorf("the picture is %v, want %d by %d", size, n, n)
	}
	hot, _, _, _ := decoded.At(n/2, n*4/5).RGBA() // the bar
	cold, _, _, _ := decoded.At(n-1, n/2).RGBA()
	if hot <= cold {
		t.Errorf("the bar is as red as %d, and no more than its surroundings, %d", hot, cold)
	}
}

func TestHeat_EndsWhenThePlateIsEven(t *testing.T) {
	jobtest.Verify(t, run, "-n 8 -steps 100000 -even 1e-6", noErrors, 1, 3)
	out, errs := jobtest.InProcess(t, 2, run, []string{"-n", "8", "-steps", "100000", "-even", "1e-6"})
	if errs[0] != nil || strings.Contains(out, "Steps           = 100000\n") {
		t.Errorf("the plate was never even; PE 0 has error %v and wrote:\n%s", errs[0], out)
	}
}

func TestHeat_FindsALostRow(t *testing.T) {
	lost := jobtest.DropOne(func(e loop.Event) bool {
		return e.Kind == loop.Put && e.Source == 1 && e.Size == 8*40
	})
	out, errs := jobtest.InProcess(t, 2, run, []string{"-n", "40", "-steps", "50"}, lost)
	if errs[0] == nil || errs[0].Error() != "1 errors" {
		t.Errorf("PE 0 has error %v, want that heat was lost; it wrote:\n%s", errs[0], out)
	}
}

func TestHeat_UnderGorun(t *testing.T) {
	p := jobtest.Build(t)
	if out := p.Succeed(3, "-n", "100", "-steps", "100"); !strings.Contains(out, noErrors) {
		t.Errorf("np=3 wrote:\n%s", out)
	}
	p.Refuse("3 PEs are more than -n 2 has rows", 3, "-n", "2")
	p.Fail("no such file or directory", 2, "-n", "100", "-steps", "1", "-o", filepath.Join(t.TempDir(), "none", "heat.png"))
}
