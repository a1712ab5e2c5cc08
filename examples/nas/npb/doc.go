// Package npb has what the kernels of the NAS parallel benchmarks have in common: classes, random
// numbers, time, verification and the report.
//
// The kernels are written after their specification (D. Bailey and others, The NAS Parallel
// Benchmarks 2.0, NAS-95-020, and NAS-02-007) and after the algorithms of NPB 3.3's MPI programs.
// Problem sizes, published values, tolerances and the way operations are counted are those of NPB 3.3.
package npb
