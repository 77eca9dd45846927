/* SPDX-License-Identifier: BSD-3-Clause */
/* What this machine itself allows: memory, cache-line, futex, TCP figures.
 * Every figure is one line: name value unit. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}
static void pin(int c) { cpu_set_t s; CPU_ZERO(&s); CPU_SET(c, &s); sched_setaffinity(0, sizeof s, &s); }
static void out(const char *n, double v, const char *u) { printf("%s %.6g %s\n", n, v, u); fflush(stdout); }
static void pause_(void)
{
#if defined __x86_64__ || defined __i386__
    __builtin_ia32_pause();
#elif defined __aarch64__
    __asm__ volatile("yield");
#endif
}

struct sh {
    _Alignas(128) atomic_long a;
    _Alignas(128) atomic_long b;
    _Alignas(128) atomic_int f;
    _Alignas(128) atomic_int g;
    _Alignas(128) char data[4096];
};
static struct sh *s;
static void *shm(size_t n) { return mmap(0, n, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0); }

static double pingpong(long n, int me, int usepause, int yield)
{
    double t = now();
    for (long i = 1; i <= n; i++) {
        if (me == 0) {
            atomic_store_explicit(&s->a, i, memory_order_release);
            while (atomic_load_explicit(&s->b, memory_order_acquire) < i) { if (yield) sched_yield(); else if (usepause) pause_(); }
        } else {
            while (atomic_load_explicit(&s->a, memory_order_acquire) < i) { if (yield) sched_yield(); else if (usepause) pause_(); }
            atomic_store_explicit(&s->b, i, memory_order_release);
        }
    }
    return now() - t;
}
static void fwait(atomic_int *p, int v) { while (atomic_load(p) == v) syscall(SYS_futex, p, FUTEX_WAIT, v, 0, 0, 0); }
static void fwake(atomic_int *p, int v) { atomic_store(p, v); syscall(SYS_futex, p, FUTEX_WAKE, 1, 0, 0, 0); }

static void rd(int fd, char *b, size_t n, int spin)
{
    while (n) {
        ssize_t k = recv(fd, b, n, spin ? MSG_DONTWAIT : 0);
        if (k > 0) { b += k; n -= k; } else if (k == 0 || errno != EAGAIN) exit(3);
    }
}
static void wr(int fd, const char *b, size_t n)
{
    while (n) { ssize_t k = write(fd, b, n); if (k <= 0) exit(4); b += k; n -= k; }
}

int main(void)
{
    pin(0);
    s = shm(sizeof *s);
    memset(s, 0, sizeof *s);
    size_t big = 16 << 20;
    char *d = shm(big), *c = shm(big);
    memset(d, 1, big); memset(c, 2, big);
    for (int k = 0; k < 4; k++) {
        size_t l = (size_t[]){4096, 65536, 1 << 20, 16 << 20}[k];
        long n = (4l << 30) / l;
        memcpy(d, c, l);
        double t = now();
        for (long i = 0; i < n; i++) { memcpy(d, c, l); __asm__ volatile("" ::: "memory"); }
        t = now() - t;
        char nm[32]; snprintf(nm, sizeof nm, "memcpy_%s", (const char *[]){"4K", "64K", "1M", "16M"}[k]);
        out(nm, 1e-9 * n * l / t, "GB/s");
    }
    { long n = 50000000; double t = now(); for (long i = 0; i < n; i++) atomic_fetch_add(&s->a, 1); out("xadd_alone", 1e9 * (now() - t) / n, "ns"); }
    { long n = 5000000; double t = now(); for (long i = 0; i < n; i++) syscall(SYS_getppid); out("syscall", 1e9 * (now() - t) / n, "ns"); }
    { long n = 5000000; double t = now(); for (long i = 0; i < n; i++) (void)now(); out("clock_gettime", 1e9 * (now() - t) / n, "ns"); }
    {   /* first touch of 64 MiB of fresh shared memory */
        size_t l = 64 << 20; char *p = shm(l); double t = now();
        for (size_t i = 0; i < l; i += 4096) p[i] = 1;
        out("page_first_touch", 1e9 * (now() - t) / (l / 4096), "ns"); munmap(p, l);
    }
    for (int k = 0; k < 3; k++) {
        long n = k == 2 ? 200000 : 2000000;
        atomic_store(&s->a, 0); atomic_store(&s->b, 0);
        pid_t p = fork();
        if (!p) { pin(k == 2 ? 0 : 1); pingpong(n, 1, k == 1, k == 2); _exit(0); }
        double t = pingpong(n, 0, k == 1, k == 2);
        waitpid(p, 0, 0);
        out((const char *[]){"line_pingpong_half", "line_pingpong_pause_half", "yield_pingpong_onecore_half"}[k], 0.5e9 * t / n, "ns");
    }
    {   /* both cores add to one word */
        long n = 10000000; atomic_store(&s->a, 0); atomic_store(&s->f, 0);
        pid_t p = fork();
        if (!p) { pin(1); atomic_fetch_add(&s->f, 1); while (atomic_load(&s->f) < 2) ; for (long i = 0; i < n; i++) atomic_fetch_add(&s->a, 1); _exit(0); }
        atomic_fetch_add(&s->f, 1); while (atomic_load(&s->f) < 2) ;
        double t = now();
        for (long i = 0; i < n; i++) atomic_fetch_add(&s->a, 1);
        out("xadd_contended_each", 1e9 * (now() - t) / n, "ns");
        waitpid(p, 0, 0);
    }
    for (int k = 0; k < 2; k++) {   /* futex ping-pong: two cores, then one */
        int n = 100000; atomic_store(&s->f, 0); atomic_store(&s->g, 0);
        pid_t p = fork();
        if (!p) { pin(k ? 0 : 1); for (int i = 1; i <= n; i++) { fwait(&s->f, i - 1); fwake(&s->g, i); } _exit(0); }
        double t = now();
        for (int i = 1; i <= n; i++) { fwake(&s->f, i); fwait(&s->g, i - 1); }
        out(k ? "futex_half_onecore" : "futex_half_twocores", 0.5e6 * (now() - t) / n, "us");
        waitpid(p, 0, 0);
    }
    {   /* process_vm_readv from another process */
        int pp[2]; if (pipe(pp)) return 1;
        pid_t p = fork();
        if (!p) { pin(1); char x; close(pp[1]); if (read(pp[0], &x, 1)) {} _exit(0); }
        close(pp[0]);
        for (int k = 0; k < 2; k++) {
            size_t l = k ? 1 << 20 : 8; long n = k ? 2000 : 500000;
            struct iovec a = {c, l}, b = {d, l};
            if (process_vm_readv(p, &a, 1, &b, 1, 0) < 0) { perror("cma"); break; }
            double t = now();
            for (long i = 0; i < n; i++) process_vm_readv(p, &a, 1, &b, 1, 0);
            t = now() - t;
            if (k) out("cma_read_1M", 1e-9 * n * l / t, "GB/s"); else out("cma_read_8", 1e6 * t / n, "us");
        }
        close(pp[1]); waitpid(p, 0, 0);
    }
    int ls = socket(AF_INET, SOCK_STREAM, 0), one = 1;
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t al = sizeof a;
    bind(ls, (void *)&a, al); listen(ls, 4); getsockname(ls, (void *)&a, &al);
    for (int k = 0; k < 2; k++) {
        long n = 50000;
        pid_t p = fork();
        if (!p) {
            pin(1); int fd = socket(AF_INET, SOCK_STREAM, 0); connect(fd, (void *)&a, al);
            setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, 4); char b[8];
            for (long i = 0; i < n; i++) { rd(fd, b, 8, k); wr(fd, b, 8); }
            _exit(0);
        }
        int fd = accept(ls, 0, 0); setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, 4); char b[8] = {0};
        double t = now();
        for (long i = 0; i < n; i++) { wr(fd, b, 8); rd(fd, b, 8, k); }
        out(k ? "tcp8_half_spin" : "tcp8_half_block", 0.5e6 * (now() - t) / n, "us");
        close(fd); waitpid(p, 0, 0);
    }
    for (int k = 0; k < 3; k++) {   /* one-way stream with 64 KiB, 1 MiB, 16 MiB writes */
        size_t l = (size_t[]){65536, 1 << 20, 16 << 20}[k]; long n = (2l << 30) / l;
        pid_t p = fork();
        if (!p) {
            pin(1); int fd = socket(AF_INET, SOCK_STREAM, 0); connect(fd, (void *)&a, al);
            for (long i = 0; i < n; i++) rd(fd, d, l, 0);
            wr(fd, d, 1); _exit(0);
        }
        int fd = accept(ls, 0, 0); char x;
        double t = now();
        for (long i = 0; i < n; i++) wr(fd, c, l);
        rd(fd, &x, 1, 0);
        t = now() - t;
        out((const char *[]){"tcp_bw_64K", "tcp_bw_1M", "tcp_bw_16M"}[k], 1e-9 * n * l / t, "GB/s");
        close(fd); waitpid(p, 0, 0);
    }
    {   /* fork + exec + wait of /bin/true */
        int n = 200; double t = now();
        for (int i = 0; i < n; i++) { pid_t p = vfork(); if (!p) { execl("/bin/true", "true", (char *)0); _exit(1); } waitpid(p, 0, 0); }
        out("spawn_true", 1e6 * (now() - t) / n, "us");
    }
    return 0;
}
