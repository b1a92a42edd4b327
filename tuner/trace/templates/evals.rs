// Reads FENs to the end of the input and prints the evaluation of each, in
// centipawns. In main: if std::env::args().nth(1).as_deref() == Some("evals") { return evals(); }
fn evals() {
    for fen in std::io::stdin().lines() {
        let position = Position::from_fen(&fen.unwrap());  // your own functions
        println!("{}", position.evaluate());
    }
}
