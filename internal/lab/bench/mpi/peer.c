/* One process of a pair that carries out the orders of strand bench over MPI.
 * The loops are those of strand.go in the same package, and of the OSU
 * micro-benchmarks. Between orders the process blocks in read(2): it must not
 * use the processor while others are measured. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

enum { DATA = 100, ANSWER = 101 };

static int rank;
static char *buf;
static MPI_Request *reqs;

static void die(const char *what)
{
	perror(what);
	MPI_Abort(MPI_COMM_WORLD, 1);
}

static void pingpong(int size)
{
	int peer = 1 - rank;
	if (rank == 0) {
		MPI_Send(buf, size, MPI_BYTE, peer, DATA, MPI_COMM_WORLD);
		MPI_Recv(buf, size, MPI_BYTE, peer, DATA, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	} else {
		MPI_Recv(buf, size, MPI_BYTE, peer, DATA, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		MPI_Send(buf, size, MPI_BYTE, peer, DATA, MPI_COMM_WORLD);
	}
}

static void window(int size, int messages)
{
	char answer[4] = {0};
	int i;
	for (i = 0; i < messages; i++) {
		if (rank == 0)
			MPI_Isend(buf, size, MPI_BYTE, 1, DATA, MPI_COMM_WORLD, &reqs[i]);
		else
			MPI_Irecv(buf, size, MPI_BYTE, 0, DATA, MPI_COMM_WORLD, &reqs[i]);
	}
	MPI_Waitall(messages, reqs, MPI_STATUSES_IGNORE);
	if (rank == 0)
		MPI_Recv(answer, sizeof answer, MPI_BYTE, 1, ANSWER, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	else
		MPI_Send(answer, sizeof answer, MPI_BYTE, 0, ANSWER, MPI_COMM_WORLD);
}

/* compute stands for a program that computes. */
static void compute(double seconds)
{
	double start = MPI_Wtime();
	while (MPI_Wtime() - start < seconds)
		;
}

static long long measure(const char *workload, int size, int iters, int warmup, int messages, int pause)
{
	int i, is_pingpong = strcmp(workload, "pingpong") == 0, is_burst = strcmp(workload, "burst") == 0;
	double start = 0, total = 0;
	buf = realloc(buf, size ? size : 1);
	reqs = realloc(reqs, messages * sizeof *reqs);
	if (!buf || !reqs)
		die("memory");
	memset(buf, 1, size ? size : 1);
	for (i = -warmup; i < iters; i++) {
		if (is_burst) {
			compute(pause * 1e-6);
			MPI_Barrier(MPI_COMM_WORLD);
		}
		if (i == 0 || is_burst)
			start = MPI_Wtime();
		if (is_pingpong)
			pingpong(size);
		else
			window(size, messages);
		if (is_burst && i >= 0)
			total += MPI_Wtime() - start;
	}
	if (!is_burst)
		total = MPI_Wtime() - start;
	return (long long)(total * 1e9);
}

int main(int argc, char **argv)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	char line[256], workload[32];
	int fd, n, ranks, size, iters, warmup, messages, pause;
	FILE *orders;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	if (argc != 2 || ranks != 2 || strlen(argv[1]) >= sizeof address.sun_path) {
		fprintf(stderr, "usage: two ranks of %s SOCKET\n", argv[0]);
		MPI_Abort(MPI_COMM_WORLD, 2);
	}
	strcpy(address.sun_path, argv[1]);
	fd = socket(AF_UNIX, SOCK_STREAM, 0);
	if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof address) < 0)
		die(argv[1]);
	orders = fdopen(fd, "r");
	if (!orders)
		die("fdopen");
	dprintf(fd, "rank %d\n", rank);
	while (fgets(line, sizeof line, orders)) {
		n = sscanf(line, "%31s %d %d %d %d %d", workload, &size, &iters, &warmup, &messages, &pause);
		if (n != 6) {
			fprintf(stderr, "no order: %s", line);
			MPI_Abort(MPI_COMM_WORLD, 2);
		}
		dprintf(fd, "%lld\n", measure(workload, size, iters, warmup, messages, pause));
	}
	MPI_Finalize();
	return 0;
}
