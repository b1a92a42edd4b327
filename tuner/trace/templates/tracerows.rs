//! tracerows.rs: prints what an evaluation counts, as rows for `tuner`.
//! @HEADING@
//!
//! Copyright (C) the authors of evaltune. Permission to use, copy, modify, and/or distribute this file for any purpose with or
//! without fee is hereby granted. THE SOFTWARE IS PROVIDED "AS IS" AND THE AUTHOR DISCLAIMS ALL WARRANTIES WITH REGARD TO THIS
//! SOFTWARE INCLUDING ALL IMPLIED WARRANTIES OF MERCHANTABILITY AND FITNESS. IN NO EVENT SHALL THE AUTHOR BE LIABLE FOR ANY
//! SPECIAL, DIRECT, INDIRECT, OR CONSEQUENTIAL DAMAGES OR ANY DAMAGES WHATSOEVER RESULTING FROM LOSS OF USE, DATA OR PROFITS,
//! WHETHER IN AN ACTION OF CONTRACT, NEGLIGENCE OR OTHER TORTIOUS ACTION, ARISING OUT OF OR IN CONNECTION WITH THE USE OR
//! PERFORMANCE OF THIS SOFTWARE. (0BSD)
//!
//! `mod tracerows;` at the root of the crate, and `[features] evaltune_trace = []` in Cargo.toml. Without the feature nothing of this is
//! code; wrong names do not compile, with it and without.
//!
//!   tracerows::begin()                 before an evaluation
//!   row!(NAME, index, us)              beside every use of a parameter: counts 1 for White, -1 for Black
//!   row!(NAME, index, us, n)           counts n times
//!   row!(NAME, [row, column], us)      a table; row 0 is nearest to the owner. row!(NAME, 8 * row + column, us) is the same
//!   tracerows::rest(cp)                adds centipawns of White's view that are not tuned
//!   tracerows::scale(f)                the factor of the last stage, if it is not 1
//!   tracerows::factor(f)               a factor on the whole evaluation, with its rest, if it is not 1
//!   tracerows::end(fen, eval, phase)   prints the row: `eval` of White's view, `phase` in steps of the first stage
//!   tracerows::serve(|fen| ...)        calls a function for each line of standard input
//!
//! `us` is 0 for White and 1 for Black, also as an enum or a bool; write `us != White` if your colours differ. The index of a
//! single number is 0.
#![allow(dead_code, unused_imports, unused_macros, clippy::all)]

use std::cell::RefCell;
use std::fmt::Write;

pub const TRACE: bool = cfg!(feature = "evaltune_trace");
pub const COLUMNS: usize = @COLUMNS@;

/// 0 rows: a list; 0 columns: one number.
pub struct Parameter { pub name: &'static str, pub first: usize, pub rows: usize, pub columns: usize }

@NAMES@

const PARAMETERS: [&Parameter; @COUNT@] = [
@TABLE@
];

struct Buffer { count: [f64; COLUMNS], rest: f64, scale: f64, factor: f64, rows: usize }

thread_local! {
    static HERE: RefCell<Buffer> = const { RefCell::new(Buffer { count: [0.0; COLUMNS], rest: 0.0, scale: 1.0, factor: 1.0, rows: 0 }) };
}

macro_rules! row {
    ($name:ident, [$row:expr, $column:expr], $us:expr, $n:expr) => {
        if $crate::tracerows::TRACE {
            $crate::tracerows::add(&$crate::tracerows::$name, Some(($row) as usize), ($column) as usize, ($us) as usize,
                                   ($n) as f64, file!(), line!());
        }
    };
    ($name:ident, [$row:expr, $column:expr], $us:expr) => { $crate::tracerows::row!($name, [$row, $column], $us, 1) };
    ($name:ident, $index:expr, $us:expr, $n:expr) => {
        if $crate::tracerows::TRACE {
            $crate::tracerows::add(&$crate::tracerows::$name, None, ($index) as usize, ($us) as usize, ($n) as f64, file!(),
                                   line!());
        }
    };
    ($name:ident, $index:expr, $us:expr) => { $crate::tracerows::row!($name, $index, $us, 1) };
}
pub(crate) use row;

#[inline(always)]
pub fn begin() {
    if TRACE {
        HERE.with(|b| {
            let mut b = b.borrow_mut();
            (b.count, b.rest, b.scale, b.factor) = ([0.0; COLUMNS], 0.0, 1.0, 1.0);
        });
    }
}

#[inline(always)]
pub fn rest(cp: impl Into<f64>) {
    if TRACE { HERE.with(|b| b.borrow_mut().rest += cp.into()); }
}

#[inline(always)]
pub fn scale(f: impl Into<f64>) {
    if TRACE { HERE.with(|b| b.borrow_mut().scale = f.into()); }
}

#[inline(always)]
pub fn factor(f: impl Into<f64>) {
    if TRACE { HERE.with(|b| b.borrow_mut().factor = f.into()); }
}

pub fn add(p: &Parameter, row: Option<usize>, index: usize, us: usize, n: f64, file: &str, line: u32) {
    let width = p.columns.max(1);
    let at = row.unwrap_or(0).wrapping_mul(width).wrapping_add(index);
    if at >= p.rows.max(1) * width || row.map_or(false, |row| row >= p.rows || index >= width) {
        let given = row.map_or(String::new(), |row| format!("{}, ", row as isize));
        let size = if p.rows > 0 { format!("{} x {width}", p.rows) } else { width.to_string() };
        eprintln!("{file}:{line}: tracerows: index {given}{} of {}, which has {size}", index as isize, p.name);
        std::process::abort();
    }
    HERE.with(|b| b.borrow_mut().count[p.first + at] += if us == 0 { n } else { -n });
}

#[inline(always)]
pub fn end(fen: &str, eval: impl Into<f64>, phase: i32) {
    if TRACE { print(fen, eval.into(), phase); }
}

fn print(fen: &str, eval: f64, phase: i32) {
    HERE.with(|b| {
        let mut b = b.borrow_mut();
        let mut text = format!("{{\"fen\":{},\"eval\":{eval},\"phase\":{phase}", quoted(fen));
        if b.rest != 0.0 { write!(text, ",\"rest\":{}", b.rest).unwrap(); }
        if b.scale != 1.0 { write!(text, ",\"scale\":{}", b.scale).unwrap(); }
        if b.factor != 1.0 { write!(text, ",\"factor\":{}", b.factor).unwrap(); }
        text.push_str(",\"counts\":{");
        let mut comma = "";
        for p in PARAMETERS {
            let width = p.columns.max(1);
            for i in (0..p.rows.max(1) * width).filter(|i| b.count[p.first + i] != 0.0) {
                write!(text, "{comma}\"{}", p.name).unwrap();
                if p.rows > 0 { write!(text, "[{}]", i / width).unwrap(); }
                if p.columns > 0 { write!(text, "[{}]", i % width).unwrap(); }
                write!(text, "\":{}", b.count[p.first + i]).unwrap();
                comma = ",";
            }
        }
        println!("{text}}}}}");
        b.rows += 1;
    });
}

fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => { out.push('\\'); out.push(c) }
            c if c < ' ' => write!(out, "\\u{:04x}", c as u32).unwrap(),
            c => out.push(c),
        }
    }
    out + "\""
}

/// The answer to a line is complete when it has been printed: one row, or an object with "error" if `one` printed none.
pub fn serve(mut one: impl FnMut(&str)) {
    for line in std::io::stdin().lines() {
        let line = line.expect("tracerows: standard input");
        let line = line.trim_end();
        if line.is_empty() { continue; }
        let before = HERE.with(|b| b.borrow().rows);
        one(line);
        if HERE.with(|b| b.borrow().rows) == before {
            println!("{{\"fen\":{},\"error\":\"no row for this position\"}}", quoted(line));
        }
    }
}
