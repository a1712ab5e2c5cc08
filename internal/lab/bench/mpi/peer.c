/* One process of a job that carries out the orders of strand bench over MPI.
 * The loops are those of strand.go in the same package, and of the OSU
 * micro-benchmarks. Between orders the process sleeps: it must not use the
 * processor while others are measured. */
#include <errno.h>
#include <mpi.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>

enum { DATA = 100, ANSWER = 101 };

static int rank, first, peer;
static char *buf, *other;
static MPI_Request *reqs;

static void die(const char *what)
{
	perror(what);
	MPI_Abort(MPI_COMM_WORLD, 1);
}

static void pingpong(int size)
{
	if (first) {
		MPI_Send(buf, size, MPI_BYTE, peer, DATA, MPI_COMM_WORLD);
		MPI_Recv(buf, size, MPI_BYTE, peer, DATA, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	} else {
		MPI_Recv(buf, size, MPI_BYTE, peer, DATA, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		MPI_Send(buf, size, MPI_BYTE, peer, DATA, MPI_COMM_WORLD);
	}
}

static void exchange(int size)
{
	MPI_Sendrecv(buf, size, MPI_BYTE, peer, DATA, other, size, MPI_BYTE, peer, DATA, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void window(int size, int messages)
{
	char answer[4] = {0};
	int i;
	for (i = 0; i < messages; i++) {
		if (first)
			MPI_Isend(buf, size, MPI_BYTE, peer, DATA, MPI_COMM_WORLD, &reqs[i]);
		else
			MPI_Irecv(buf, size, MPI_BYTE, peer, DATA, MPI_COMM_WORLD, &reqs[i]);
	}
	MPI_Waitall(messages, reqs, MPI_STATUSES_IGNORE);
	if (first)
		MPI_Recv(answer, sizeof answer, MPI_BYTE, peer, ANSWER, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	else
		MPI_Send(answer, sizeof answer, MPI_BYTE, peer, ANSWER, MPI_COMM_WORLD);
}

/* compute stands for a program that computes. */
static void compute(double seconds)
{
	double start = MPI_Wtime();
	while (MPI_Wtime() - start < seconds)
		;
}

/* now is in nanoseconds, by a clock that all processes of the host share. */
static long long now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

/* processor is what all threads of this process have used, in nanoseconds. */
static long long processor(void)
{
	struct rusage u;
	getrusage(RUSAGE_SELF, &u);
	return (u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000000000LL + (u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1000LL;
}

/* What an order took: as struct spent in rounds.go. */
struct spent {
	long long exchange, began, ended, processor;
};

static void measure(struct spent *s, const char *workload, int size, int iters, int messages)
{
	long long used = processor(), start = now();
	int i, is_pingpong = strcmp(workload, "pingpong") == 0, is_exchange = strcmp(workload, "exchange") == 0;
	if (!s->exchange)
		s->began = start;
	for (i = 0; i < iters; i++)
		if (is_pingpong)
			pingpong(size);
		else if (is_exchange)
			exchange(size);
		else
			window(size, messages);
	s->ended = now();
	s->exchange += s->ended - start;
	s->processor += processor() - used;
}

static double *in, *out, *all_in, *all_out;
static int ranks;

/* numbers makes room for n of them. */
static double *numbers(double *old, size_t n)
{
	size_t i;
	double *v = realloc(old, (n ? n : 1) * sizeof *v);
	if (!v)
		die("memory");
	for (i = 0; i < n; i++)
		v[i] = 1;
	return v;
}

static void call(const char *name, int n, int root)
{
	if (strcmp(name, "barrier") == 0)
		MPI_Barrier(MPI_COMM_WORLD);
	else if (strcmp(name, "bcast") == 0)
		MPI_Bcast(in, n, MPI_DOUBLE, root, MPI_COMM_WORLD);
	else if (strcmp(name, "reduce") == 0)
		MPI_Reduce(in, out, n, MPI_DOUBLE, MPI_SUM, root, MPI_COMM_WORLD);
	else if (strcmp(name, "allreduce") == 0)
		MPI_Allreduce(in, out, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	else if (strcmp(name, "gather") == 0)
		MPI_Gather(in, n, MPI_DOUBLE, all_out, n, MPI_DOUBLE, root, MPI_COMM_WORLD);
	else if (strcmp(name, "scatter") == 0)
		MPI_Scatter(all_in, n, MPI_DOUBLE, out, n, MPI_DOUBLE, root, MPI_COMM_WORLD);
	else if (strcmp(name, "allgather") == 0)
		MPI_Allgather(in, n, MPI_DOUBLE, all_out, n, MPI_DOUBLE, MPI_COMM_WORLD);
	else if (strcmp(name, "alltoall") == 0)
		MPI_Alltoall(all_in, n, MPI_DOUBLE, all_out, n, MPI_DOUBLE, MPI_COMM_WORLD);
	else if (strcmp(name, "reducescatter") == 0)
		MPI_Reduce_scatter_block(all_in, out, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	else {
		fprintf(stderr, "no call: %s\n", name);
		MPI_Abort(MPI_COMM_WORLD, 2);
	}
}

/* collective makes calls whose roots change from one to the next. */
static struct spent collective(const char *name, int size, int iters, int warmup)
{
	struct spent s;
	long long used;
	int i, n = size / sizeof *in;
	in = numbers(in, n);
	out = numbers(out, n);
	all_in = numbers(all_in, (size_t)n * ranks);
	all_out = numbers(all_out, (size_t)n * ranks);
	for (i = 0; i < warmup; i++)
		call(name, n, i % ranks);
	MPI_Barrier(MPI_COMM_WORLD);
	used = processor();
	s.began = now();
	for (i = 0; i < iters; i++)
		call(name, n, (warmup + i) % ranks);
	s.ended = now();
	s.exchange = s.ended - s.began;
	s.processor = processor() - used;
	MPI_Barrier(MPI_COMM_WORLD);
	return s;
}

static struct spent carry_out(const char *workload, int size, int iters, int warmup, int messages, int pause)
{
	int i;
	struct spent none = {0}, s = none;
	buf = realloc(buf, size ? size : 1);
	other = realloc(other, size ? size : 1);
	reqs = realloc(reqs, messages * sizeof *reqs);
	if (!buf || !other || !reqs)
		die("memory");
	memset(buf, 1, size ? size : 1);
	memset(other, 1, size ? size : 1);
	if (strcmp(workload, "burst") != 0) {
		if (warmup)
			measure(&s, workload, size, warmup, messages);
		if (strcmp(workload, "pairs") == 0)
			MPI_Barrier(MPI_COMM_WORLD);
		s = none;
		measure(&s, workload, size, iters, messages);
		/* Nobody sleeps while others still exchange: what he has sent may not have left. */
		if (strcmp(workload, "pairs") == 0)
			MPI_Barrier(MPI_COMM_WORLD);
		return s;
	}
	for (i = -warmup; i < iters; i++) {
		if (i == 0)
			s = none;
		compute(pause * 1e-6);
		MPI_Barrier(MPI_COMM_WORLD);
		measure(&s, workload, size, 1, messages);
	}
	return s;
}

/* await_order sleeps until there is an order. The library may have something to send that a peer
 * waits for, the end of a barrier or of a first contact, and sends only when it is called. */
static void await_order(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	int pending, n, milliseconds = 1;
	while ((n = poll(&p, 1, milliseconds)) <= 0) {
		if (n < 0 && errno != EINTR)
			die("poll");
		MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &pending, MPI_STATUS_IGNORE);
		if (milliseconds < 1000)
			milliseconds *= 2;
	}
}

int main(int argc, char **argv)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct spent s;
	char line[256], workload[32], name[32];
	int fd, n, size, iters, warmup, messages, pause;
	FILE *orders;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	if (argc != 2 || ranks < 2 || strlen(argv[1]) >= sizeof address.sun_path) {
		fprintf(stderr, "usage: two ranks or more of %s SOCKET\n", argv[0]);
		MPI_Abort(MPI_COMM_WORLD, 2);
	}
	first = rank < ranks / 2;
	peer = (rank + ranks / 2) % ranks;
	strcpy(address.sun_path, argv[1]);
	fd = socket(AF_UNIX, SOCK_STREAM, 0);
	if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof address) < 0)
		die(argv[1]);
	orders = fdopen(fd, "r");
	if (!orders)
		die("fdopen");
	dprintf(fd, "rank %d\n", rank);
	while (await_order(fd), fgets(line, sizeof line, orders)) {
		n = sscanf(line, "%31s %d %d %d %d %d %31s", workload, &size, &iters, &warmup, &messages, &pause, name);
		if (n != 7) {
			fprintf(stderr, "no order: %s", line);
			MPI_Abort(MPI_COMM_WORLD, 2);
		}
		if (strcmp(workload, "coll") == 0)
			s = collective(name, size, iters, warmup);
		else
			s = carry_out(workload, size, iters, warmup, messages, pause);
		dprintf(fd, "%lld %lld %lld %lld\n", s.exchange, s.began, s.ended, s.processor);
	}
	MPI_Finalize();
	return 0;
}
