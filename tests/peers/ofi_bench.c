/* SPDX-License-Identifier: BSD-3-Clause */
/* What libfabric itself allows: the one-sided figures in plain C loops, between two
 * processes on the loopback address, at the level of completion that goshmem asks for:
 * FI_DELIVERY_COMPLETE, small writes with FI_INJECT, progress by polling alone.
 *   ofi_bench [PROVIDER [fd]]     tcp;ofi_rxm if none is named
 * With fd the completion queue has a file descriptor to sleep on, which a program
 * needs that serves others while it computes; polling costs more then.
 * Every figure is one line: name value unit. BENCH_T = seconds per figure.
 * cc -O3 -o ofi_bench ofi_bench.c -lfabric */
#include <rdma/fabric.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SIZE = 4 << 20, DATA = 4096, WINDOW = 1000, BULK = 1 << 20, BULKS = 3 };
/* Words of a segment, each on a line of its own. */
enum { CELL = 0, FLAG = 128, SIGNAL = 256, STOP = 384, VALUE = 512, PUT = 640 };
static const uint64_t level = FI_DELIVERY_COMPLETE | FI_COMPLETION;

static int me, link_fd;
static double target = 0.08;
static char *seg;
static struct fi_info *info;
static struct fid_fabric *fabric;
static struct fid_domain *domain;
static struct fid_av *av;
static struct fid_cq *cq;
static struct fid_ep *ep;
static struct fid_mr *mr;
static fi_addr_t peer;
static struct blob { char name[256]; uint64_t len, key, base; } mine, theirs;
static struct fi_context2 contexts[WINDOW];
static long posted, completed;

static void die(const char *what, long code)
{
    fprintf(stderr, "ofi_bench: PE %d: %s: %s\n", me, what, fi_strerror((int)-code));
    exit(1);
}
static void check(const char *what, long code) { if (code) die(what, code); }

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}

static void progress(void)
{
    struct fi_cq_entry e[16];
    long n = fi_cq_read(cq, e, 16);
    if (n > 0) completed += n;
    else if (n != -FI_EAGAIN) {
        struct fi_cq_err_entry err = {0};
        fi_cq_readerr(cq, &err, 0);
        die("completion", -err.err);
    }
}
static void quiet(void) { while (completed < posted) progress(); }
#define POST(call) do { \
        long r_; \
        while ((r_ = (call)) == -FI_EAGAIN) progress(); \
        check(#call, r_); \
        posted++; \
    } while (0)

static void *context(void) { return &contexts[posted % WINDOW]; }

static void rma(int reading, size_t there, char *here, size_t n)
{
    void *none = NULL;
    struct iovec iov = {here, n};
    struct fi_rma_iov rem = {theirs.base + there, n, theirs.key};
    struct fi_msg_rma m = {.msg_iov = &iov, .desc = &none, .iov_count = 1, .addr = peer, .rma_iov = &rem, .rma_iov_count = 1, .context = context()};
    uint64_t flags = level | (!reading && n <= info->tx_attr->inject_size ? FI_INJECT : 0);
    if (reading) POST(fi_readmsg(ep, &m, FI_COMPLETION));
    else POST(fi_writemsg(ep, &m, flags));
}

static int64_t operand, comparand, result;
enum { PLAIN, FETCH, COMPARE };
static void atomic(int form, enum fi_op op, size_t there, int64_t v, int64_t cmp)
{
    void *none = NULL;
    struct fi_ioc o = {&operand, 1}, c = {&comparand, 1}, r = {&result, 1};
    struct fi_rma_ioc rem = {theirs.base + there, 1, theirs.key};
    struct fi_msg_atomic m = {.msg_iov = &o, .desc = &none, .iov_count = 1, .addr = peer, .rma_iov = &rem, .rma_iov_count = 1,
        .datatype = FI_INT64, .op = op, .context = context()};
    operand = v;
    comparand = cmp;
    if (form == PLAIN) POST(fi_atomicmsg(ep, &m, level));
    else if (form == FETCH) POST(fi_fetch_atomicmsg(ep, &m, &r, &none, 1, level));
    else POST(fi_compare_atomicmsg(ep, &m, &c, &none, 1, &r, &none, 1, level));
}

static int64_t word(size_t off) { return __atomic_load_n((int64_t *)(seg + off), __ATOMIC_ACQUIRE); }

/* ---- the figures; those in the second group need both processes ---- */
static void put8_quiet(long n) { for (long i = 0; i < n; i++) { rma(0, PUT, seg + VALUE, 8); quiet(); } }
static void get8(long n) { for (long i = 0; i < n; i++) { rma(1, PUT, seg + VALUE, 8); quiet(); } }
static void fadd(long n) { for (long i = 0; i < n; i++) { atomic(FETCH, FI_SUM, CELL, 1, 0); quiet(); } }
static void cswap(long n) { for (long i = 0; i < n; i++) { atomic(COMPARE, FI_CSWAP, CELL, i + 1, i); quiet(); } }
static void fetch(long n) { for (long i = 0; i < n; i++) { atomic(FETCH, FI_ATOMIC_READ, CELL, 0, 0); quiet(); } }
static void putnbi8(long n) { for (long i = 0; i < n; i++) { for (int k = 0; k < WINDOW; k++) rma(0, PUT, seg + VALUE, 8); quiet(); } }
/* One after the other, as blocking ones are: a put's source may be reused when it returns, which is
 * when it is delivered, at this level of completion. */
static void put1m(long n) { for (long i = 0; i < n; i++) { for (int k = 0; k < BULKS; k++) { rma(0, DATA, seg + DATA, BULK); quiet(); } } }
static void get1m(long n) { for (long i = 0; i < n; i++) { for (int k = 0; k < BULKS; k++) { rma(1, DATA, seg + DATA, BULK); quiet(); } } }

static int64_t turn;
static void await(size_t off) { while (word(off) < turn) progress(); }
static void hand(size_t off, int data)
{
    if (data) { rma(0, DATA, seg + DATA, 8); quiet(); }
    atomic(PLAIN, FI_ATOMIC_WRITE, off, turn, 0);
}
static void pingpong(long n, size_t off, int data)
{
    for (long i = 0; i < n; i++) {
        turn++;
        if (me == 0) { hand(off, data); await(off); } else { await(off); hand(off, data); }
    }
    quiet();
}
static void pp_put(long n) { pingpong(n, FLAG, 0); }
static void pp_signal(long n) { pingpong(n, SIGNAL, 1); }

static const struct figure {
    const char *name, *unit;
    void (*run)(long n);
    int both;
    double scale; /* of seconds a round; negative: of rounds a second */
} figures[] = {
    {"put8_quiet", "us", put8_quiet, 0, 1e6},
    {"get8", "us", get8, 0, 1e6},
    {"fadd", "us", fadd, 0, 1e6},
    {"cswap", "us", cswap, 0, 1e6},
    {"fetch", "us", fetch, 0, 1e6},
    {"putnbi8_rate", "Mops/s", putnbi8, 0, -1e-6 * WINDOW},
    {"putbw_1M", "GB/s", put1m, 0, -1e-9 * BULK * BULKS},
    {"getbw_1M", "GB/s", get1m, 0, -1e-9 * BULK * BULKS},
    {"pp_put_half", "us", pp_put, 1, 0.5e6},
    {"pp_putsignal_half", "us", pp_signal, 1, 0.5e6},
};

/* PE 1 does its part of a figure, or polls until PE 0 is through with it. */
static void serve(void)
{
    struct { int figure; long n; } order;
    static int64_t served;
    while (read(link_fd, &order, sizeof order) == sizeof order) {
        const struct figure *f = &figures[order.figure];
        if (f->both) f->run(order.n);
        served++;
        while (word(STOP) < served) progress();
    }
}
static double timed(int i, long n)
{
    static int64_t rounds;
    struct { int figure; long n; } order = {i, n};
    if (write(link_fd, &order, sizeof order) != sizeof order) die("order", -FI_EIO);
    double t = now();
    figures[i].run(n);
    t = now() - t;
    atomic(PLAIN, FI_ATOMIC_WRITE, STOP, ++rounds, 0);
    quiet();
    return t;
}
static void measure(int i)
{
    const struct figure *f = &figures[i];
    long n = 1;
    for (int round = 0;; round++) {
        double t = timed(i, n), r = t / n;
        if (round > 0 && t >= target) { /* round 0 warms up */
            printf("%s %.6g %s\n", f->name, f->scale > 0 ? r * f->scale : -f->scale / r, f->unit);
            fflush(stdout);
            return;
        }
        double k = t < target ? 1.1 * target / (t > 1e-7 ? t : 1e-7) : 1;
        n = (long)(n * (k > 16 ? 16 : k)) + (t < target);
    }
}

static void exchange(void)
{
    if (write(link_fd, &mine, sizeof mine) != sizeof mine || read(link_fd, &theirs, sizeof theirs) != sizeof theirs) die("exchange", -FI_EIO);
}

static void start(const char *provider, int fd)
{
    struct fi_info *hints = fi_allocinfo();
    struct fi_av_attr ava = {.type = FI_AV_TABLE};
    struct fi_cq_attr cqa = {.size = 8192, .format = FI_CQ_FORMAT_CONTEXT, .wait_obj = fd ? FI_WAIT_FD : FI_WAIT_NONE};
    size_t len = sizeof mine.name;

    hints->caps = FI_RMA | FI_ATOMIC;
    hints->mode = FI_CONTEXT | FI_CONTEXT2;
    hints->ep_attr->type = FI_EP_RDM;
    hints->domain_attr->mr_mode = FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
    hints->domain_attr->threading = FI_THREAD_SAFE;
    hints->domain_attr->data_progress = FI_PROGRESS_MANUAL;
    hints->domain_attr->resource_mgmt = FI_RM_ENABLED;
    hints->fabric_attr->prov_name = strdup(provider);
    check("fi_getinfo", fi_getinfo(FI_VERSION(1, 17), "127.0.0.1", NULL, FI_SOURCE, hints, &info));
    check("fi_fabric", fi_fabric(info->fabric_attr, &fabric, NULL));
    check("fi_domain", fi_domain(fabric, info, &domain, NULL));
    check("fi_av_open", fi_av_open(domain, &ava, &av, NULL));
    check("fi_cq_open", fi_cq_open(domain, &cqa, &cq, NULL));
    check("fi_endpoint", fi_endpoint(domain, info, &ep, NULL));
    check("bind av", fi_ep_bind(ep, &av->fid, 0));
    check("bind cq", fi_ep_bind(ep, &cq->fid, FI_TRANSMIT | FI_RECV));
    check("fi_enable", fi_enable(ep));
    seg = aligned_alloc(4096, SIZE);
    if (!seg) die("allocate", -FI_ENOMEM);
    memset(seg, 0, SIZE);
    check("fi_mr_reg", fi_mr_reg(domain, seg, SIZE, FI_REMOTE_READ | FI_REMOTE_WRITE, 0, 7, 0, &mr, NULL));
    check("fi_getname", fi_getname(&ep->fid, mine.name, &len));
    mine.len = len;
    mine.key = fi_mr_key(mr);
    mine.base = info->domain_attr->mr_mode & FI_MR_VIRT_ADDR ? (uintptr_t)seg : 0;
    exchange();
    if (fi_av_insert(av, theirs.name, 1, &peer, 0, NULL) != 1) die("fi_av_insert", -FI_EINVAL);
    fi_freeinfo(hints);
}

int main(int argc, char **argv)
{
    int pair[2], status = 0;
    pid_t child;

    if (getenv("BENCH_T")) target = atof(getenv("BENCH_T"));
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) || (child = fork()) < 0) die("fork", -FI_EOTHER);
    me = child == 0;
    link_fd = pair[me];
    close(pair[1 - me]);
    start(argc > 1 ? argv[1] : "tcp;ofi_rxm", argc > 2 && !strcmp(argv[2], "fd"));
    if (me == 1) {
        serve();
        _exit(0);
    }
    for (unsigned i = 0; i < sizeof figures / sizeof *figures; i++) measure((int)i);
    close(link_fd);
    waitpid(child, &status, 0);
    return status != 0;
}
