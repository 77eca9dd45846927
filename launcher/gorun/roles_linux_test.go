// SPDX-License-Identifier: BSD-3-Clause

package main

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/goshmem/goshmem/internal/segment"
	"github.com/goshmem/goshmem/launcher/pmi"
)

// roles are what a PE of a test does; the status is its own. Those without a
// client are foreign: they do not call Init.
var roles = map[string]func(args []string) int{
	"hello":   hello,
	"again":   again,
	"die":     die,
	"mixed":   mixed,
	"port":    port,
	"signals": signals,
	"daemon":  daemon,
	"damage":  damage,
	"segment": showSegment,
	"cores":   showCores,
	"read":    read,
	"env":     showEnv,
	"print":   printAll,
	"fds":     showDescriptors,
	"forever": func([]string) int { forever(); return 0 },
	"flood":   flood,
	"where":   where,
	"sum":     sum,
	"stay":    stay,
}

func runPE(role string, args []string) int { return roles[role](args) }

// forever waits for a signal that nobody sends; unlike an empty select, it is
// no deadlock to the Go runtime.
func forever() {
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGIO)
	<-c
}

// join calls Init.
func join() *pmi.Client {
	c, err := pmi.FromEnv()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(90)
	}
	return c
}

// must ends the PE if something fails that a test does not expect.
func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(91)
	}
}

func myPE() int {
	pe, err := strconv.Atoi(os.Getenv(pmi.EnvPE))
	must(err)
	return pe
}

func hello([]string) int {
	c := join()
	blobs, err := c.Allgather([]byte{byte(c.PE())})
	must(err)
	sum := 0
	for _, b := range blobs {
		sum += int(b[0])
	}
	must(c.Barrier())
	fmt.Printf("PE %d of %d, sum %d, by %s\n", c.PE(), c.NPEs(), sum, c.Launcher())
	must(c.Finalize())
	return 0
}

// again joins, and then tries to do so again, itself and by a child.
func again([]string) int {
	c := join()
	_, err := pmi.FromEnv()
	fmt.Println("self:", err)
	child := exec.Command(os.Args[0], peArg, "hello")
	text, err := child.CombinedOutput()
	fmt.Println("child:", err, string(text))
	must(c.Barrier())
	must(c.Finalize())
	return 0
}

// die joins, and has PE args[1] end in a certain way while the others wait.
func die(args []string) int {
	c := join()
	if len(args) > 2 && args[2] == "stubborn" {
		signal.Ignore(syscall.SIGTERM)
	}
	must(c.Barrier())
	if strconv.Itoa(c.PE()) != args[1] {
		c.Barrier()
		forever()
	}
	fmt.Println("dying")
	how, code, _ := strings.Cut(args[0], "=")
	n, _ := strconv.Atoi(code)
	switch how {
	case "panic":
		panic("oh no")
	case "exit":
		fmt.Fprintln(os.Stderr, "that was it")
		return n
	case "leave":
		return 0
	case "kill":
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
	case "abort":
		must(c.Abort(n, args[len(args)-1]))
		forever() // gorun ends us
	case "finalize":
		must(c.Finalize())
		return n
	}
	return 92
}

// mixed has PE 1 end well without Init, and the others call it.
func mixed([]string) int {
	if myPE() == 1 {
		return 0
	}
	join().Barrier()
	forever()
	return 0
}

// port shows the address of the bootstrap server and goes on when input ends.
func port([]string) int {
	c := join()
	if c.PE() == 0 {
		fmt.Println(os.Getenv(pmi.EnvAddr))
		io.Copy(io.Discard, os.Stdin)
	}
	must(c.Barrier())
	must(c.Finalize())
	return 0
}

// signals shows the signals that it gets, and ends after the last of args; an
// argument -name is a signal to be ignored.
func signals(args []string) int {
	byName := map[string]syscall.Signal{
		"interrupt": syscall.SIGINT, "terminated": syscall.SIGTERM, "hangup": syscall.SIGHUP, "continued": syscall.SIGCONT,
		"user defined signal 1": syscall.SIGUSR1, "user defined signal 2": syscall.SIGUSR2, "window changed": syscall.SIGWINCH,
	}
	c := make(chan os.Signal, 100)
	for _, name := range args {
		signal.Notify(c, byName[name])
	}
	fmt.Println("ready")
	for s := range c {
		fmt.Printf("PE %d: %v\n", myPE(), s)
		if s == byName[args[len(args)-1]] {
			break
		}
	}
	return 0
}

// daemon starts processes in sessions of their own, and leaves one without a
// parent; all of them show that they run, and keep standard output open. PE 0
// fails when its input ends.
func daemon(args []string) int {
	if len(args) > 0 {
		n, err := strconv.Atoi(args[0])
		must(err)
		if n > 0 {
			must(setsid("daemon", strconv.Itoa(n-1)))
		}
		fmt.Println("daemon", n)
		if n == 1 {
			return 0 // its child is an orphan now
		}
		forever()
	}
	must(setsid("daemon", "2"))
	if myPE() == 0 {
		io.Copy(io.Discard, os.Stdin)
		return 6
	}
	forever()
	return 0
}

func setsid(role ...string) error {
	cmd := exec.Command(os.Args[0], append([]string{peArg}, role...)...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return cmd.Start()
}

// damage is an agent that lets only so many frames pass to its command, with
// nonsense behind them.
func damage(args []string) int {
	frames, err := strconv.Atoi(args[0])
	must(err)
	cmd := exec.Command(args[2], args[3:]...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	in, err := cmd.StdinPipe()
	must(err)
	must(cmd.Start())
	for range frames {
		var head [4]byte
		_, err := io.ReadFull(os.Stdin, head[:])
		must(err)
		_, err = in.Write(head[:])
		must(err)
		_, err = io.CopyN(in, os.Stdin, int64(binary.BigEndian.Uint32(head[:])))
		must(err)
	}
	_, err = in.Write([]byte("\xff\xff\xff\xff"))
	must(err)
	must(cmd.Wait())
	return 0
}

// showSegment shows the layout of the node's shared file, and that PEs share it.
func showSegment([]string) int {
	c := join()
	header := make([]byte, segment.HeaderSize)
	_, err := c.SegmentFile().ReadAt(header, 0)
	must(err)
	l, err := segment.ParseHeader(header)
	must(err)
	info, err := c.SegmentFile().Stat()
	must(err)
	if info.Size() != l.FileSize() {
		must(fmt.Errorf("the file has %d bytes, its layout %d", info.Size(), l.FileSize()))
	}
	next := (c.PE() + 1) % c.NPEs()
	_, err = c.SegmentFile().WriteAt([]byte{byte(10 + c.PE())}, int64(l.Offset(next)))
	must(err)
	must(c.Barrier())
	var b [1]byte
	_, err = c.SegmentFile().ReadAt(b[:], int64(l.Offset(c.PE())))
	must(err)
	fmt.Printf("PE %d: %d PEs of %d bytes, got %d\n", c.PE(), l.PEs, l.Size, b[0])
	must(c.Finalize())
	return 0
}

// stay joins, and ends well when PE 0's input ends, unless it is to stay on.
func stay(args []string) int {
	c := join()
	must(c.Barrier())
	fmt.Println("in")
	if len(args) > 0 {
		forever()
	}
	if c.PE() == 0 {
		io.Copy(io.Discard, os.Stdin)
	}
	must(c.Barrier())
	must(c.Finalize())
	return 0
}

// where shows the address and the range of the PE's node.
func where([]string) int {
	c := join()
	header := make([]byte, segment.HeaderSize)
	_, err := c.SegmentFile().ReadAt(header, 0)
	must(err)
	l, err := segment.ParseHeader(header)
	must(err)
	fmt.Printf("PE %d: one of %d from %d of %d at %q\n", c.PE(), l.PEs, l.First, l.NPEs, c.Source())
	must(c.Finalize())
	return 0
}

// sum shows how much input there is and a sum of it, or, with an argument, closes
// it after so many bytes.
func sum(args []string) int {
	if myPE() != 0 {
		return 0
	}
	var in io.Reader = os.Stdin
	if len(args) > 0 {
		n, err := strconv.Atoi(args[0])
		must(err)
		in = io.LimitReader(in, int64(n))
	}
	h := crc32.NewIEEE()
	n, err := io.Copy(h, in)
	must(err)
	must(os.Stdin.Close())
	fmt.Printf("%d bytes, %08x\n", n, h.Sum32())
	return 0
}

// showCores shows what the PE may use.
func showCores([]string) int {
	var set unix.CPUSet
	must(unix.SchedGetaffinity(0, &set))
	fmt.Printf("%d cores, GOMAXPROCS=%s, %d\n", set.Count(), os.Getenv("GOMAXPROCS"), runtime.GOMAXPROCS(0))
	return 0
}

// read shows the first line of its input, or that there is none.
func read([]string) int {
	line, err := bufio.NewReader(os.Stdin).ReadString('\n')
	fmt.Printf("PE %d: %q %v\n", myPE(), line, err)
	return 0
}

func showEnv(args []string) int {
	dir, err := os.Getwd()
	must(err)
	for _, name := range args {
		value, ok := os.LookupEnv(name)
		fmt.Println(name, value, ok)
	}
	fmt.Println(dir)
	return 0
}

// printAll prints its arguments, piece by piece, to stdout and to stderr.
func printAll(args []string) int {
	for _, text := range args {
		text, err := strconv.Unquote(`"` + text + `"`)
		must(err)
		os.Stdout.WriteString(text)
		os.Stderr.WriteString(text)
	}
	return 0
}

// showDescriptors shows the file descriptors beyond the standard three that a
// launcher can have left open; the Go runtime has some of other kinds.
func showDescriptors([]string) int {
	var set []string
	for fd := 3; fd < 64; fd++ {
		what, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", fd))
		kind, _, _ := strings.Cut(what, ":")
		if err == nil && (kind == "pipe" || kind == "socket" || kind == "/memfd") {
			set = append(set, strconv.Itoa(fd))
		}
	}
	fmt.Println(strings.Join(set, " "))
	return 0
}

const floodLines = 20000

// flood writes more than all buffers hold, and much at once.
func flood([]string) int {
	out := bufio.NewWriterSize(os.Stdout, 64<<10)
	line := strings.Repeat("x", 99) + "\n"
	for range floodLines {
		if _, err := out.WriteString(line); err != nil {
			return 1
		}
	}
	must(out.Flush())
	return 0
}
