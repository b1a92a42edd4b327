/* tracerows.h: prints what an evaluation counts, as rows for `tuner`.
 * @HEADING@
 *
 * Copyright (C) the authors of evaltune. Permission to use, copy, modify, and/or distribute this file for any purpose with or
 * without fee is hereby granted. THE SOFTWARE IS PROVIDED "AS IS" AND THE AUTHOR DISCLAIMS ALL WARRANTIES WITH REGARD TO THIS
 * SOFTWARE INCLUDING ALL IMPLIED WARRANTIES OF MERCHANTABILITY AND FITNESS. IN NO EVENT SHALL THE AUTHOR BE LIABLE FOR ANY
 * SPECIAL, DIRECT, INDIRECT, OR CONSEQUENTIAL DAMAGES OR ANY DAMAGES WHATSOEVER RESULTING FROM LOSS OF USE, DATA OR PROFITS,
 * WHETHER IN AN ACTION OF CONTRACT, NEGLIGENCE OR OTHER TORTIOUS ACTION, ARISING OUT OF OR IN CONNECTION WITH THE USE OR
 * PERFORMANCE OF THIS SOFTWARE. (0BSD)
 *
 * Compile with -DEVALTUNE_TRACE, as C99 or C++11 or later, for a program that prints rows; without it, or with it as 0, the macros
 * are no code, and nothing is included. Wrong names do not compile, with it and without, nor does a list marked as a table.
 * In C, one source defines EVALTUNE_IMPLEMENTATION before it includes this file.
 *
 *   EVALTUNE_BEGIN()                      before an evaluation
 *   EVALTUNE_ROW(name, index, us)         beside every use of a parameter: counts 1 for White, -1 for Black
 *   EVALTUNE_ROWN(name, index, us, n)     counts n times
 *   EVALTUNE_ROW2(name, row, column, us)  a table; row 0 is nearest to the owner. The same: EVALTUNE_ROW(name, 8 * row + column, us)
 *   EVALTUNE_ROW2N(name, row, column, us, n)
 *   EVALTUNE_REST(cp)                     adds centipawns of White's view that are not tuned
 *   EVALTUNE_SCALE(f)                     the factor of the last stage, if it is not 1
 *   EVALTUNE_FACTOR(f)                    a factor on the whole evaluation, with its rest, if it is not 1
 *   EVALTUNE_END(fen, eval, phase)        prints the row: `eval` of White's view, `phase` in steps of the first stage, or as the
 *                                         parameter file gives each stage its phases; a bucket is a phase
 *   evaltune_serve(one)                   calls one(fen) for each line of standard input (only with EVALTUNE_TRACE)
 *
 * `us` is 0 for White and 1 for Black; write `us != WHITE` if your colours differ. The index of a single number is 0. What only
 * rows need belongs between `#ifdef EVALTUNE_TRACE` and `#endif`.
 */
#ifndef EVALTUNE_TRACEROWS_H
#define EVALTUNE_TRACEROWS_H

enum {
@ENUM@
    EVALTUNE_PARAMETERS, EVALTUNE_COLUMNS = @COLUMNS@
};

#if defined(EVALTUNE_TRACE) && EVALTUNE_TRACE + 0 == 0 && -EVALTUNE_TRACE - 1 != 1 /* it is 0, not empty */
#undef EVALTUNE_TRACE
#endif

#ifndef EVALTUNE_TRACE

#define EVALTUNE_ROW(name, index, us) ((void)(0 ? (int)(index) + (int)(us) + (int)EVALTUNE_P_##name : 0))
#define EVALTUNE_ROWN(name, index, us, n) ((void)(0 ? (int)(index) + (int)(us) + (int)(n) + (int)EVALTUNE_P_##name : 0))
#define EVALTUNE_ROW2(name, row, column, us) ((void)(0 ? (int)(row) + (int)(column) + (int)(us) + (int)EVALTUNE_T_##name : 0))
#define EVALTUNE_ROW2N(name, row, column, us, n) ((void)(0 ? (int)(row) + (int)(column) + (int)(us) + (int)(n) + (int)EVALTUNE_T_##name : 0))
#define EVALTUNE_BEGIN() ((void)0)
#define EVALTUNE_REST(cp) ((void)(0 ? (int)(cp) : 0))
#define EVALTUNE_SCALE(f) ((void)(0 ? (int)(f) : 0))
#define EVALTUNE_FACTOR(f) ((void)(0 ? (int)(f) : 0))
#define EVALTUNE_END(fen, eval, phase) ((void)(0 ? *(fen) + (int)(eval) + (int)(phase) : 0))

#else

#if defined(__cplusplus) ? __cplusplus < 201103L && !defined(_MSC_VER) : !defined(_MSC_VER) && __STDC_VERSION__ < 199901L
#error "tracerows.h: expected C99 or C++11 or later; compile with -std=c99 or -std=c++11"
#endif

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EVALTUNE_ROW(name, index, us) evaltune_add(EVALTUNE_P_##name, -1, (int)(index), (int)(us), 1.0, __FILE__, __LINE__)
#define EVALTUNE_ROWN(name, index, us, n) evaltune_add(EVALTUNE_P_##name, -1, (int)(index), (int)(us), (double)(n), __FILE__, __LINE__)
#define EVALTUNE_ROW2(name, row, column, us) evaltune_add(EVALTUNE_T_##name, (int)(row), (int)(column), (int)(us), 1.0, __FILE__, __LINE__)
#define EVALTUNE_ROW2N(name, row, column, us, n) \
    evaltune_add(EVALTUNE_T_##name, (int)(row), (int)(column), (int)(us), (double)(n), __FILE__, __LINE__)
#define EVALTUNE_BEGIN() evaltune_begin()
#define EVALTUNE_REST(cp) ((void)(evaltune_here()->rest += (double)(cp)))
#define EVALTUNE_SCALE(f) ((void)(evaltune_here()->scale = (double)(f)))
#define EVALTUNE_FACTOR(f) ((void)(evaltune_here()->factor = (double)(f)))
#define EVALTUNE_END(fen, eval, phase) evaltune_end((fen), (double)(eval), (int)(phase))

struct evaltune_buffer { double count[EVALTUNE_COLUMNS], rest, scale, factor; long rows; };
struct evaltune_parameter { const char *name; int first, rows, columns; }; /* 0 rows: a list; 0 columns: one number */

#if defined(__cplusplus)
#define EVALTUNE_API inline
#define EVALTUNE_OWN thread_local
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L && !defined(__STDC_NO_THREADS__)
#define EVALTUNE_API
#define EVALTUNE_OWN _Thread_local
#else
#define EVALTUNE_API
#define EVALTUNE_OWN
#endif

EVALTUNE_API const struct evaltune_parameter *evaltune_parameters(void);
EVALTUNE_API struct evaltune_buffer *evaltune_here(void);
EVALTUNE_API void evaltune_begin(void);
EVALTUNE_API void evaltune_add(int parameter, int row, int index, int us, double n, const char *file, int line);
EVALTUNE_API void evaltune_text(const char *text);
EVALTUNE_API void evaltune_number(const char *before, double value);
EVALTUNE_API void evaltune_end(const char *fen, double eval, int phase);
EVALTUNE_API int evaltune_serve(void (*one)(const char *fen));

#endif /* EVALTUNE_TRACE */
#endif /* EVALTUNE_TRACEROWS_H */

#if defined(EVALTUNE_TRACE) && (defined(__cplusplus) || defined(EVALTUNE_IMPLEMENTATION)) && !defined(EVALTUNE_IMPLEMENTED)
#define EVALTUNE_IMPLEMENTED

EVALTUNE_API const struct evaltune_parameter *evaltune_parameters(void) {
    static const struct evaltune_parameter all[] = {
@TABLE@
    };
    return all;
}

EVALTUNE_API struct evaltune_buffer *evaltune_here(void) {
    static EVALTUNE_OWN struct evaltune_buffer here;
    return &here;
}

EVALTUNE_API void evaltune_begin(void) {
    struct evaltune_buffer *b = evaltune_here();
    memset(b->count, 0, sizeof b->count);
    b->rest = 0.0;
    b->scale = b->factor = 1.0;
}

EVALTUNE_API void evaltune_add(int parameter, int row, int index, int us, double n, const char *file, int line) {
    const struct evaltune_parameter *p = evaltune_parameters() + parameter;
    int width = p->columns ? p->columns : 1, size = (p->rows ? p->rows : 1) * width;
    int at = row < 0 ? index : row * width + index;
    if (index < 0 || at >= size || (row >= 0 && (row >= p->rows || index >= width))) {
        fprintf(stderr, "%s:%d: tracerows: index ", file, line);
        if (row >= 0) fprintf(stderr, "%d, ", row);
        fprintf(stderr, "%d of %s, which has ", index, p->name);
        if (p->rows) fprintf(stderr, "%d x ", p->rows);
        fprintf(stderr, "%d\n", width);
        abort();
    }
    evaltune_here()->count[p->first + at] += us ? -n : n;
}

EVALTUNE_API void evaltune_text(const char *text) {
    const char *c;
    putchar('"');
    for (c = text; *c; c++) {
        if ((unsigned char)*c < ' ') printf("\\u%04x", (unsigned char)*c);
        else printf(*c == '"' || *c == '\\' ? "\\%c" : "%c", *c);
    }
    putchar('"');
}

/* Prints a text and a number, with a point whatever the locale has in its place. */
EVALTUNE_API void evaltune_number(const char *before, double value) {
    char text[64], *from, *to = text;
    snprintf(text, sizeof text, "%.9g", value);
    for (from = text; *from; from++) {
        if (strchr("0123456789+-e", *from)) *to++ = *from;
        else if (to == text || to[-1] != '.') *to++ = '.';
    }
    *to = '\0';
    printf("%s%s", before, text);
}

EVALTUNE_API void evaltune_end(const char *fen, double eval, int phase) {
    struct evaltune_buffer *b = evaltune_here();
    const char *comma = "";
    int k, i;
    printf("{\"fen\":");
    evaltune_text(fen);
    evaltune_number(",\"eval\":", eval);
    printf(",\"phase\":%d", phase);
    if (b->rest != 0.0) evaltune_number(",\"rest\":", b->rest);
    if (b->scale != 1.0) evaltune_number(",\"scale\":", b->scale);
    if (b->factor != 1.0) evaltune_number(",\"factor\":", b->factor);
    printf(",\"counts\":{");
    for (k = 0; k < EVALTUNE_PARAMETERS; k++) {
        const struct evaltune_parameter *p = evaltune_parameters() + k;
        int width = p->columns ? p->columns : 1, size = (p->rows ? p->rows : 1) * width;
        for (i = 0; i < size; i++) {
            if (b->count[p->first + i] == 0.0) continue;
            printf("%s\"%s", comma, p->name);
            if (p->rows) printf("[%d]", i / width);
            if (p->columns) printf("[%d]", i % width);
            evaltune_number("\":", b->count[p->first + i]);
            comma = ",";
        }
    }
    puts("}}");
    b->rows++;
}

/* The answer to a line is complete when it has been printed: one row, or an object with "error" if `one` printed none. */
EVALTUNE_API int evaltune_serve(void (*one)(const char *fen)) {
    char line[4096];
    while (fgets(line, sizeof line, stdin)) {
        long before = evaltune_here()->rows;
        if (!strchr(line, '\n') && !feof(stdin)) {
            fprintf(stderr, "tracerows: a line of standard input is longer than %d characters\n", (int)sizeof line - 2);
            return 1;
        }
        line[strcspn(line, "\r\n")] = '\0';
        if (!*line) continue;
        one(line);
        if (evaltune_here()->rows == before) {
            printf("{\"fen\":");
            evaltune_text(line);
            puts(",\"error\":\"no row for this position\"}");
        }
        fflush(stdout);
    }
    return 0;
}

#endif
