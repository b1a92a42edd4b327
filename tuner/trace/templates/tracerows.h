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
 * C99 or later, C++11 or later. Without TRACE the macros are no code; wrong names do not compile, with TRACE and without.
 * In C, one source defines ROWS_IMPLEMENTATION before it includes this file.
 *
 *   ROW_BEGIN()                      before an evaluation
 *   ROW(name, index, us)             beside every use of a parameter: counts 1 for White, -1 for Black
 *   ROWN(name, index, us, n)         counts n times
 *   ROW2(name, row, column, us)      a table; row 0 is nearest to the owner. ROW(name, 8 * row + column, us) is the same
 *   ROW2N(name, row, column, us, n)
 *   ROW_REST(cp)                     adds centipawns of White's view that are not tuned
 *   ROW_SCALE(f)                     the factor of the last stage, if it is not 1
 *   ROW_END(fen, eval, phase)        prints the row: `eval` of White's view, `phase` in steps of the first stage
 *   rows_serve(one)                  calls one(fen) for each line of standard input (only with TRACE)
 *
 * `us` is 0 for White and 1 for Black; write `us != WHITE` if your colours differ. The index of a single number is 0.
 */
#ifndef TRACEROWS_H
#define TRACEROWS_H

enum {
@ENUM@
    ROWS_PARAMETERS, ROWS_COLUMNS = @COLUMNS@
};

#ifndef TRACE

#define ROW(name, index, us) ((void)sizeof((int)(index) + (int)(us) + (int)ROWS_##name))
#define ROWN(name, index, us, n) ((void)sizeof((int)(index) + (int)(us) + (int)(n) + (int)ROWS_##name))
#define ROW2(name, row, column, us) ((void)sizeof((int)(row) + (int)(column) + (int)(us) + (int)ROWS_##name))
#define ROW2N(name, row, column, us, n) ((void)sizeof((int)(row) + (int)(column) + (int)(us) + (int)(n) + (int)ROWS_##name))
#define ROW_BEGIN() ((void)0)
#define ROW_REST(cp) ((void)sizeof((int)(cp)))
#define ROW_SCALE(f) ((void)sizeof((int)(f)))
#define ROW_END(fen, eval, phase) ((void)sizeof(*(fen) + (int)(eval) + (int)(phase)))

#else

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROW(name, index, us) rows_add(ROWS_##name, -1, (int)(index), (int)(us), 1.0, __FILE__, __LINE__)
#define ROWN(name, index, us, n) rows_add(ROWS_##name, -1, (int)(index), (int)(us), (double)(n), __FILE__, __LINE__)
#define ROW2(name, row, column, us) rows_add(ROWS_##name, (int)(row), (int)(column), (int)(us), 1.0, __FILE__, __LINE__)
#define ROW2N(name, row, column, us, n) \
    rows_add(ROWS_##name, (int)(row), (int)(column), (int)(us), (double)(n), __FILE__, __LINE__)
#define ROW_BEGIN() rows_begin()
#define ROW_REST(cp) ((void)(rows_here()->rest += (double)(cp)))
#define ROW_SCALE(f) ((void)(rows_here()->scale = (double)(f)))
#define ROW_END(fen, eval, phase) rows_end((fen), (double)(eval), (int)(phase))

struct rows_buffer { double count[ROWS_COLUMNS], rest, scale; long rows; };
struct rows_parameter { const char *name; int first, rows, columns; }; /* 0 rows: a list; 0 columns: one number */

#if defined(__cplusplus)
#define ROWS_API inline
#define ROWS_OWN thread_local
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L && !defined(__STDC_NO_THREADS__)
#define ROWS_API
#define ROWS_OWN _Thread_local
#else
#define ROWS_API
#define ROWS_OWN
#endif

ROWS_API struct rows_buffer *rows_here(void);
ROWS_API void rows_begin(void);
ROWS_API void rows_add(int parameter, int row, int index, int us, double n, const char *file, int line);
ROWS_API void rows_end(const char *fen, double eval, int phase);
ROWS_API int rows_serve(void (*one)(const char *fen));

#if defined(__cplusplus) || defined(ROWS_IMPLEMENTATION)

ROWS_API const struct rows_parameter *rows_parameters(void) {
    static const struct rows_parameter all[] = {
@TABLE@
    };
    return all;
}

ROWS_API struct rows_buffer *rows_here(void) {
    static ROWS_OWN struct rows_buffer here;
    return &here;
}

ROWS_API void rows_begin(void) {
    struct rows_buffer *b = rows_here();
    memset(b->count, 0, sizeof b->count);
    b->rest = 0.0;
    b->scale = 1.0;
}

ROWS_API void rows_add(int parameter, int row, int index, int us, double n, const char *file, int line) {
    const struct rows_parameter *p = rows_parameters() + parameter;
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
    rows_here()->count[p->first + at] += us ? -n : n;
}

ROWS_API void rows_text(const char *text) {
    const char *c;
    putchar('"');
    for (c = text; *c; c++) {
        if ((unsigned char)*c < ' ') printf("\\u%04x", (unsigned char)*c);
        else printf(*c == '"' || *c == '\\' ? "\\%c" : "%c", *c);
    }
    putchar('"');
}

ROWS_API void rows_end(const char *fen, double eval, int phase) {
    struct rows_buffer *b = rows_here();
    const char *comma = "";
    int k, i;
    printf("{\"fen\":");
    rows_text(fen);
    printf(",\"eval\":%.9g,\"phase\":%d", eval, phase);
    if (b->rest != 0.0) printf(",\"rest\":%.9g", b->rest);
    if (b->scale != 1.0) printf(",\"scale\":%.9g", b->scale);
    printf(",\"counts\":{");
    for (k = 0; k < ROWS_PARAMETERS; k++) {
        const struct rows_parameter *p = rows_parameters() + k;
        int width = p->columns ? p->columns : 1, size = (p->rows ? p->rows : 1) * width;
        for (i = 0; i < size; i++) {
            if (b->count[p->first + i] == 0.0) continue;
            printf("%s\"%s", comma, p->name);
            if (p->rows) printf("[%d]", i / width);
            if (p->columns) printf("[%d]", i % width);
            printf("\":%.9g", b->count[p->first + i]);
            comma = ",";
        }
    }
    puts("}}");
    b->rows++;
}

/* The answer to a line is complete when it has been printed: one row, or an object with "error" if `one` printed none. */
ROWS_API int rows_serve(void (*one)(const char *fen)) {
    char line[4096];
    while (fgets(line, sizeof line, stdin)) {
        long before = rows_here()->rows;
        if (!strchr(line, '\n') && !feof(stdin)) {
            fprintf(stderr, "tracerows: a line of standard input is longer than %d characters\n", (int)sizeof line - 2);
            return 1;
        }
        line[strcspn(line, "\r\n")] = '\0';
        if (!*line) continue;
        one(line);
        if (rows_here()->rows == before) {
            printf("{\"fen\":");
            rows_text(line);
            puts(",\"error\":\"no row for this position\"}");
        }
        fflush(stdout);
    }
    return 0;
}

#endif
#endif
#endif
