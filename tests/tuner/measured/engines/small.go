// a small engine in Go
package main

import (
	"bufio"
	"fmt"
	"os"
	"strings"
)

type score int16

var pieceMG = [5]score{82, 330, 345, 480, 1000}
var pieceEG = [5]int16{110, 290, 300, 530, 960}
var pawnSquare = [64]int8{
    0, 0, 0, 0, 0, 0, 0, 0,
    3, 6, -4, -20, -18, 12, 9, -5,
    2, 4, 8, 10, 11, 5, 1, -3,
    0, 5, 9, 24, 26, 7, 2, -1,
    5, 9, 12, 28, 30, 14, 8, 4,
    12, 20, 30, 36, 38, 33, 22, 10,
    60, 65, 70, 80, 82, 75, 66, 58,
    0, 0, 0, 0, 0, 0, 0, 0,
}
var attackTable = []int{0, 2, 5, 9, 14, 20, 27, 35, 44, 54, 65, 77, 90, 104, 119, 135}
var bishopPair = 31
var noPawns int32 = 19
var knightUnits = 1
var fewPawns = 3
var extra = 0

const mostPhase = 24
const tempo = 12

func evaluate(fen string) int {
	count := [12]int{}
	square, mg, eg, phase := 0, 0, 0, 0
	for _, c := range strings.Fields(fen)[0] {
		k := strings.IndexRune("PNBRQKpnbrqk", c)
		if c >= '1' && c <= '8' {
			square += int(c - '0')
		}
		if k < 0 {
			continue
		}
		count[k]++
		if k == 0 {
			mg += int(pawnSquare[square^56])
			eg += int(pawnSquare[square^56])
		}
		if k == 6 {
			mg -= int(pawnSquare[square])
			eg -= int(pawnSquare[square])
		}
		square++
	}
	for color := 0; color < 2; color++ {
		own, other, sign := count[6*color:], count[6-6*color:], 1-2*color
		units := own[1]*knightUnits + own[4]*2
		for k := 0; k < 5; k++ {
			mg += sign * own[k] * int(pieceMG[k])
			eg += sign * own[k] * int(pieceEG[k])
		}
		if own[2] > 1 {
			mg += sign * bishopPair
			eg += sign * bishopPair
		}
		if own[0] < fewPawns {
			eg -= sign * int(noPawns)
		}
		if extra > 0 {
			mg += sign * extra * other[3]
		}
		if units > 15 {
			units = 15
		}
		if units < 0 {
			units = 0
		}
		mg += sign * attackTable[units]
		phase += own[1] + own[2] + 2*own[3] + 4*own[4]
	}
	if phase > mostPhase {
		phase = mostPhase
	}
	moving := -tempo
	if strings.Contains(fen, " w ") {
		moving = tempo
	}
	return (mg*phase+eg*(mostPhase-phase))/mostPhase + moving
}

func main() {
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		fmt.Println(evaluate(in.Text()))
	}
}
