// a small engine in Rust
use std::io::BufRead;

const PIECE_MG: [i32; 5] = [82, 330, 345, 480, 1000];
const PIECE_EG: [i32; 5] = [110, 290, 300, 530, 960];
const BISHOP_PAIR: i32 = 31;
const FEW_PAWNS: i32 = 3;
const NO_PAWNS: i32 = 19;
const MOST_PHASE: i32 = 24;
const TEMPO: i32 = 12;

fn evaluate(fen: &str) -> i32 {
    let board = fen.split(' ').next().unwrap();
    let count = |c: char| board.matches(c).count() as i32;
    let (mut mg, mut eg, mut phase) = (0, 0, 0);
    for (sign, letters) in [(1, "PNBRQ"), (-1, "pnbrq")] {
        let own: Vec<i32> = letters.chars().map(count).collect();
        for k in 0..5 {
            mg += sign * own[k] * PIECE_MG[k];
            eg += sign * own[k] * PIECE_EG[k];
        }
        if own[2] > 1 {
            mg += sign * BISHOP_PAIR;
            eg += sign * BISHOP_PAIR;
        }
        if own[0] < FEW_PAWNS {
            eg -= sign * NO_PAWNS;
        }
        phase += own[1] + own[2] + 2 * own[3] + 4 * own[4];
    }
    phase = phase.min(MOST_PHASE);
    let tempo = if fen.contains(" w ") { TEMPO } else { -TEMPO };
    (mg * phase + eg * (MOST_PHASE - phase)) / MOST_PHASE + tempo
}

fn main() {
    for line in std::io::stdin().lock().lines() {
        println!("{}", evaluate(&line.unwrap()));
    }
}
