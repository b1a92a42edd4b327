// the numbers of a small engine in C
#define S(mg, eg) ((int)((unsigned)(eg) << 16) + (mg))
#define MG(s) ((int)(short)((unsigned)(s) & 0xffff))
#define EG(s) ((int)(short)(((unsigned)(s) + 0x8000) >> 16))

const int PieceValue[5] = {
    S(82, 110), S(330, 290), S(345, 300),
    S(480, 530), S(1000, 960)
};
static const int PawnSquare[64] = {
    0, 0, 0, 0, 0, 0, 0, 0,
    3, 6, -4, -20, -18, 12, 9, -5,
    2, 4, 8, 10, 11, 5, 1, -3,
    0, 5, 9, 24, 26, 7, 2, -1,
    5, 9, 12, 28, 30, 14, 8, 4,
    12, 20, 30, 36, 38, 33, 22, 10,
    60, 65, 70, 80, 82, 75, 66, 58,
    0, 0, 0, 0, 0, 0, 0, 0
};
const int AttackTable[] = { 0, 2, 5, 9, 14, 20, 27, 35, 44, 54, 65, 77, 90, 104, 119, 135 };
#define BISHOP_PAIR 31
enum { NO_PAWNS_MG = 7, NO_PAWNS_EG = 19 };
const int KnightUnits = 1;
const int FewPawns = 3;
const int Extra = 0;
const int MostPhase = 24;
static const int Tempo = 12;
const int Unused = 17;

#define PAWN_SQUARE(square) PawnSquare[square]
#define PIECE(k) PieceValue[k]
#define KNIGHT_UNITS KnightUnits
#define FEW_PAWNS FewPawns
#define NO_PAWNS NO_PAWNS_EG
#define EXTRA Extra
#define ATTACKED(units) AttackTable[units]
#define TEMPO Tempo
#define MOST_PHASE MostPhase
#include "body.h"
