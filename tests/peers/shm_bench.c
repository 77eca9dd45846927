/* SPDX-License-Identifier: BSD-3-Clause */
/* One-sided and collective timings for any OpenSHMEM (1.4 or 1.5) library.
 *   shm_bench p2p    figures between PE 0 and PE 1
 *   shm_bench coll   collective figures over all PEs
 *   shm_bench gups   random atomic-xor updates over all PEs
 *   shm_bench init   init, barrier, memory figure, finalize
 * Every figure is one line: name value unit. BENCH_T = seconds per figure. */
#include <shmem.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#if SHMEM_MAJOR_VERSION > 1 || (SHMEM_MAJOR_VERSION == 1 && SHMEM_MINOR_VERSION >= 5)
#define V15 1
#else
#define V15 0
#endif

static int me, np, peer;
static double target = 0.08;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}

static int64_t *ctl;    /* iteration count sent by PE 0 */
static double *tsum;    /* per-PE times gathered at PE 0 */
static int64_t *flagw;  /* ping-pong word */
static uint64_t *sigw;  /* signal word */
static long *cell;      /* atomic target */
static char *dst, *src; /* data areas */
static int64_t seq;     /* running ping-pong sequence */
#if V15
static uint64_t sseq;
#endif

enum { BIG = 16 << 20, WIN = 1000 };

/* ---- point to point: only PE 0 is active, PE 1 sits in the barrier ---- */
static double t_put8(long n)
{
    double t = now();
    for (long i = 0; i < n; i++) { shmem_putmem(dst, src, 8, 1); shmem_quiet(); }
    return now() - t;
}
static double t_p8rate(long n)
{
    double t = now();
    for (long i = 0; i < n; i++) {
        for (int k = 0; k < WIN; k++) shmem_putmem_nbi(dst + 8 * k, src + 8 * k, 8, 1);
        shmem_quiet();
    }
    return now() - t;
}
static double t_get8(long n)
{
    double t = now();
    for (long i = 0; i < n; i++) shmem_getmem(src, dst, 8, 1);
    return now() - t;
}
static size_t bw_len; static int bw_win;
static double t_putbw(long n)
{
    double t = now();
    for (long i = 0; i < n; i++) {
        for (int k = 0; k < bw_win; k++) shmem_putmem_nbi(dst, src, bw_len, 1);
        shmem_quiet();
    }
    return now() - t;
}
static double t_getbw(long n)
{
    double t = now();
    for (long i = 0; i < n; i++) {
        for (int k = 0; k < bw_win; k++) shmem_getmem_nbi(src, dst, bw_len, 1);
        shmem_quiet();
    }
    return now() - t;
}
static double t_iput(long n)
{
    double t = now();
    for (long i = 0; i < n; i++) { shmem_iput64(dst, src, 2, 2, 1024, 1); shmem_quiet(); }
    return now() - t;
}
static volatile int64_t sink;
static double t_fadd(long n)
{
    double t = now();
    for (long i = 0; i < n; i++) sink = shmem_long_atomic_fetch_add(cell, 1, 1);
    return now() - t;
}
static double t_cswap(long n)
{
    double t = now();
    for (long i = 0; i < n; i++) sink = shmem_long_atomic_compare_swap(cell, i, i + 1, 1);
    return now() - t;
}
static double t_fetch(long n)
{
    double t = now();
    for (long i = 0; i < n; i++) sink = shmem_long_atomic_fetch(cell, 1);
    return now() - t;
}
static double t_addrate(long n)
{
    double t = now();
    for (long i = 0; i < n; i++) {
        for (int k = 0; k < WIN; k++) shmem_long_atomic_add(cell, 1, 1);
        shmem_quiet();
    }
    return now() - t;
}
/* ---- ping-pongs: PE 0 and PE 1 both active ---- */
static double t_pp(long n)
{
    if (me > 1) return 0;
    double t = now();
    for (long i = 0; i < n; i++) {
        int64_t v = ++seq;
        if (me == 0) {
            shmem_int64_p(flagw, v, 1);
            shmem_int64_wait_until(flagw, SHMEM_CMP_GE, v);
        } else {
            shmem_int64_wait_until(flagw, SHMEM_CMP_GE, v);
            shmem_int64_p(flagw, v, 0);
        }
    }
    return now() - t;
}
#if V15
static double t_sig(long n)
{
    if (me > 1) return 0;
    double t = now();
    for (long i = 0; i < n; i++) {
        uint64_t v = ++sseq;
        if (me == 0) {
            shmem_putmem_signal(dst, src, 8, sigw, v, SHMEM_SIGNAL_SET, 1);
            shmem_signal_wait_until(sigw, SHMEM_CMP_GE, v);
        } else {
            shmem_signal_wait_until(sigw, SHMEM_CMP_GE, v);
            shmem_putmem_signal(dst, src, 8, sigw, v, SHMEM_SIGNAL_SET, 0);
        }
    }
    return now() - t;
}
#endif
/* ---- collectives: the timed part excludes the separating barrier ---- */
#if !V15
static long *ps[4]; static double *pw; static int pi;
#define PS (ps[pi++ & 3])
#endif
static void c_bcast(size_t n)
{
#if V15
    shmem_broadcastmem(SHMEM_TEAM_WORLD, dst, src, n, 0);
#else
    shmem_broadcast64(dst, src, n / 8, 0, 0, 0, np, PS);
#endif
}
static void c_sum(size_t n)
{
#if V15
    shmem_double_sum_reduce(SHMEM_TEAM_WORLD, (double *)dst, (double *)src, n);
#else
    shmem_double_sum_to_all((double *)dst, (double *)src, n, 0, 0, np, pw, PS);
#endif
}
static void c_a2a(size_t n)
{
#if V15
    shmem_alltoallmem(SHMEM_TEAM_WORLD, dst, src, n);
#else
    shmem_alltoall64(dst, src, n / 8, 0, 0, np, PS);
#endif
}
static void c_fcol(size_t n)
{
#if V15
    shmem_fcollectmem(SHMEM_TEAM_WORLD, dst, src, n);
#else
    shmem_fcollect64(dst, src, n / 8, 0, 0, np, PS);
#endif
}
static void (*cfn)(size_t); static size_t clen;
static double t_coll(long n)
{
    double s = 0;
    for (long i = 0; i < n; i++) {
        shmem_barrier_all();
        double t = now();
        cfn(clen);
        s += now() - t;
    }
    return s;
}
static double t_barrier(long n)
{
    double t = now();
    for (long i = 0; i < n; i++) shmem_barrier_all();
    return now() - t;
}

/* Grow the count until a run takes `target` seconds; returns seconds per
 * iteration: PE 0's own (active==0) or the mean over PEs (active==1). */
static double measure(double (*f)(long), int active)
{
    long n = 1;
    for (int round = 0;; round++) {
        shmem_barrier_all();
        double w = now(), t = 0;
        if (active || me == 0) t = f(n);
        tsum[me] = t;
        shmem_putmem(&tsum[me], &tsum[me], 8, 0);
        shmem_barrier_all();
        w = now() - w;
        double r = t / n;
        if (me == 0) {
            if (active == 2) { r = 0; for (int i = 0; i < np; i++) r += tsum[i] / n / np; }
            long nx;
            if (round > 0 && (w >= target || n >= (1L << 26))) nx = 0;   /* round 0 warms up */
            else if (w >= target) nx = n;
            else { double k = 1.1 * target / (w > 1e-7 ? w : 1e-7); nx = (long)(n * (k > 16 ? 16 : k < 2 ? 2 : k)); }
            ctl[1] = nx;
            for (int i = 1; i < np; i++) shmem_putmem(ctl, &ctl[1], 8, i);
            ctl[0] = nx;
        }
        shmem_barrier_all();
        if (ctl[0] == 0) return r;
        n = ctl[0];
    }
}
static void out(const char *name, double v, const char *unit)
{
    if (me == 0) { printf("%s %.6g %s\n", name, v, unit); fflush(stdout); }
}
static long mem_kb(const char *file, const char *key)
{
    char b[256]; long v = -1; size_t k = strlen(key);
    FILE *f = fopen(file, "r");
    while (f && fgets(b, sizeof b, f)) if (!strncmp(b, key, k)) { v = atol(b + k + 1); break; }
    if (f) fclose(f);
    return v;
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "p2p";
    if (getenv("BENCH_T")) target = atof(getenv("BENCH_T"));
    double t0 = now();
    shmem_init();
    me = shmem_my_pe(); np = shmem_n_pes(); peer = me ^ 1;
    double tinit = now() - t0;
    if (!strcmp(mode, "init")) {
        shmem_barrier_all();
        if (me == 0) {
            out("init_s", tinit, "s");
            out("rss", mem_kb("/proc/self/status", "VmRSS:") / 1024.0, "MiB");
            out("pss", mem_kb("/proc/self/smaps_rollup", "Pss:") / 1024.0, "MiB");
        }
        shmem_barrier_all();
        shmem_finalize();
        return 0;
    }
    ctl = shmem_calloc(16, 8);
    tsum = shmem_calloc(np, 8);
    char *pad = shmem_calloc(16, 64);
    flagw = (int64_t *)(pad + 128); sigw = (uint64_t *)(pad + 384); cell = (long *)(pad + 640);
    dst = shmem_align(4096, BIG); src = shmem_align(4096, BIG);
    if (!dst || !src) { fprintf(stderr, "heap too small\n"); return 1; }
    memset(dst, 0, BIG); memset(src, 0, BIG);
#if !V15
    size_t pn = 4096;
    for (int i = 0; i < 4; i++) {
        ps[i] = shmem_malloc(pn * sizeof(long));
        for (size_t k = 0; k < pn; k++) ps[i][k] = SHMEM_SYNC_VALUE;
    }
    pw = shmem_malloc(8 * ((1 << 19) + 64));
#endif
    shmem_barrier_all();
    if (!strcmp(mode, "p2p")) {
        out("put8_quiet", 1e6 * measure(t_put8, 0), "us");
        out("putnbi8_rate", 1e-6 * WIN / measure(t_p8rate, 0), "Mops/s");
        out("get8", 1e6 * measure(t_get8, 0), "us");
        const size_t ls[4] = {4096, 65536, 1 << 20, 16 << 20};
        const int ws[4] = {64, 32, 8, 2};
        const char *ln[4] = {"4K", "64K", "1M", "16M"};
        char nm[64];
        for (int k = 0; k < 8; k++) {
            int j = k & 3;
            bw_len = ls[j]; bw_win = ws[j];
            snprintf(nm, sizeof nm, "%sbw_%s", k < 4 ? "put" : "get", ln[j]);
            out(nm, 1e-9 * bw_len * bw_win / measure(k < 4 ? t_putbw : t_getbw, 0), "GB/s");
        }
        out("iput8x1024", 1e6 * measure(t_iput, 0), "us");
        out("fadd", 1e6 * measure(t_fadd, 0), "us");
        out("cswap", 1e6 * measure(t_cswap, 0), "us");
        out("fetch", 1e6 * measure(t_fetch, 0), "us");
        out("add_rate", 1e-6 * WIN / measure(t_addrate, 0), "Mops/s");
        out("pp_put_half", 0.5e6 * measure(t_pp, 1), "us");
#if V15
        out("pp_putsignal_half", 0.5e6 * measure(t_sig, 1), "us");
#endif
    } else if (!strcmp(mode, "coll")) {
        struct { const char *n; void (*f)(size_t); size_t l; } cs[] = {
            {"bcast_8", c_bcast, 8}, {"bcast_1M", c_bcast, 1 << 20},
            {"sum_1", c_sum, 1}, {"sum_1Mi", c_sum, 1 << 20},
            {"alltoall_8", c_a2a, 8}, {"alltoall_64K", c_a2a, 65536},
            {"fcollect_8", c_fcol, 8}, {"fcollect_64K", c_fcol, 65536}};
        char nm[64];
        snprintf(nm, sizeof nm, "barrier_np%d", np);
        out(nm, 1e6 * measure(t_barrier, 1), "us");
        for (unsigned i = 0; i < sizeof cs / sizeof *cs; i++) {
            cfn = cs[i].f; clen = cs[i].l;
            snprintf(nm, sizeof nm, "%s_np%d", cs[i].n, np);
            out(nm, 1e6 * measure(t_coll, 2), "us");
        }
    } else if (!strcmp(mode, "gups")) {
        /* every PE updates random words of a table spread over all PEs */
        const uint64_t words = 1 << 20;
        uint64_t *tab = (uint64_t *)dst;
        uint64_t x = 0x9e3779b97f4a7c15ull * (me + 1);
        long n = argc > 2 ? atol(argv[2]) : 2000;
        double t = 0;
        for (;;) {
            shmem_barrier_all();
            t = now();
            for (long i = 0; i < n; i++) {
                x ^= x << 13; x ^= x >> 7; x ^= x << 17;
                shmem_uint64_atomic_xor(&tab[x & (words - 1)], x, (int)((x >> 40) % np));
            }
            shmem_barrier_all();
            t = now() - t;
            if (me == 0) {
                ctl[1] = t >= 4 * target ? 0 : n * (t < target ? 4 : 2);
                for (int i = 1; i < np; i++) shmem_putmem(ctl, &ctl[1], 8, i);
                ctl[0] = ctl[1];
            }
            shmem_barrier_all();
            if (!ctl[0]) break;
            n = ctl[0];
        }
        out("gups_xor", 1e-6 * n * np / t, "Mups");
    }
    shmem_barrier_all();
    shmem_finalize();
    return 0;
}
