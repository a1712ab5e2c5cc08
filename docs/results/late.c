/* How late messages come to a rank that waits for them, over MPI: late/main.go in C. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000L + t.tv_nsec;
}

static int compare(const void *a, const void *b)
{
	long d = *(const long *)a - *(const long *)b;

	return d < 0 ? -1 : d > 0;
}

int main(int argc, char **argv)
{
	int rank, i, late = 0, count = argc > 1 ? atoi(argv[1]) : 6000;
	long at, begun, pause, *took = malloc(count * sizeof *took);

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	srandom(now());
	for (i = 0; i < count; i++) {
		if (rank == 0) {
			for (begun = now(), pause = random() % 600000; now() - begun < pause;)
				;
			at = now();
			MPI_Send(&at, 8, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
		} else if (rank == 1) {
			MPI_Recv(&at, 8, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			took[i] = now() - at;
			late += took[i] > 700000;
		}
	}
	if (rank == 1) {
		qsort(took, count, sizeof *took, compare);
		printf("%d %d %.1f %.1f\n", late, count, took[count / 2] / 1e3, took[count * 99L / 100] / 1e3);
	}
	MPI_Finalize();
	return 0;
}
