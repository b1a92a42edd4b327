// Reads FENs to the end of the input and prints the evaluation of each, in
// centipawns. In main: if (argc > 1 && std::string(argv[1]) == "evals") return evals();
static int evals() {
    std::string fen;
    while (std::getline(std::cin, fen)) {
        Position position(fen);      // your own functions
        std::cout << evaluate(position) << '\n';
    }
    return 0;
}
