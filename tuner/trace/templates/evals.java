    // Reads FENs to the end of the input and prints the evaluation of each, in
    // centipawns. In main: if (args.length > 0 && args[0].equals("evals")) { evals(); return; }
    static void evals() {
        Scanner in = new Scanner(System.in);
        while (in.hasNextLine()) {
            Board board = Board.fromFen(in.nextLine());  // your own functions
            System.out.println(Evaluation.evaluate(board));
        }
    }
