// Reads FENs to the end of the input and prints the evaluation of each, in
// centipawns. In main: if len(os.Args) > 1 && os.Args[1] == "evals" { evals(); return }
func evals() {
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		position := ParseFEN(in.Text()) // your own functions
		fmt.Println(position.Evaluate())
	}
}
