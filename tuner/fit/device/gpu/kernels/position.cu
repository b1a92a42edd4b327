// Positions on a GPU. The files of this folder are compiled as one text, this one first.
//
// The positions of a chunk are sorted by phase, each row padded with zeros to a multiple of eight, so that a lane reads eight
// nonzeros at once: 16 bytes of columns and 8 of counts. Sums over positions are integers in a small unit: they do not depend
// on the order of the additions, and every run gives the same bits. Integers of 32 bits, because a GPU has native atomic
// additions for these in shared memory; longer ones and floating-point numbers need a compare-and-swap loop.

#define LANES 32
#define THREADS 256
#define PARTS 4  // lanes that share a position
#define EVERYONE 0xffffffffu

typedef unsigned char byte;
typedef unsigned short column_t;
typedef signed char count_t;
typedef long long whole;

// Nonzeros of position p: eights row[p] to row[p + 1] of index and count.
#define ROWS const column_t *index, const count_t *count, const int *row

struct Terms {
    double loss, residual, curvature, drawn, cross, bend;
};

struct Eight {
    uint4 index;
    uint2 count;
};

__device__ inline Eight eight(const column_t *index, const count_t *count, int k) {
    return {((const uint4 *)index)[k], ((const uint2 *)count)[k]};
}

__device__ inline int column_of(const Eight &some, int m) {
    unsigned pair = m < 2 ? some.index.x : m < 4 ? some.index.y : m < 6 ? some.index.z : some.index.w;
    return m % 2 ? pair >> 16 : pair & 0xffff;
}

__device__ inline int count_of(const Eight &some, int m) {
    return (count_t)((m < 4 ? some.count.x : some.count.y) >> 8 * (m % 4));
}

__device__ inline whole dot(const int *weights, const Eight &some) {
    whole sum = 0;
#pragma unroll
    for (int m = 0; m < 8; m++) sum += (whole)weights[column_of(some, m)] * count_of(some, m);
    return sum;
}

__device__ inline whole warp_sum(whole value) {
    for (int step = LANES / 2; step > 0; step /= 2) value += __shfl_xor_sync(EVERYONE, value, step);
    return value;
}

__device__ inline void add(whole *sum, whole value) {
    if (value) atomicAdd((unsigned long long *)sum, (unsigned long long)value);
}
