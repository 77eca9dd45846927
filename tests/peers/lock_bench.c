// SPDX-License-Identifier: BSD-3-Clause
//
// What a lock costs in C: NP processes take an MCS queue lock in shared memory
// (Mellor-Crummey & Scott 1991) 1,000 times each and count under it. Who waits spins a
// little if every process has a core, and then sleeps on a futex of its own.
//
//	lock_bench NP [MIB [MS]]
//
// The places in line are side by side, or MIB apart, as they are in symmetric heaps: then
// each is on a page of its own, under a page table of its own, in every process. With MS,
// each process has a thread that wakes every MS milliseconds and does nothing, as a
// process in Go has one that wakes every 10. It prints the time until all are done: name,
// value, unit.
#define _GNU_SOURCE
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { each = 1000, most = 1024 };

// A node is a process's place in the line, on lines of its own.
struct node {
	_Alignas(128) atomic_uint next; // the number of who follows, from 1 on
	atomic_uint waiting;            // 1: waits, 2: sleeps, 0: has the lock
};

struct shared {
	_Alignas(128) atomic_uint tail;
	_Alignas(128) volatile long count;
	_Alignas(128) atomic_uint ready, go;
};

static struct shared *s;
static char *nodes;
static size_t apart = sizeof(struct node);
static int spins;
static int ms; // between two ticks, 0: none

static void futex(atomic_uint *word, int op, unsigned value) {
	syscall(SYS_futex, word, op, value, NULL, NULL, 0);
}

static struct node *node(unsigned i) { return (struct node *)(nodes + i * apart); }

static void lock(unsigned me) {
	struct node *n = node(me);
	atomic_store_explicit(&n->next, 0, memory_order_relaxed);
	atomic_store_explicit(&n->waiting, 1, memory_order_relaxed);
	unsigned before = atomic_exchange(&s->tail, me + 1);
	if (before == 0)
		return;
	atomic_store(&node(before - 1)->next, me + 1);
	for (int i = 0; i < spins && atomic_load(&n->waiting) != 0; i++)
		__builtin_ia32_pause();
	unsigned one = 1;
	atomic_compare_exchange_strong(&n->waiting, &one, 2);
	while (atomic_load(&n->waiting) != 0)
		futex(&n->waiting, FUTEX_WAIT, 2);
}

static void unlock(unsigned me) {
	struct node *n = node(me);
	unsigned next = atomic_load(&n->next);
	if (next == 0) {
		unsigned self = me + 1;
		if (atomic_compare_exchange_strong(&s->tail, &self, 0))
			return;
		while ((next = atomic_load(&n->next)) == 0)
			sched_yield();
	}
	struct node *f = node(next - 1);
	if (atomic_exchange(&f->waiting, 0) == 2)
		futex(&f->waiting, FUTEX_WAKE, 1);
}

static void *tick(void *unused) {
	for (;;)
		usleep(ms * 1000);
	return unused;
}

static void process(unsigned me) {
	pthread_t thread;
	if (ms > 0 && pthread_create(&thread, NULL, tick, NULL) != 0) {
		fprintf(stderr, "no thread\n");
		exit(1);
	}
	atomic_fetch_add(&s->ready, 1);
	while (atomic_load(&s->go) == 0)
		usleep(100);
	for (int i = 0; i < each; i++) {
		lock(me);
		s->count++;
		unlock(me);
	}
}

static double now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + 1e-9 * t.tv_nsec;
}

int main(int argc, char **argv) {
	int np = argc > 1 ? atoi(argv[1]) : 0;
	int mib = argc > 2 ? atoi(argv[2]) : 0;
	ms = argc > 3 ? atoi(argv[3]) : 0;
	if (np < 1 || np >= most || mib < 0 || mib > 1024 || ms < 0 || ms > 1000) {
		fprintf(stderr, "usage: lock_bench NP [MIB [MS]], NP from 1 to %d, MIB up to 1024, MS up to 1000\n", most - 1);
		return 2;
	}
	if (mib > 0)
		apart = (size_t)mib << 20;
	spins = np <= sysconf(_SC_NPROCESSORS_ONLN) ? 400 : 20;
	int how = MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE;
	s = mmap(NULL, sizeof *s, PROT_READ | PROT_WRITE, how, -1, 0);
	nodes = mmap(NULL, (np + 1) * apart, PROT_READ | PROT_WRITE, how, -1, 0);
	if (s == MAP_FAILED || nodes == MAP_FAILED) {
		perror("mmap");
		return 1;
	}
	for (int i = 0; i < np; i++) {
		pid_t child = fork();
		if (child < 0) {
			perror("fork");
			return 1;
		}
		if (child == 0) {
			process(i);
			_exit(0);
		}
	}
	while (atomic_load(&s->ready) != (unsigned)np)
		usleep(100);
	lock(np); // until all stand in line, so that each hand-over is one
	atomic_store(&s->go, 1);
	usleep(20000);
	double start = now();
	unlock(np);
	while (wait(NULL) > 0)
		;
	double took = now() - start;
	if (s->count != (long)np * each) {
		fprintf(stderr, "counted %ld, want %ld\n", s->count, (long)np * each);
		return 1;
	}
	printf("lock_%d %.4f s\n", each, took);
	return 0;
}
