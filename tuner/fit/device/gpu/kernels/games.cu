// Passes over whole games: scores of games, and the scan of TD(lambda).

// Add to gradients (groups, stages * width) the sums of residual * x, and of `drawn` in the last column, over the games
// first[g]..first[g + 1] of each group. Their positions t are low[game] to high[game] of the file, and place[t] of the chunk.
extern "C" __global__ void group_scores(ROWS, const byte *phase, const int *place, const int *low, const int *high,
                                        const int *first, int groups, const double *residual, const double *drawn, int last,
                                        int width, const double *shares, const double *unscaled, int codes, int stages,
                                        double *scores) {
    int lane = threadIdx.x % LANES, warps = blockDim.x / LANES;
    for (int g = blockIdx.x * warps + threadIdx.x / LANES; g < groups; g += gridDim.x * warps) {
        for (int game = first[g]; game < first[g + 1]; game++) {
            for (int t = low[game]; t < high[game]; t++) {
                int p = place[t];
                for (int stage = 0; stage < stages; stage++) {
                    double error = shares[stage * codes + phase[p]] * residual[p], whole_share = unscaled[stage * codes + phase[p]];
                    double *line = scores + ((whole)g * stages + stage) * width;
                    // a position has a column once, so no two lanes write to one address
                    for (whole k = (whole)row[p] * 8 + lane; k < (whole)row[p + 1] * 8; k += LANES)
                        if (count[k]) line[index[k]] += error * count[k];
                    if (lane == 0) line[last] += whole_share * residual[p];
                    if (lane == 0 && width > last + 1) line[last + 1] += whole_share * drawn[p];
                }
                __syncwarp();
            }
        }
    }
}

// Errors c_t = v_{t+1} - v_t + decay_t c_{t+1} of the positions of games low[g] to high[g], one thread a game; the outcome
// follows the last value. Arrays are in the order of the file.
extern "C" __global__ void scan(const int *low, const int *high, int games, const double *values, const double *outcome,
                                const double *decay, double *c) {
    for (int g = blockIdx.x * blockDim.x + threadIdx.x; g < games; g += gridDim.x * blockDim.x) {
        if (low[g] == high[g]) continue;
        double later = 0.0, following = outcome[high[g] - 1];
        for (int t = high[g] - 1; t >= low[g]; t--) {
            later = following - values[t] + decay[t] * later;
            c[t] = later;
            following = values[t];
        }
    }
}

// Traces y_t = j_t - j_{t+1} + decay_t y_{t+1} of rows j (n, size) of whole games low[g] to high[g], one block a game.
extern "C" __global__ void traces(const int *low, const int *high, int games, const double *decay, int size, const double *j,
                                  double *y) {
    for (int g = blockIdx.x; g < games; g += gridDim.x) {
        for (int column = threadIdx.x; column < size; column += blockDim.x) {
            double later = 0.0, following = 0.0;
            for (whole t = high[g] - 1; t >= low[g]; t--) {
                double here = j[t * size + column];
                later = here - following + decay[t] * later;
                y[t * size + column] = later;
                following = here;
            }
        }
    }
}
