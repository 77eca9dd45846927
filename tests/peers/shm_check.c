/* SPDX-License-Identifier: BSD-3-Clause */
/* Does this OpenSHMEM library deliver? A figure of a library that loses data is
 * worth nothing. PE 0 prints one line: check_errors N count; 0 is right. */
#include <shmem.h>
#include <stdio.h>
#include <string.h>

int main(void)
{
    shmem_init();
    int me = shmem_my_pe(), np = shmem_n_pes();
    size_t n = 1 << 20;
    long bad = 0;
    char *dst = shmem_malloc(n), *src = shmem_malloc(n);
    long *count = shmem_calloc(3, sizeof *count); /* fetch_adds, adds, errors */
    if (!dst || !src || !count) { fprintf(stderr, "heap too small\n"); return 1; }
    memset(src, me + 1, n);
    memset(dst, 0, n);
    shmem_barrier_all();
    shmem_putmem(dst, src, n, (me + 1) % np);
    for (int i = 0; i < 1000; i++) {
        shmem_long_atomic_fetch_add(&count[0], 1, 0);
        shmem_long_atomic_add(&count[1], 2, 0);
    }
    shmem_barrier_all();
    for (size_t i = 0; i < n; i++) bad += dst[i] != (char)((me + np - 1) % np + 1);
    memset(src, 0, n);
    shmem_getmem(src, dst, n, (me + 1) % np);
    for (size_t i = 0; i < n; i++) bad += src[i] != (char)(me + 1);
    if (me == 0) bad += count[0] != 1000L * np || count[1] != 2000L * np;
    if (bad) fprintf(stderr, "PE %d: %ld errors\n", me, bad);
    shmem_long_atomic_add(&count[2], bad, 0);
    shmem_barrier_all();
    if (me == 0) { printf("check_errors %ld count\n", count[2]); fflush(stdout); }
    shmem_finalize();
    return bad != 0;
}
