"""Faults of games and positions in files: codes for compiled code, sentences for messages."""

(
    OK,
    FEN_PLACEMENT,
    FEN_SIDE,
    FEN_CASTLING,
    FEN_EN_PASSANT,
    FEN_KINGS,
    FEN_PAWNS,
    FEN_MATERIAL,
    FEN_CHECK,
    FEN_COUNTS,
    FEN_SHORT,
    TAG,
    VARIANT,
    NOT_A_MOVE,
    ILLEGAL,
    AMBIGUOUS,
    PROMOTION,
    NULL_MOVE,
    CLOSING,
    VARIATION,
    COMMENT,
    NO_RESULT,
    RESULTS,
    AFTER_RESULT,
    EPD_RESULT,
    EPD_AMBIGUOUS,
    EPD_SCALE,
) = range(27)

SENTENCES = {
    FEN_PLACEMENT: "the piece placement of the FEN is not eight ranks of eight squares",
    FEN_SIDE: "the side to move of the FEN is neither w nor b",
    FEN_CASTLING: "a castling right of the FEN lacks its king or rook",
    FEN_EN_PASSANT: "the en passant field of the FEN is neither - nor a square of rank 3 or 6",
    FEN_KINGS: "the position does not have one king per side",
    FEN_PAWNS: "the position has a pawn on the first or last rank",
    FEN_MATERIAL: "the position has more pieces than promotions allow",
    FEN_CHECK: "the side that is not to move is in check",
    FEN_COUNTS: "the FEN counts the checks of three-check, which is not chess",
    FEN_SHORT: "the FEN has fewer than four fields",
    TAG: 'malformed tag {token!r}, expected [Name "value"]',
    VARIANT: "variant {token!r} is not chess",
    NOT_A_MOVE: "{token!r} at ply {ply} is not a move",
    ILLEGAL: "illegal move {token!r} at ply {ply}",
    AMBIGUOUS: "ambiguous move {token!r} at ply {ply}",
    PROMOTION: "move {token!r} at ply {ply} does not name the promoted piece",
    NULL_MOVE: "null move {token!r} at ply {ply}",
    CLOSING: "')' without '(' at ply {ply}",
    VARIATION: "a variation is never closed",
    COMMENT: "a comment is never closed",
    NO_RESULT: "the moves end at ply {ply} without a result (1-0, 0-1, 1/2-1/2 or *)",
    RESULTS: "the Result tag contradicts the result {token!r} after the moves",
    AFTER_RESULT: "{token!r} follows the result",
    EPD_RESULT: (
        'no result: expected c9 "1-0", [0.5], FEN | score | result, or a header fen,result'
    ),
    EPD_AMBIGUOUS: "two different results",
    EPD_SCALE: (
        "results are of another scale, expected White's share from 0 to 1 (0 a loss, 0.5 a draw,"
        " 1 a win) in the whole file"
    ),
}


def kind_of_fault(fault: int) -> str:
    """Return the sentence of a fault without token and ply: the key under which faults are
    counted."""
    sentence = SENTENCES[fault].replace(" at ply {ply}", "")
    if sentence.startswith("{token!r}"):
        return sentence.replace("{token!r}", "text that")
    return sentence.replace(" {token!r}", "")
