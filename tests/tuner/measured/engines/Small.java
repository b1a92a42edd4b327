// a small engine in Java
import java.io.*;

public class Small {
    static final int[] PIECE_MG = { 82, 330, 345, 480, 1000 };
    static final int[] PIECE_EG = { 110, 290, 300, 530, 960 };
    static final short[] PAWN_SQUARE = {
    0, 0, 0, 0, 0, 0, 0, 0,
    3, 6, -4, -20, -18, 12, 9, -5,
    2, 4, 8, 10, 11, 5, 1, -3,
    0, 5, 9, 24, 26, 7, 2, -1,
    5, 9, 12, 28, 30, 14, 8, 4,
    12, 20, 30, 36, 38, 33, 22, 10,
    60, 65, 70, 80, 82, 75, 66, 58,
    0, 0, 0, 0, 0, 0, 0, 0
    };
    static final int[] ATTACK_TABLE = { 0, 2, 5, 9, 14, 20, 27, 35, 44, 54, 65, 77, 90, 104, 119, 135 };
    static final int BISHOP_PAIR = 31;
    static final byte NO_PAWNS = 19;
    static final int KNIGHT_UNITS = 1;
    static final int FEW_PAWNS = 3;
    static final int EXTRA = 0;
    static final int MOST_PHASE = 24;
    static final int TEMPO = 12;
    static final int UNUSED = 17;

    static int evaluate(String fen) {
        String letters = "PNBRQKpnbrqk", board = fen.split(" ")[0];
        int[] count = new int[12];
        int square = 0, mg = 0, eg = 0, phase = 0;
        for (char c : board.toCharArray()) {
            int k = letters.indexOf(c);
            if (c >= '1' && c <= '8') square += c - '0';
            if (k < 0) continue;
            count[k]++;
            if (k == 0) { mg += PAWN_SQUARE[square ^ 56]; eg += PAWN_SQUARE[square ^ 56]; }
            if (k == 6) { mg -= PAWN_SQUARE[square]; eg -= PAWN_SQUARE[square]; }
            square++;
        }
        for (int color = 0; color < 2; color++) {
            int own = 6 * color, other = 6 - own, sign = color > 0 ? -1 : 1;
            int units = count[own + 1] * KNIGHT_UNITS + count[own + 4] * 2;
            for (int k = 0; k < 5; k++) {
                mg += sign * count[own + k] * PIECE_MG[k];
                eg += sign * count[own + k] * PIECE_EG[k];
            }
            if (count[own + 2] > 1) { mg += sign * BISHOP_PAIR; eg += sign * BISHOP_PAIR; }
            if (count[own] < FEW_PAWNS) eg -= sign * NO_PAWNS;
            if (EXTRA > 0) mg += sign * EXTRA * count[other + 3];
            mg += sign * ATTACK_TABLE[Math.max(0, Math.min(units, 15))];
            phase += count[own + 1] + count[own + 2] + 2 * count[own + 3] + 4 * count[own + 4];
        }
        phase = Math.min(phase, MOST_PHASE);
        int tempo = fen.contains(" w ") ? TEMPO : -TEMPO;
        return (mg * phase + eg * (MOST_PHASE - phase)) / MOST_PHASE + tempo;
    }

    public static void main(String[] words) throws IOException {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null; line = in.readLine())
            System.out.println(evaluate(line));
    }
}
