/* SPDX-License-Identifier: BSD-3-Clause */
/* The same figures over MPI-3 RMA (one lock_all epoch per run).
 *   mpi_bench p2p|coll|gups|init [alloc|shared]
 * alloc = MPI_Win_allocate, shared = MPI_Win_allocate_shared (MPI_Put etc. on it).
 * Every figure is one line: name value unit. BENCH_T = seconds per figure. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int me, np;
static double target = 0.08;
enum { BIG = 16 << 20, WIN = 1000, OFF = 4096 };
/* window layout: words at 128, 384, 640 (flag, signal, cell); data from OFF */
enum { D_FLAG = 128, D_SIG = 384, D_CELL = 640 };
static MPI_Win win;
static char *base, *src;
static int64_t seq;
static MPI_Datatype strided;

static double now(void) { return MPI_Wtime(); }

static double t_put8(long n)
{
    double t = now();
    for (long i = 0; i < n; i++) { MPI_Put(src, 8, MPI_BYTE, 1, OFF, 8, MPI_BYTE, win); MPI_Win_flush(1, win); }
    return now() - t;
}
static double t_p8rate(long n)
{
    double t = now();
    for (long i = 0; i < n; i++) {
        for (int k = 0; k < WIN; k++) MPI_Put(src + 8 * k, 8, MPI_BYTE, 1, OFF + 8 * k, 8, MPI_BYTE, win);
        MPI_Win_flush(1, win);
    }
    return now() - t;
}
static double t_get8(long n)
{
    double t = now();
    for (long i = 0; i < n; i++) { MPI_Get(src, 8, MPI_BYTE, 1, OFF, 8, MPI_BYTE, win); MPI_Win_flush(1, win); }
    return now() - t;
}
static int bw_len, bw_win;
static double t_putbw(long n)
{
    double t = now();
    for (long i = 0; i < n; i++) {
        for (int k = 0; k < bw_win; k++) MPI_Put(src, bw_len, MPI_BYTE, 1, OFF, bw_len, MPI_BYTE, win);
        MPI_Win_flush(1, win);
    }
    return now() - t;
}
static double t_getbw(long n)
{
    double t = now();
    for (long i = 0; i < n; i++) {
        for (int k = 0; k < bw_win; k++) MPI_Get(src, bw_len, MPI_BYTE, 1, OFF, bw_len, MPI_BYTE, win);
        MPI_Win_flush(1, win);
    }
    return now() - t;
}
static double t_iput(long n)
{
    double t = now();
    for (long i = 0; i < n; i++) { MPI_Put(src, 1, strided, 1, OFF, 1, strided, win); MPI_Win_flush(1, win); }
    return now() - t;
}
static double t_fadd(long n)
{
    int64_t one = 1, r;
    double t = now();
    for (long i = 0; i < n; i++) { MPI_Fetch_and_op(&one, &r, MPI_INT64_T, 1, D_CELL, MPI_SUM, win); MPI_Win_flush(1, win); }
    return now() - t;
}
static double t_cswap(long n)
{
    double t = now();
    for (long i = 0; i < n; i++) {
        int64_t v = i + 1, c = i, r;
        MPI_Compare_and_swap(&v, &c, &r, MPI_INT64_T, 1, D_CELL, win);
        MPI_Win_flush(1, win);
    }
    return now() - t;
}
static double t_fetch(long n)
{
    int64_t r;
    double t = now();
    for (long i = 0; i < n; i++) { MPI_Fetch_and_op(NULL, &r, MPI_INT64_T, 1, D_CELL, MPI_NO_OP, win); MPI_Win_flush(1, win); }
    return now() - t;
}
static double t_addrate(long n)
{
    int64_t one = 1;
    double t = now();
    for (long i = 0; i < n; i++) {
        for (int k = 0; k < WIN; k++) MPI_Accumulate(&one, 1, MPI_INT64_T, 1, D_CELL, 1, MPI_INT64_T, MPI_SUM, win);
        MPI_Win_flush(1, win);
    }
    return now() - t;
}
/* Spin on a local window word; poke the library's progress now and then. */
static void await(int off, int64_t v)
{
    volatile int64_t *p = (volatile int64_t *)(base + off);
    for (int k = 0; *p < v; k++)
        if ((k & 15) == 15) { int f; MPI_Win_sync(win); MPI_Iprobe(MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &f, MPI_STATUS_IGNORE); }
    MPI_Win_sync(win);
}
static double t_pp(long n)
{
    double t = now();
    for (long i = 0; i < n; i++) {
        int64_t v = ++seq;
        if (me) await(D_FLAG, v);
        MPI_Put(&v, 1, MPI_INT64_T, !me, D_FLAG, 1, MPI_INT64_T, win);
        MPI_Win_flush(!me, win);
        if (!me) await(D_FLAG, v);
    }
    return now() - t;
}
/* data put, flush, then the signal word: what put-with-signal costs in MPI */
static int64_t sseq;
static double t_sig(long n)
{
    double t = now();
    for (long i = 0; i < n; i++) {
        int64_t v = ++sseq;
        if (me) await(D_SIG, v);
        MPI_Put(src, 8, MPI_BYTE, !me, OFF, 8, MPI_BYTE, win);
        MPI_Win_flush(!me, win);
        MPI_Put(&v, 1, MPI_INT64_T, !me, D_SIG, 1, MPI_INT64_T, win);
        MPI_Win_flush(!me, win);
        if (!me) await(D_SIG, v);
    }
    return now() - t;
}
static char *cdst;
static void c_bcast(int n) { MPI_Bcast(cdst, n, MPI_BYTE, 0, MPI_COMM_WORLD); }
static void c_sum(int n) { MPI_Allreduce(src, cdst, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); }
static void c_a2a(int n) { MPI_Alltoall(src, n, MPI_BYTE, cdst, n, MPI_BYTE, MPI_COMM_WORLD); }
static void c_fcol(int n) { MPI_Allgather(src, n, MPI_BYTE, cdst, n, MPI_BYTE, MPI_COMM_WORLD); }
static void (*cfn)(int); static int clen;
static double t_coll(long n)
{
    double s = 0;
    for (long i = 0; i < n; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        double t = now();
        cfn(clen);
        s += now() - t;
    }
    return s;
}
static double t_barrier(long n)
{
    double t = now();
    for (long i = 0; i < n; i++) MPI_Barrier(MPI_COMM_WORLD);
    return now() - t;
}

static double measure(double (*f)(long), int active)
{
    long n = 1;
    for (int round = 0;; round++) {
        MPI_Barrier(MPI_COMM_WORLD);
        double w = now(), t = 0, sum = 0;
        if (active || me == 0) t = f(n);
        MPI_Barrier(MPI_COMM_WORLD);
        w = now() - w;
        MPI_Reduce(&t, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
        double r = active == 2 ? sum / n / np : t / n;
        long nx = 0;
        if (me == 0) {
            if (round > 0 && (w >= target || n >= (1L << 26))) nx = 0;
            else if (w >= target) nx = n;
            else { double k = 1.1 * target / (w > 1e-7 ? w : 1e-7); nx = (long)(n * (k > 16 ? 16 : k < 2 ? 2 : k)); }
        }
        MPI_Bcast(&nx, 1, MPI_LONG, 0, MPI_COMM_WORLD);
        if (nx == 0) return r;
        n = nx;
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
    int shared = argc > 2 && !strcmp(argv[2], "shared");
    if (getenv("BENCH_T")) target = atof(getenv("BENCH_T"));
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &np);
    if (!strcmp(mode, "init")) {
        MPI_Barrier(MPI_COMM_WORLD);
        out("rss", mem_kb("/proc/self/status", "VmRSS:") / 1024.0, "MiB");
        out("pss", mem_kb("/proc/self/smaps_rollup", "Pss:") / 1024.0, "MiB");
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Finalize();
        return 0;
    }
    src = aligned_alloc(4096, BIG); cdst = aligned_alloc(4096, BIG);
    memset(src, 0, BIG); memset(cdst, 0, BIG);
    if (!strcmp(mode, "coll")) {
        struct { const char *n; void (*f)(int); int l; } cs[] = {
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
        MPI_Finalize();
        return 0;
    }
    MPI_Info inf;
    MPI_Info_create(&inf);
    MPI_Info_set(inf, "accumulate_ordering", "none");
    if (shared) MPI_Win_allocate_shared(OFF + BIG, 1, inf, MPI_COMM_WORLD, &base, &win);
    else MPI_Win_allocate(OFF + BIG, 1, inf, MPI_COMM_WORLD, &base, &win);
    memset(base, 0, OFF + BIG);
    MPI_Type_vector(1024, 1, 2, MPI_INT64_T, &strided);
    MPI_Type_commit(&strided);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, win);
    if (!strcmp(mode, "p2p")) {
        out("put8_quiet", 1e6 * measure(t_put8, 0), "us");
        out("putnbi8_rate", 1e-6 * WIN / measure(t_p8rate, 0), "Mops/s");
        out("get8", 1e6 * measure(t_get8, 0), "us");
        const int ls[4] = {4096, 65536, 1 << 20, 16 << 20};
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
        out("pp_putsignal_half", 0.5e6 * measure(t_sig, 1), "us");
    } else if (!strcmp(mode, "gups")) {
        const uint64_t words = 1 << 20;
        uint64_t x = 0x9e3779b97f4a7c15ull * (me + 1);
        static uint64_t vals[WIN];
        long n = 2;
        double t;
        for (;;) {
            MPI_Barrier(MPI_COMM_WORLD);
            t = now();
            for (long i = 0; i < n; i++) {
                for (int k = 0; k < WIN; k++) {
                    x ^= x << 13; x ^= x >> 7; x ^= x << 17;
                    vals[k] = x;
                    MPI_Accumulate(&vals[k], 1, MPI_UINT64_T, (int)((x >> 40) % np), OFF + 8 * (x & (words - 1)), 1, MPI_UINT64_T, MPI_BXOR, win);
                }
                MPI_Win_flush_all(win);
            }
            MPI_Barrier(MPI_COMM_WORLD);
            t = now() - t;
            long nx = t >= 4 * target ? 0 : n * (t < target ? 4 : 2);
            MPI_Bcast(&nx, 1, MPI_LONG, 0, MPI_COMM_WORLD);
            if (!nx) break;
            n = nx;
        }
        out("gups_xor", 1e-6 * n * WIN * np / t, "Mups");
    }
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_free(&win);
    MPI_Finalize();
    return 0;
}
