/* Reads FENs to the end of the input and prints the evaluation of each, in
   centipawns. In main: if (argc > 1 && !strcmp(argv[1], "evals")) return evals(); */
static int evals(void) {
    char fen[256];
    while (fgets(fen, sizeof fen, stdin)) {
        parse_fen(fen);              /* your own functions */
        printf("%d\n", evaluate());
    }
    return 0;
}
