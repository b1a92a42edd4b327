// Passes over positions one by one: evaluations, loss, gradient, dense rows.

// Copy the rows of a chunk, raw_row[p] - base to raw_row[p + 1] - base, to their sorted place, padded to eights. The padding
// has counts of zero and many different columns: atomic additions of zero to a single column would be slow.
extern "C" __global__ void arrange(const column_t *raw_index, const count_t *raw_count, const whole *raw_row, whole base,
                                   const int *origin, int n, int columns, const int *row, column_t *index, count_t *count) {
    int lane = threadIdx.x % LANES, warps = blockDim.x / LANES;
    for (int p = blockIdx.x * warps + threadIdx.x / LANES; p < n; p += gridDim.x * warps) {
        whole from = raw_row[origin[p]] - base, here = (whole)row[p] * 8, room = (whole)row[p + 1] * 8 - here;
        whole length = raw_row[origin[p] + 1] - base - from;
        for (whole k = lane; k < room; k += LANES) {
            index[here + k] = k < length ? raw_index[from + k] : (here + k) % columns;
            count[here + k] = k < length ? raw_count[from + k] : 0;
        }
    }
}

// The largest sum of |count| of a column over the positions of one tile; tiles as in `loss_gradient`.
extern "C" __global__ void largest_sum(ROWS, const int *order, const int *tiles, int number, int columns, int *largest) {
    extern __shared__ whole totals[];
    int *sums = (int *)totals, most = 0, part = threadIdx.x % PARTS;
    for (int c = threadIdx.x; c < columns; c += blockDim.x) sums[c] = 0;
    __syncthreads();
    for (int t = blockIdx.x; t < number; t += gridDim.x) {
        for (int i = tiles[3 * t] + threadIdx.x / PARTS; i < tiles[3 * t + 1]; i += blockDim.x / PARTS)
            for (int k = row[order[i]] + part; k < row[order[i] + 1]; k += PARTS) {
                Eight some = eight(index, count, k);
                for (int m = 0; m < 8; m++) atomicAdd(sums + column_of(some, m), abs(count_of(some, m)));
            }
        __syncthreads();
        for (int c = threadIdx.x; c < columns; c += blockDim.x) {
            most = max(most, sums[c]);
            sums[c] = 0;
        }
        __syncthreads();
    }
    atomicMax(largest, most);
}

// Loss, and gradient (phases + 1, width) of each phase, of the positions in `order`. A tile (begin, end, phase) has at most
// THREADS of them, of one phase; a warp takes 32 positions, four lanes each. `table` (phases + 1, columns) has the weights as
// multiples of `step`, `constants` (phases + 1, 2) the intercept and the width of a draw. `rest` is the part of an evaluation that is not tuned. A residual is a multiple of
// 1 / unit, chosen so that a tile's sums fit into 32 bits.
extern "C" __global__ void __launch_bounds__(THREADS, 4)
loss_gradient(ROWS, const float *outcome, const float *weight, const float *rest, const int *order, const int *tiles, int number, const int *table,
              double step, const double *constants, int columns, int width, int objective, double scale, double unit,
              double drawn_unit, double loss_unit, whole *gradient, whole *loss) {
    extern __shared__ whole totals[];
    int *weights = (int *)(totals + columns), *sums = weights + columns;
    int lane = threadIdx.x % LANES, part = lane % PARTS, group = lane - part;
    // The position of a tile whose result this lane has. Those of one warp are far apart: neighbouring positions, which are
    // of one game, share many columns, and a GPU serialises atomic additions to one address.
    int mine = lane / PARTS * (THREADS * PARTS / LANES) + threadIdx.x / LANES * PARTS + part;
    int begin = (whole)blockIdx.x * number / gridDim.x, end = (whole)(blockIdx.x + 1) * number / gridDim.x;
    whole residuals = 0, widths = 0, losses = 0;
    for (int t = begin; t < end; t++) {
        int place = tiles[3 * t] + mine, phase = tiles[3 * t + 2];
        bool there = place < tiles[3 * t + 1];
        if (t == begin || phase != tiles[3 * t - 1]) {
            for (int c = threadIdx.x; c < columns; c += blockDim.x) {
                weights[c] = table[(whole)phase * columns + c];
                totals[c] = sums[c] = 0;
            }
            __syncthreads();
        }
        int p = there ? order[place] : 0, low = there ? row[p] : 0, high = there ? row[p + 1] : 0;
        float result = there ? outcome[p] : 0.0f, mass = there ? weight[p] : 0.0f, fixed = there ? rest[p] : 0.0f;
        int from[PARTS], to[PARTS];
        Eight begins[PARTS];  // loads in flight together
#pragma unroll
        for (int s = 0; s < PARTS; s++) {
            from[s] = __shfl_sync(EVERYONE, low, group + s) + part, to[s] = __shfl_sync(EVERYONE, high, group + s);
            begins[s] = eight(index, count, from[s] < to[s] ? from[s] : 0);
        }
        whole evaluation = 0;
#pragma unroll
        for (int s = 0; s < PARTS; s++) {
            whole sum = from[s] < to[s] ? dot(weights, begins[s]) : 0;
            for (int k = from[s] + PARTS; k < to[s]; k += PARTS) sum += dot(weights, eight(index, count, k));
            for (int other = 1; other < PARTS; other *= 2) sum += __shfl_xor_sync(EVERYONE, sum, other);
            if (part == s) evaluation = sum;
        }
        int residual = 0;
        if (there) {
            Terms found = terms_of(objective, scale, evaluation * step + constants[2 * phase] + fixed, constants[2 * phase + 1],
                                   result, mass);
            residual = __double2int_rn(found.residual * unit);
            residuals += residual;
            widths += __double2ll_rn(found.drawn * drawn_unit);
            losses += __double2ll_rn(found.loss * loss_unit);
        }
        for (int s = 0; s < PARTS; s++) {
            int start = __shfl_sync(EVERYONE, low, group + s) + part, stop = __shfl_sync(EVERYONE, high, group + s);
            int error = __shfl_sync(EVERYONE, residual, group + s);
            for (int k = start; k < stop; k += PARTS) {
                Eight some = eight(index, count, k);
#pragma unroll
                for (int m = 0; m < 8; m++) atomicAdd(sums + column_of(some, m), error * count_of(some, m));
            }
        }
        __syncthreads();
        bool leaving = t + 1 == end || tiles[3 * t + 5] != phase;
        whole *line = gradient + (whole)phase * width;
        for (int c = threadIdx.x; c < columns; c += blockDim.x) {
            totals[c] += sums[c];
            sums[c] = 0;
            if (leaving) add(line + c, totals[c]);
        }
        if (leaving) {
            residuals = warp_sum(residuals), widths = warp_sum(widths);
            if (lane == 0) add(line + columns, residuals);
            if (lane == 0 && width > columns + 1) add(line + columns + 1, widths);
            residuals = widths = 0;
        }
        __syncthreads();
    }
    losses = warp_sum(losses);
    if (lane == 0) add(loss, losses);
}

// Add the integer sums of `loss_gradient` over one chunk to `gradient` (rows, width) and `loss`, and reset them.
extern "C" __global__ void fold(whole *sums, whole *total, int rows, int columns, int width, double unit, double drawn_unit,
                                double loss_unit, double *gradient, double *loss) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < rows * width; i += gridDim.x * blockDim.x) {
        gradient[i] += sums[i] / (i % width > columns ? drawn_unit : unit);
        sums[i] = 0;
    }
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        *loss += *total / loss_unit;
        *total = 0;
    }
}

// Evaluations (n,) of positions order[0..n), and widths of a draw, from weights (phases + 1, width): column `last` has the
// intercept, the next one the width.
extern "C" __global__ void evaluate(ROWS, const byte *phase, const float *rest, const int *order, int n, const double *table, int last, int width,
                                    double *evaluation, double *drawn) {
    int part = threadIdx.x % PARTS, groups = blockDim.x / PARTS;
    for (int base = blockIdx.x * groups; base < n; base += gridDim.x * groups) {
        int i = base + threadIdx.x / PARTS;
        int p = i < n ? order[i] : 0, high = i < n ? row[p + 1] : 0;
        const double *line = table + (whole)(i < n ? phase[p] : 0) * width;
        double sum = 0.0;
        for (int k = (i < n ? row[p] : 0) + part; k < high; k += PARTS) {
            Eight some = eight(index, count, k);
#pragma unroll
            for (int m = 0; m < 8; m++) sum += line[column_of(some, m)] * count_of(some, m);
        }
        for (int other = 1; other < PARTS; other *= 2) sum += __shfl_xor_sync(EVERYONE, sum, other);
        if (i < n && part == 0) {
            evaluation[i] = sum + line[last] + rest[p];
            if (width > last + 1) drawn[i] = line[last + 1];
        }
    }
}

// Derivatives of the objective for positions order[0..n) with these evaluations: terms (5, n), in the order of
// `tuner.fit.device.cpu.kernels.position_terms`.
extern "C" __global__ void objective_terms(const float *outcome, const float *weight, const int *order, int n, int objective,
                                           double scale, const double *evaluation, const double *drawn, double *terms) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        Terms t = terms_of(objective, scale, evaluation[i], drawn[i], outcome[order[i]], weight[order[i]]);
        terms[i] = t.residual;
        terms[(whole)n + i] = t.curvature;
        terms[2 * (whole)n + i] = t.drawn;
        terms[3 * (whole)n + i] = t.cross;
        terms[4 * (whole)n + i] = t.bend;
    }
}

// Write dense rows (n, stride) over zeros: factor * x of positions order[0..n), with the intercept in column `last` and
// `behind` in the next one, if there is one.
extern "C" __global__ void expand(ROWS, const int *order, int n, const double *factor, const double *behind, int last, int width,
                                  int stride, double *rows) {
    int lane = threadIdx.x % LANES, warps = blockDim.x / LANES;
    for (int i = blockIdx.x * warps + threadIdx.x / LANES; i < n; i += gridDim.x * warps) {
        int p = order[i];
        double *line = rows + (whole)i * stride;
        for (whole k = (whole)row[p] * 8 + lane; k < (whole)row[p + 1] * 8; k += LANES)
            if (count[k]) line[index[k]] = factor[i] * count[k];
        if (lane == 0) line[last] = factor[i];
        if (lane == 0 && width > last + 1) line[last + 1] = behind[i];
    }
}

// Add curvature * x (x' v) of positions order[0..n) to the integer sums (width, stages, k) for k vectors (width, stages, k), in
// units of 1 / unit. `terms` (5, n) are those of `objective_terms`, `shares` and `unscaled` (stages, codes) the shares of the
// stages in columns, and in intercept and width of a draw. A lane has the vectors lane, lane + LANES, ...
extern "C" __global__ void curvature_products(ROWS, const byte *phase, const int *order, int n, const double *terms, int last,
                                              int width, const double *shares, const double *unscaled, int codes, int stages,
                                              int k, const double *vectors, double unit, whole *sums) {
    int lane = threadIdx.x % LANES, warps = blockDim.x / LANES;
    for (int i = blockIdx.x * warps + threadIdx.x / LANES; i < n; i += gridDim.x * warps) {
        int p = order[i], code = phase[p];
        whole begin = (whole)row[p] * 8, end = (whole)row[p + 1] * 8;
        double curvature = terms[(whole)n + i], cross = terms[3 * (whole)n + i], bend = terms[4 * (whole)n + i];
        for (int j = lane; j < k; j += LANES) {
            double value = 0.0, drawn = 0.0;
            for (int s = 0; s < stages; s++) {
                double inside = 0.0, constant = unscaled[s * codes + code];
                for (whole q = begin; q < end; q++) inside += count[q] * vectors[((whole)index[q] * stages + s) * k + j];
                value += shares[s * codes + code] * inside + constant * vectors[((whole)last * stages + s) * k + j];
                if (width > last + 1) drawn += constant * vectors[((whole)(last + 1) * stages + s) * k + j];
            }
            double by_value = (curvature * value + cross * drawn) * unit, by_width = (cross * value + bend * drawn) * unit;
            for (int s = 0; s < stages; s++) {
                double part = shares[s * codes + code] * by_value, constant = unscaled[s * codes + code];
                for (whole q = begin; q < end; q++)
                    if (count[q]) add(sums + ((whole)index[q] * stages + s) * k + j, __double2ll_rn(part * count[q]));
                add(sums + ((whole)last * stages + s) * k + j, __double2ll_rn(constant * by_value));
                if (width > last + 1) add(sums + ((whole)(last + 1) * stages + s) * k + j, __double2ll_rn(constant * by_width));
            }
        }
    }
}
