/* Rank 0 sends rank 1 messages of 4 MB, argv[2] of them under way at a time, argv[1] in
   all; rank 1 tells how many Mbit/s the last three quarters of them came to. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { size = 4 << 20, most = 64 };

int main(int argc, char **argv)
{
    MPI_Request reqs[most];
    char *bufs[most];
    double start = 0;
    int rank, i, messages, window;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    messages = argc == 3 ? atoi(argv[1]) : 0;
    window = argc == 3 ? atoi(argv[2]) : 0;
    if (messages < 8 || window < 1 || window > most)
        MPI_Abort(MPI_COMM_WORLD, 2);
    for (i = 0; i < window; i++)
        bufs[i] = calloc(1, size);
    for (i = 0; i < messages + window; i++) {
        int k = i % window;
        if (i >= window) {
            MPI_Wait(&reqs[k], MPI_STATUS_IGNORE);
            if (i - window + 1 == messages / 4)
                start = MPI_Wtime();
        }
        if (i >= messages)
            continue;
        if (rank == 0)
            MPI_Isend(bufs[k], size, MPI_BYTE, 1, 1, MPI_COMM_WORLD, &reqs[k]);
        else
            MPI_Irecv(bufs[k], size, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &reqs[k]);
    }
    if (rank == 1)
        printf("rate: %.0f Mbit/s\n", 8e-6 * size * (messages - messages / 4) / (MPI_Wtime() - start));
    MPI_Finalize();
    return 0;
}
