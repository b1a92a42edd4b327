/* What both engines evaluate with: the numbers stand in the file that includes this one. */
#include <stdio.h>
#include <string.h>
#include <stdlib.h>

static int evaluate(const char *fen) {
    const char *letters = "PNBRQKpnbrqk";
    int count[12] = {0}, square = 0, mg = 0, eg = 0, phase = 0, pawns, color, k;
    const char *at = fen;
    for (; *at && *at != ' '; at++) {
        const char *found = strchr(letters, *at);
        if (*at >= '1' && *at <= '8') square += *at - '0';
        if (!found) continue;
        k = (int)(found - letters);
        count[k]++;
        if (k % 6 == 0 && k < 6) mg += PAWN_SQUARE(square ^ 56), eg += PAWN_SQUARE(square ^ 56);
        if (k % 6 == 0 && k >= 6) mg -= PAWN_SQUARE(square), eg -= PAWN_SQUARE(square);
        square++;
    }
    for (color = 0; color < 2; color++) {
        int *own = count + 6 * color, *other = count + 6 - 6 * color, sign = color ? -1 : 1;
        int units = own[1] * KNIGHT_UNITS + own[4] * 2;
        for (k = 0; k < 5; k++) {
            mg += sign * own[k] * MG(PIECE(k));
            eg += sign * own[k] * EG(PIECE(k));
        }
        if (own[2] > 1) mg += sign * BISHOP_PAIR, eg += sign * BISHOP_PAIR;
        if (own[0] < FEW_PAWNS) eg -= sign * NO_PAWNS;
        if (EXTRA > 0) mg += sign * EXTRA * other[3];
        mg += sign * ATTACKED(units > 15 ? 15 : units < 0 ? 0 : units);
        phase += own[1] + own[2] + 2 * own[3] + 4 * own[4];
    }
    pawns = strstr(fen, " w ") ? TEMPO : -TEMPO;
    if (phase > MOST_PHASE) phase = MOST_PHASE;
    return (mg * phase + eg * (MOST_PHASE - phase)) / MOST_PHASE + pawns;
}

int main(int n, char **words) {
    char line[1024];
    if (n < 2 || strcmp(words[1], "evals")) return 3;
    while (fgets(line, sizeof line, stdin)) printf("%d\n", evaluate(line));
    return 0;
}
