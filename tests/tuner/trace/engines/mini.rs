//! A small evaluation of chess: `mini eval` and `mini trace` read a FEN from each line of standard input and answer with a line,
//! the evaluation or a row. --cfg perspective, swapped, doubled and missing make the mistakes that people make.
mod eval;
mod tracerows;

use eval::*;
use tracerows::row;

const PAWN: usize = 0;
const KNIGHT: usize = 1;
const BISHOP: usize = 2;
const ROOK: usize = 3;
const QUEEN: usize = 4;
const KING: usize = 5;
const PHASE: [i32; 6] = [0, 1, 1, 2, 4, 0];
const ALL_PHASES: i32 = 24;
const DOUBLED_PAWN: i32 = -9; // not tuned

#[derive(Clone, Copy, PartialEq)]
enum Color {
    White,
    Black,
}
use Color::*;

impl Color {
    fn other(self) -> Color {
        if self == White { Black } else { White }
    }
    fn sign(self) -> i32 {
        if self == White { 1 } else { -1 }
    }
}

struct Position {
    piece: [Option<(Color, usize)>; 64],
    side: Color,
}

impl Position {
    fn read(fen: &str) -> Option<Position> {
        let mut words = fen.split_whitespace();
        let mut p = Position { piece: [None; 64], side: White };
        let (mut file, mut rank) = (0, 7);
        for c in words.next()?.chars() {
            if c == '/' {
                (file, rank) = (0, rank - 1);
            } else if let Some(empty) = c.to_digit(10) {
                file += empty as i32;
            } else {
                let piece = "pnbrqk".find(c.to_ascii_lowercase())?;
                if file > 7 || rank < 0 {
                    return None;
                }
                p.piece[(8 * rank + file) as usize] = Some((if c.is_uppercase() { White } else { Black }, piece));
                file += 1;
            }
        }
        p.side = match words.next()? {
            "w" => White,
            "b" => Black,
            _ => return None,
        };
        (rank == 0).then_some(p)
    }

    /// What is on a square; None beyond the edge of the board.
    fn at(&self, file: i32, rank: i32) -> Option<Option<(Color, usize)>> {
        ((0..8).contains(&file) && (0..8).contains(&rank)).then(|| self.piece[(8 * rank + file) as usize])
    }

    /// Squares that a piece reaches, its own pieces' excluded.
    fn mobility(&self, square: usize, piece: usize, us: Color) -> usize {
        const STEPS: [(i32, i32); 8] = [(1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (1, -1), (-1, 1), (-1, -1)];
        const JUMPS: [(i32, i32); 8] = [(1, 2), (2, 1), (-1, 2), (-2, 1), (1, -2), (2, -1), (-1, -2), (-2, -1)];
        let steps = match piece {
            KNIGHT => &JUMPS[..],
            BISHOP => &STEPS[4..],
            ROOK => &STEPS[..4],
            _ => &STEPS[..],
        };
        let mut count = 0;
        for (df, dr) in steps {
            let (mut f, mut r) = (square as i32 % 8 + df, square as i32 / 8 + dr);
            while let Some(found) = self.at(f, r) {
                if found.map_or(false, |(color, _)| color == us) {
                    break;
                }
                count += 1;
                if found.is_some() || piece == KNIGHT {
                    break;
                }
                (f, r) = (f + df, r + dr);
            }
        }
        count
    }

    /// Whether a pawn of `owner` is ahead on this file, or on files up to `width` beside it.
    fn pawn_ahead(&self, square: usize, us: Color, owner: Color, width: i32) -> bool {
        let (file, mut rank) = (square as i32 % 8, square as i32 / 8 + us.sign());
        while (0..8).contains(&rank) {
            if (file - width..=file + width).any(|f| self.at(f, rank) == Some(Some((owner, PAWN)))) {
                return true;
            }
            rank += us.sign();
        }
        false
    }
}

#[derive(Default)]
struct Sum {
    mg: i32,
    eg: i32,
}

impl Sum {
    fn add(&mut self, s: S, us: Color) {
        self.mg += s.0 * us.sign();
        self.eg += s.1 * us.sign();
    }
}

fn evaluate(p: &Position) -> (i32, i32) {
    let mut sum = Sum::default();
    let (mut rest, mut phase, mut others, mut bishops, mut bishop_colours) = (0, 0, 0, [0, 0], 0);
    for square in 0..64 {
        let (us, piece) = match p.piece[square] { Some(found) => found, None => continue };
        let own = if us == White { square } else { square ^ 56 };
        let moves = if (KNIGHT..=QUEEN).contains(&piece) { p.mobility(square, piece, us) } else { 0 };
        phase += PHASE[piece];
        sum.add(PIECE_VALUE[piece], us);
        let (mg, eg) = PSQT[piece][own];
        sum.add(S(mg, eg), us);
        match piece {
            PAWN => {
                row!(MATERIAL_PAWN, 0, us);
                row!(PIECE_SQUARE_PAWN, own, us);
                if !p.pawn_ahead(square, us, us.other(), 1) {
                    sum.add(PASSED_PAWNS[own / 8], us);
                    #[cfg(not(missing))]
                    row!(PAWNS_PASSED, own / 8, us);
                }
                if p.pawn_ahead(square, us, us, 0) {
                    rest += DOUBLED_PAWN * us.sign();
                }
            }
            KNIGHT => {
                let s = KNIGHT_MOBILITY[moves];
                #[cfg(swapped)]
                let s = S(s.1, s.0);
                sum.add(s, us);
                row!(MATERIAL_KNIGHT, 0, us);
                row!(PIECE_SQUARE_KNIGHT, own, us);
                row!(MOBILITY_KNIGHT, moves, us);
            }
            BISHOP => {
                bishops[us as usize] += 1;
                bishop_colours ^= 1 << ((square ^ square / 8) & 1);
                sum.add(BISHOP_MOBILITY[moves], us);
                row!(MATERIAL_BISHOP, 0, us);
                row!(PIECE_SQUARE_BISHOP, own, us);
                row!(MOBILITY_BISHOP, moves, us);
            }
            ROOK => {
                sum.add(ROOK_MOBILITY[moves], us);
                row!(MATERIAL_ROOK, 0, us);
                row!(PIECE_SQUARE_ROOK, [own / 8, own % 8], us);
                row!(MOBILITY_ROOK, moves, us);
            }
            QUEEN => {
                sum.add(QUEEN_MOBILITY[moves], us);
                row!(MATERIAL_QUEEN, 0, us);
                row!(PIECE_SQUARE_QUEEN, own, us);
                row!(MOBILITY_QUEEN, moves, us);
            }
            _ => row!(PIECE_SQUARE_KING, own, us),
        }
        others += i32::from(![PAWN, BISHOP, KING].contains(&piece));
    }
    for us in [White, Black] {
        if bishops[us as usize] >= 2 {
            sum.add(BISHOP_PAIR, us);
            row!(BISHOP_PAIR, 0, us);
            #[cfg(doubled)]
            row!(BISHOP_PAIR, 0, us);
        }
    }
    sum.add(TEMPO, p.side);
    row!(TEMPO_TEMPO, 0, p.side);
    tracerows::rest(rest);
    // bishops of opposite colours alone: half the endgame
    let scale = if others == 0 && bishops == [1, 1] && bishop_colours == 3 { 32 } else { 64 };
    tracerows::scale(f64::from(scale) / 64.0);
    let phase = phase.min(ALL_PHASES);
    ((sum.mg * phase * 64 + sum.eg * (ALL_PHASES - phase) * scale) / (ALL_PHASES * 64) + rest, phase)
}

#[cfg(feature = "evaltune_trace")]
fn trace_one(fen: &str) {
    let p = match Position::read(fen) { Some(p) => p, None => return };
    tracerows::begin();
    let (eval, phase) = evaluate(&p);
    #[cfg(perspective)]
    let eval = eval * p.side.sign();
    tracerows::end(fen, eval, phase);
}

fn main() {
    match std::env::args().nth(1).as_deref() {
        #[cfg(feature = "evaltune_trace")]
        Some("trace") => tracerows::serve(trace_one),
        Some("eval") => {
            for line in std::io::stdin().lines().map_while(Result::ok) {
                match Position::read(&line) {
                    Some(p) => println!("{}", evaluate(&p).0),
                    None => println!("bad FEN"),
                }
            }
        }
        _ => {
            eprintln!("usage: mini eval|trace");
            std::process::exit(2);
        }
    }
}
