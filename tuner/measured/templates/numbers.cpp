#ifndef EVALTUNE_READ
#define EVALTUNE_READ
#include <cstdio>
#include <cstdlib>
#ifdef __clang__
#pragma clang diagnostic ignored "-Wc++11-narrowing"
#endif
#pragma GCC diagnostic ignored "-Wnarrowing"
namespace {
using std::FILE;

static double evaltune_value(int k, double v) {
    static double *table; static int size = -1;
    if (size < 0) {
        const char *name = std::getenv("EVALTUNE_VALUES");
        FILE *in = name ? fopen(name, "r") : 0;
        int place, n = COUNT; double value;
        double *found = (double *)std::malloc(sizeof(double) * 2 * (n + 1));
        for (place = 0; place < n; place++) found[2 * place] = 0;
        while (in && fscanf(in, "%d %lf", &place, &value) == 2)
            if (place >= 0 && place < n) { found[2 * place] = 1; found[2 * place + 1] = value; }
        if (in) fclose(in);
        table = found; size = n;
    }
    return k < size && table[2 * k] ? table[2 * k + 1] : v;
}

}
template <class T> static inline T evaltune_n(int k, T v) {
    return static_cast<T>(evaltune_value(k, static_cast<double>(v)));
}
#endif
