// A small evaluation of chess: `mini eval` and `mini trace` read a FEN from each line of standard input and answer with a line,
// the evaluation or a row. PERSPECTIVE, SWAPPED, DOUBLED and MISSING make the mistakes that people make.
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include "eval.h"
#include "tracerows.h"

namespace {

enum Color { WHITE, BLACK };
constexpr int PHASE[6] = {0, 1, 1, 2, 4, 0};
constexpr int ALL_PHASES = 24;
constexpr int DOUBLED_PAWN = -9;  // not tuned

struct Position {
    int piece[64];  // -1 if empty, else 8 * color + piece
    Color side;
    int at(int file, int rank) const { return file < 0 || file > 7 || rank < 0 || rank > 7 ? -2 : piece[8 * rank + file]; }
};

bool read(const char *fen, Position &p) {
    const char *names = "pnbrqk";
    for (int &square : p.piece) square = -1;
    int file = 0, rank = 7;
    for (; *fen && *fen != ' '; fen++) {
        if (*fen == '/') { rank--; file = 0; continue; }
        if (isdigit((unsigned char)*fen)) { file += *fen - '0'; continue; }
        const char *found = strchr(names, tolower((unsigned char)*fen));
        if (!found || file > 7 || rank < 0) return false;
        p.piece[8 * rank + file++] = (isupper((unsigned char)*fen) ? 0 : 8) + int(found - names);
    }
    if (rank != 0 || *fen++ != ' ' || (*fen != 'w' && *fen != 'b')) return false;
    p.side = *fen == 'w' ? WHITE : BLACK;
    return true;
}

// squares that a piece reaches, its own pieces' excluded
int mobility(const Position &p, int square, int piece, Color us) {
    static const int steps[8][2] = {{1, 0}, {-1, 0}, {0, 1}, {0, -1}, {1, 1}, {1, -1}, {-1, 1}, {-1, -1}};
    static const int jumps[8][2] = {{1, 2}, {2, 1}, {-1, 2}, {-2, 1}, {1, -2}, {2, -1}, {-1, -2}, {-2, -1}};
    int count = 0, first = piece == BISHOP ? 4 : 0, last = piece == ROOK ? 4 : 8;
    for (int d = first; d < last; d++) {
        const int *step = piece == KNIGHT ? jumps[d] : steps[d];
        for (int f = square % 8 + step[0], r = square / 8 + step[1];; f += step[0], r += step[1]) {
            int found = p.at(f, r);
            if (found == -2 || (found >= 0 && found / 8 == us)) break;
            count++;
            if (found >= 0 || piece == KNIGHT) break;
        }
    }
    return count;
}

// whether a pawn of `owner` is ahead on this file, or on files up to `width` beside it
bool pawn_ahead(const Position &p, int square, Color us, int owner, int width) {
    int step = us == WHITE ? 1 : -1;
    for (int r = square / 8 + step; r >= 0 && r < 8; r += step)
        for (int f = square % 8 - width; f <= square % 8 + width; f++)
            if (p.at(f, r) == 8 * owner + PAWN) return true;
    return false;
}

struct Sum {
    int mg = 0, eg = 0;
    void add(Score s, Color us) { mg += us == WHITE ? s.mg : -s.mg; eg += us == WHITE ? s.eg : -s.eg; }
};

int evaluate(const Position &p, int &phase) {
    Sum sum;
    int rest = 0, bishops[2] = {0, 0}, bishop_colours = 0, others = 0;
    phase = 0;
    for (int square = 0; square < 64; square++) {
        if (p.piece[square] < 0) continue;
        Color us = Color(p.piece[square] / 8);
        int piece = p.piece[square] % 8, own = us == WHITE ? square : square ^ 56, moves = 0;
        phase += PHASE[piece];
        sum.add(PieceValue[piece], us);
        sum.add(S(PsqtMg[piece][own ^ 56], PsqtEg[piece][own ^ 56]), us);
        if (piece >= KNIGHT && piece <= QUEEN) moves = mobility(p, square, piece, us);
        switch (piece) {
        case PAWN:
            EVALTUNE_ROW(material_pawn, 0, us);
            EVALTUNE_ROW(piece_square_pawn, own, us);
            if (!pawn_ahead(p, square, us, !us, 1)) {
                sum.add(passed_pawns[own / 8], us);
#ifndef MISSING
                EVALTUNE_ROW(pawns_passed, own / 8, us);
#endif
            }
            if (pawn_ahead(p, square, us, us, 0)) rest += us == WHITE ? DOUBLED_PAWN : -DOUBLED_PAWN;
            break;
        case KNIGHT: {
            Score s = KnightMobility[moves];
#ifdef SWAPPED
            s = S(s.eg, s.mg);
#endif
            sum.add(s, us);
            EVALTUNE_ROW(material_knight, 0, us);
            EVALTUNE_ROW(piece_square_knight, own, us);
            EVALTUNE_ROW(mobility_knight, moves, us);
            break;
        }
        case BISHOP:
            bishops[us]++;
            bishop_colours ^= 1 << ((square ^ square / 8) & 1);
            sum.add(BishopMobility[moves], us);
            EVALTUNE_ROW(material_bishop, 0, us);
            EVALTUNE_ROW(piece_square_bishop, own, us);
            EVALTUNE_ROW(mobility_bishop, moves, us);
            break;
        case ROOK:
            sum.add(RookMobility[moves], us);
            EVALTUNE_ROW(material_rook, 0, us);
            EVALTUNE_ROW2(piece_square_rook, own / 8, own % 8, us);
            EVALTUNE_ROW(mobility_rook, moves, us);
            break;
        case QUEEN:
            sum.add(QueenMobility[moves], us);
            EVALTUNE_ROW(material_queen, 0, us);
            EVALTUNE_ROW(piece_square_queen, own, us);
            EVALTUNE_ROW(mobility_queen, moves, us);
            break;
        default:
            EVALTUNE_ROW(piece_square_king, own, us);
        }
        others += piece != PAWN && piece != BISHOP && piece != KING;
    }
    for (Color us : {WHITE, BLACK})
        if (bishops[us] >= 2) {
            sum.add(BishopPair, us);
            EVALTUNE_ROW(bishop_pair, 0, us);
#ifdef DOUBLED
            EVALTUNE_ROW(bishop_pair, 0, us);
#endif
        }
    sum.add(TEMPO, p.side);
    EVALTUNE_ROW(tempo_tempo, 0, p.side);
    EVALTUNE_REST(rest);
    // bishops of opposite colours alone: half the endgame
    int scale = !others && bishops[WHITE] == 1 && bishops[BLACK] == 1 && bishop_colours == 3 ? 32 : 64;
    EVALTUNE_SCALE(scale / 64.0);
    if (phase > ALL_PHASES) phase = ALL_PHASES;
    return (sum.mg * phase * 64 + sum.eg * (ALL_PHASES - phase) * scale) / (ALL_PHASES * 64) + rest;
}

#ifdef EVALTUNE_TRACE
void trace_one(const char *fen) {
    Position p;
    if (!read(fen, p)) return;
    int phase;
    EVALTUNE_BEGIN();
    int eval = evaluate(p, phase);
#ifdef PERSPECTIVE
    if (p.side == BLACK) eval = -eval;
#endif
    EVALTUNE_END(fen, eval, phase);
}
#endif

}  // namespace

int main(int count, char **words) {
#ifdef EVALTUNE_TRACE
    if (count > 1 && !strcmp(words[1], "trace")) return evaltune_serve(trace_one);
#endif
    if (count < 2 || strcmp(words[1], "eval")) return fprintf(stderr, "usage: mini eval|trace\n"), 2;
    char line[256];
    while (fgets(line, sizeof line, stdin)) {
        Position p;
        int phase;
        if (read(line, p)) printf("%d\n", evaluate(p, phase));
        else puts("bad FEN");
    }
    return 0;
}
