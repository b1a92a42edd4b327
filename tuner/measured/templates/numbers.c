#ifndef EVALTUNE_READ
#define EVALTUNE_READ
#define const
#include <stdio.h>
#include <stdlib.h>
#pragma GCC diagnostic ignored "-Wunused-function"

static double evaltune_value(int k, double v) {
    static double *table; static int size = -1;
    if (size < 0) {
        const char *name = getenv("EVALTUNE_VALUES");
        FILE *in = name ? fopen(name, "r") : 0;
        int place, n = COUNT; double value;
        double *found = (double *)malloc(sizeof(double) * 2 * (n + 1));
        for (place = 0; place < n; place++) found[2 * place] = 0;
        while (in && fscanf(in, "%d %lf", &place, &value) == 2)
            if (place >= 0 && place < n) { found[2 * place] = 1; found[2 * place + 1] = value; }
        if (in) fclose(in);
        table = found; size = n;
    }
    return k < size && table[2 * k] ? table[2 * k + 1] : v;
}

#define evaltune_n(k, v) ((__typeof__(v))evaltune_value((k), (v)))
#endif
