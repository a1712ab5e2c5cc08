/* What a message of short blocks costs beside a contiguous one, over MPI: layouts/main.go in C.
 * Arguments: rounds, repetitions of each message in a round. One line a round, size and block: seconds a message. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const int sizes[] = {65536, 1048576, 4194304}, blocks[] = {0, 8, 64, 1024, 16384};

static double measure(char *buf, int size, int block, int repeat, int rank)
{
	MPI_Datatype type;
	double start = 0;
	int i, count = 1;

	if (block) {
		MPI_Type_vector(size / block, block, 2 * block, MPI_BYTE, &type);
		MPI_Type_commit(&type);
	} else {
		type = MPI_BYTE;
		count = size;
	}
	for (i = -2; i < repeat; i++) {
		if (i == 0) {
			MPI_Barrier(MPI_COMM_WORLD);
			start = MPI_Wtime();
		}
		if (rank == 0) {
			MPI_Send(buf, count, type, 1, 1, MPI_COMM_WORLD);
			MPI_Recv(buf, count, type, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		} else {
			MPI_Recv(buf, count, type, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			MPI_Send(buf, count, type, 0, 1, MPI_COMM_WORLD);
		}
	}
	start = (MPI_Wtime() - start) / repeat / 2;
	if (block)
		MPI_Type_free(&type);
	return start;
}

int main(int argc, char **argv)
{
	int rank, rounds, repeat, r;
	unsigned s, b;
	char *buf;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	rounds = argc > 1 ? atoi(argv[1]) : 5;
	repeat = argc > 2 ? atoi(argv[2]) : 20;
	buf = calloc(2, sizes[2]);
	if (!buf)
		MPI_Abort(MPI_COMM_WORLD, 1);
	for (r = 0; r < rounds; r++)
		for (s = 0; s < sizeof sizes / sizeof *sizes; s++)
			for (b = 0; b < sizeof blocks / sizeof *blocks; b++) {
				double t = measure(buf, sizes[s], blocks[b], repeat, rank);
				if (rank == 0)
					printf("%d %d %.9f\n", sizes[s], blocks[b], t);
			}
	MPI_Finalize();
	return 0;
}
