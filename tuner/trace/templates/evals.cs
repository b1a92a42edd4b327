    // Reads FENs to the end of the input and prints the evaluation of each, in
    // centipawns. In Main: if (args.Length > 0 && args[0] == "evals") { Evals(); return; }
    static void Evals() {
        for (string? fen = Console.ReadLine(); fen != null; fen = Console.ReadLine()) {
            var board = new Board(fen);  // your own functions
            Console.WriteLine(Evaluation.Evaluate(board));
        }
    }
