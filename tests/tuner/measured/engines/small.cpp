// the numbers of a small engine in C++
struct Score { int mg, eg; };
constexpr Score make(int mg, int eg) { return Score{mg, eg}; }
#define MG(s) ((s).mg)
#define EG(s) ((s).eg)
namespace numbers {
constexpr int Half = 41;
constexpr int Pawn = 2 * Half;
constexpr Score PieceValue[] = {
    make(82, 110), make(330, 290), make(345, 300), make(480, 530), make(1000, 960)
};
constexpr short PawnSquare[64] = {
    0, 0, 0, 0, 0, 0, 0, 0,
    3, 6, -4, -20, -18, 12, 9, -5,
    2, 4, 8, 10, 11, 5, 1, -3,
    0, 5, 9, 24, 26, 7, 2, -1,
    5, 9, 12, 28, 30, 14, 8, 4,
    12, 20, 30, 36, 38, 33, 22, 10,
    60, 65, 70, 80, 82, 75, 66, 58,
    0, 0, 0, 0, 0, 0, 0, 0
};
constexpr int Size = 16;
int copies[Size];
struct Attacks {
    static constexpr int Table[16] = { 0, 2, 5, 9, 14, 20, 27, 35, 44, 54, 65, 77, 90, 104, 119, 135 };
};
const int BishopPair = 31;
const int NoPawns = 19;
const int KnightUnits = 1;
constexpr int FewPawns = 3;
const int Extra = 0;
const int MostPhase = 24;
constexpr int Tempo = 12;
const int Unused = 17;
inline int choose(int k) {
    switch (k) { case Unused: return 1; default: return 0; }
}
}
using namespace numbers;
#define PAWN_SQUARE(square) PawnSquare[square]
#define PIECE(k) PieceValue[k]
#define KNIGHT_UNITS KnightUnits
#define FEW_PAWNS FewPawns
#define NO_PAWNS NoPawns
#define EXTRA Extra
#define ATTACKED(units) Attacks::Table[units]
#define TEMPO Tempo
#define MOST_PHASE MostPhase
#define BISHOP_PAIR BishopPair
#include "body.h"
