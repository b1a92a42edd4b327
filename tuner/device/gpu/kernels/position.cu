// Positions on a card, and what an objective says of one. The files of this folder are compiled as one, this first.
//
// Positions of a chunk lie in the order of their phases, each row filled up with zeros to whole eights, so that a lane reads
// eight nonzeros at once: 16 bytes of columns and 8 of counts. Sums over positions are whole numbers of a small unit: they do
// not depend on the order in which they are added, every run gives the same bits, and a card adds whole numbers of 32 bits
// in shared memory by itself (longer ones, and fractions, only by trying again until nobody came between).

#define LANES 32
#define THREADS 256
#define PARTS 4  // lanes that share a position
#define CROSS_ENTROPY 0
#define SQUARED_ERROR 1
#define ORDERED 2
#define DAVIDSON 3
#define NARROWEST 1e-3
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

// What an objective says of a position; the same formulas as in tuner/objectives.py and tuner/draws.py.
__device__ inline Terms terms_of(int objective, double scale, double evaluation, double width, double z, double mass) {
    Terms t = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
    double unit = 2.0 * scale, a = unit * evaluation;
    if (objective == CROSS_ENTROPY || objective == SQUARED_ERROR) {
        double q = 0.5 + 0.5 * z, tail = exp(-fabs(a)), larger = 1.0 / (1.0 + tail);
        double p = a >= 0.0 ? larger : tail * larger, slope = tail * larger * larger;
        if (objective == CROSS_ENTROPY) {
            t.loss = mass * (fmax(a, 0.0) - q * a + log1p(tail));
            t.residual = mass * unit * (p - q);
            t.curvature = mass * unit * unit * slope;
        } else {
            t.loss = mass * (p - q) * (p - q);
            t.residual = mass * 2.0 * (p - q) * unit * slope;
            t.curvature = mass * 2.0 * unit * unit * slope * slope;
        }
        return t;
    }
    double first = mass * unit, second = mass * unit * unit;
    if (objective == ORDERED) {
        double s = fmax(unit * width, NARROWEST), above = a - s, below = -a - s;
        double win = fmax(z, 0.0), lost = fmax(-z, 0.0), even = 1.0 - win - lost;
        double small = exp(-fabs(above)), tiny = exp(-fabs(below));
        double larger = 1.0 / (1.0 + small), other = 1.0 / (1.0 + tiny);
        double p = above >= 0.0 ? larger : small * larger, q = below >= 0.0 ? other : tiny * other;
        double gap = exp(-2.0 * s);
        double soft_above = fmax(above, 0.0) + log1p(small), soft_below = fmax(below, 0.0) + log1p(tiny);
        double alpha = small * larger * larger, beta = tiny * other * other;
        t.loss = mass * (win * (soft_above - above) + lost * (soft_below - below)
                         + even * (soft_above + soft_below - log1p(-gap)));
        t.residual = first * (-win * (1.0 - p) + lost * (1.0 - q) + even * (p - q));
        t.drawn = first * (win * (1.0 - p) + lost * (1.0 - q) - even * (p + q + 2.0 * gap / (1.0 - gap)));
        t.curvature = second * ((win + even) * alpha + (lost + even) * beta);
        t.cross = second * ((lost + even) * beta - (win + even) * alpha);
        t.bend = second * ((win + even) * alpha + (lost + even) * beta + even * 4.0 * gap / ((1.0 - gap) * (1.0 - gap)));
        return t;
    }
    double s = unit * width, even = 1.0 - fabs(z), most = fmax(0.5 * fabs(a), s);
    double won = exp(0.5 * a - most), level = exp(s - most), gone = exp(-0.5 * a - most), total = won + level + gone;
    double p = won / total, d = level / total, q = gone / total;
    t.loss = mass * (most + log(total) - 0.5 * z * a - even * s);
    t.residual = first * 0.5 * (p - q - z);
    t.drawn = first * (d - even);
    t.curvature = second * 0.25 * (p + q - (p - q) * (p - q));
    t.cross = -second * 0.5 * (p - q) * d;
    t.bend = second * d * (1.0 - d);
    return t;
}

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
