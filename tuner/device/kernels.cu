// Passes over packed positions on a card. One warp takes one position, or one group of games; LANES is 32 on a card, and 1
// where these functions are tested as plain C++.
//
// Sums over positions are whole numbers of 1 / unit, so that they do not depend on the order in which they are added: every
// run gives the same bits. Weights have the shape (stages, width); column `last` is the intercept, and where there is one
// more it is the width of a draw.

#ifndef LANES
#define LANES 32
#endif
#define CROSS_ENTROPY 0
#define SQUARED_ERROR 1
#define ORDERED 2
#define DAVIDSON 3
#define NARROWEST 1e-3

typedef unsigned char byte;
typedef unsigned short column_t;
typedef signed char count_t;
typedef long long whole;

// Positions: nonzeros row[p] - base to row[p + 1] - base of index and count.
struct Positions {
    const column_t *index;
    const count_t *count;
    const whole *row;
    const byte *phase;
    const float *outcome;
    const float *weight;
    whole base;
};

struct Shape {
    int stages, width, last, phases;
};

// Kernels take plain numbers and pointers, in this order.
#define DATA const column_t *index, const count_t *count, const whole *row, const byte *phase, const float *outcome, \
             const float *weight, whole base, int stages, int width, int last, int phases
#define UNPACK Positions at = {index, count, row, phase, outcome, weight, base}; Shape shape = {stages, width, last, phases};

struct Terms {
    double loss, residual, curvature, drawn, cross, bend;
};

__device__ inline double lane_sum(double value) {
    for (int step = LANES / 2; step > 0; step /= 2) value += __shfl_xor_sync(0xffffffffu, value, step);
    return value;
}

__device__ inline double share_of(Shape shape, int phase, int stage) {
    if (shape.stages == 1) return 1.0;
    double first = (double)phase / shape.phases;
    return stage == 0 ? first : 1.0 - first;
}

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

// The terms of a position; all lanes of a warp know them afterwards.
__device__ inline Terms look(Positions at, Shape shape, const double *weights, int objective, double scale, int p, int lane) {
    int phase = at.phase[p];
    double evaluation = 0.0, width = 0.0;
    for (int stage = 0; stage < shape.stages; stage++) {
        const double *line = weights + stage * shape.width;
        double sum = 0.0;
        for (whole k = at.row[p] - at.base + lane; k < at.row[p + 1] - at.base; k += LANES) sum += line[at.index[k]] * at.count[k];
        double share = share_of(shape, phase, stage);
        evaluation += share * (lane_sum(sum) + line[shape.last]);
        if (shape.width > shape.last + 1) width += share * line[shape.last + 1];
    }
    return terms_of(objective, scale, evaluation, width, at.outcome[p], at.weight[p]);
}

__device__ inline void add(whole *sum, double value, double unit) {
    atomicAdd((unsigned long long *)sum, (unsigned long long)__double2ll_rn(value * unit));
}

// Loss, and gradient (stages, width), of positions place[0..n). Weights and this block's gradient lie in shared memory.
extern "C" __global__ void loss_gradient(DATA, const double *weights, int objective, double scale,
                                         const int *place, int n, double unit, double loss_unit, whole *gradient, whole *loss) {
    UNPACK
    extern __shared__ double shared[];
    int size = shape.stages * shape.width;
    double *mine = shared;
    whole *sums = (whole *)(shared + size);
    for (int i = threadIdx.x; i < size; i += blockDim.x) mine[i] = weights[i], sums[i] = 0;
    if (threadIdx.x == 0) sums[size] = 0;
    __syncthreads();
    int lane = threadIdx.x % LANES, warps = blockDim.x / LANES;
    for (int i = blockIdx.x * warps + threadIdx.x / LANES; i < n; i += gridDim.x * warps) {
        int p = place[i];
        Terms t = look(at, shape, mine, objective, scale, p, lane);
        int phase = at.phase[p];
        for (int stage = 0; stage < shape.stages; stage++) {
            double share = share_of(shape, phase, stage);
            whole *line = sums + stage * shape.width;
            if (share == 0.0) continue;
            for (whole k = at.row[p] - at.base + lane; k < at.row[p + 1] - at.base; k += LANES)
                add(line + at.index[k], share * t.residual * at.count[k], unit);
            if (lane == 0) {
                add(line + shape.last, share * t.residual, unit);
                if (shape.width > shape.last + 1) add(line + shape.last + 1, share * t.drawn, unit);
            }
        }
        if (lane == 0) add(sums + size, t.loss, loss_unit);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < size; i += blockDim.x)
        if (sums[i]) atomicAdd((unsigned long long *)gradient + i, (unsigned long long)sums[i]);
    if (threadIdx.x == 0) atomicAdd((unsigned long long *)loss, (unsigned long long)sums[size]);
}

// Rows (n, stages * width), zero before, whose sum of squares is the Gauss-Newton matrix but for `rest` (n,): what is left of
// the second derivative by the width of a draw.
extern "C" __global__ void expand(DATA, const double *weights, int objective, double scale,
                                  const int *place, int n, double *rows, double *rest) {
    UNPACK
    int lane = threadIdx.x % LANES, warps = blockDim.x / LANES, size = shape.stages * shape.width;
    for (int i = blockIdx.x * warps + threadIdx.x / LANES; i < n; i += gridDim.x * warps) {
        int p = place[i];
        Terms t = look(at, shape, weights, objective, scale, p, lane);
        double root = sqrt(t.curvature);
        for (int stage = 0; stage < shape.stages; stage++) {
            double share = share_of(shape, at.phase[p], stage);
            double *line = rows + (whole)i * size + stage * shape.width;
            for (whole k = at.row[p] - at.base + lane; k < at.row[p + 1] - at.base; k += LANES)
                line[at.index[k]] = share * root * at.count[k];
            if (lane == 0) {
                line[shape.last] = share * root;
                if (shape.width > shape.last + 1 && root > 0.0) line[shape.last + 1] = share * t.cross / root;
            }
        }
        if (lane == 0) rest[i] = root > 0.0 ? t.bend - t.cross * t.cross / t.curvature : 0.0;
    }
}

// Gradients (groups, stages * width), zero before, of the summed loss of each group: the positions place[first[g]..first[g + 1]).
extern "C" __global__ void group_scores(DATA, const double *weights, int objective, double scale,
                                        const int *place, const int *first, int groups, double *scores) {
    UNPACK
    int lane = threadIdx.x % LANES, warps = blockDim.x / LANES, size = shape.stages * shape.width;
    for (int g = blockIdx.x * warps + threadIdx.x / LANES; g < groups; g += gridDim.x * warps) {
        for (int i = first[g]; i < first[g + 1]; i++) {
            int p = place[i];
            Terms t = look(at, shape, weights, objective, scale, p, lane);
            for (int stage = 0; stage < shape.stages; stage++) {
                double share = share_of(shape, at.phase[p], stage);
                double *line = scores + (whole)g * size + stage * shape.width;
                // a position names a column once, so no two lanes write to one place
                for (whole k = at.row[p] - at.base + lane; k < at.row[p + 1] - at.base; k += LANES)
                    line[at.index[k]] += share * t.residual * at.count[k];
                if (lane == 0) {
                    line[shape.last] += share * t.residual;
                    if (shape.width > shape.last + 1) line[shape.last + 1] += share * t.drawn;
                }
            }
            __syncwarp();
        }
    }
}
