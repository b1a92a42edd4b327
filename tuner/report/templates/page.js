"use strict";

// What the reader does is noticed by the document, so that parts of a page that lives may be exchanged.
const on = (kind, selector, act) => document.addEventListener(kind, event => {
  const found = event.target instanceof Element && event.target.closest(selector);
  if (found) act(found, event);
}, true);

// Choosing the header of a column sorts the table by it, choosing it again reverses the order.
const keyOf = (row, column) => {
  const cell = row.cells[column];
  if (!("value" in cell.dataset)) return cell.textContent;
  return cell.dataset.value === "" ? NaN : Number(cell.dataset.value);
};
const compare = (a, b) => {
  if (typeof a === "string") return a.localeCompare(b, "en", { numeric: true });
  return a - b;
};
const sort = head => {
  const down = head.getAttribute("aria-sort") === "descending";
  const body = head.closest("table").tBodies[0];
  const keyed = [...body.rows].map(row => [keyOf(row, head.cellIndex), row]);
  keyed.sort(([a], [b]) => {
    if (Number.isNaN(a) || Number.isNaN(b)) return Number.isNaN(a) - Number.isNaN(b);
    return down ? compare(b, a) : compare(a, b);
  });
  body.append(...keyed.map(([, row]) => row));
};
on("click", "table.sortable thead th", head => {
  const down = head.getAttribute("aria-sort") === "ascending";
  for (const other of head.parentNode.cells) other.setAttribute("aria-sort", "none");
  head.setAttribute("aria-sort", down ? "descending" : "ascending");
  sort(head);
});

// A filter hides the rows whose first cell does not contain its text.
const filter = box => {
  const rows = [...document.getElementById(box.dataset.filters).tBodies[0].rows];
  const wanted = box.value.trim().toLowerCase();
  for (const row of rows) row.hidden = !row.cells[0].textContent.toLowerCase().includes(wanted);
  document.getElementById("filtered").textContent = `${rows.filter(row => !row.hidden).length} of ${rows.length}`;
};
on("input", "input[data-filters]", filter);

// A bubble shows the details of a number on a board that is pointed at, tapped, or reached with the arrow keys.
const bubble = document.getElementById("bubble");
let shown = null;
const hide = () => {
  if (shown) shown.classList.remove("at");
  shown = null;
  bubble.hidden = true;
};
const show = cell => {
  hide();
  shown = cell;
  cell.classList.add("at");
  bubble.textContent = cell.dataset.said;
  bubble.hidden = false;
  const place = cell.getBoundingClientRect();
  const most = document.documentElement.clientWidth - bubble.offsetWidth - 8;
  bubble.style.left = `${Math.max(8, Math.min(place.left + place.width / 2 - bubble.offsetWidth / 2, most))}px`;
  const above = place.top - bubble.offsetHeight - 6;
  bubble.style.top = `${above > 4 ? above : place.bottom + 6}px`;
};
for (const kind of ["pointerover", "click"]) on(kind, "table.board td", show);
on("pointerout", "table.board", (board, event) => { if (!board.contains(event.relatedTarget)) hide(); });
on("focusout", "table.board", hide);
on("keydown", "table.board", (board, event) => {
  const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
  if (event.key === "Escape") hide();
  if (!step) return;
  event.preventDefault();
  const from = shown && board.contains(shown) ? [shown.parentNode.rowIndex + step[0], shown.cellIndex + step[1]] : [0, 0];
  const row = board.rows[Math.max(0, Math.min(board.rows.length - 1, from[0]))];
  show(row.cells[Math.max(0, Math.min(row.cells.length - 1, from[1]))]);
});
addEventListener("scroll", hide, { passive: true });

// A button copies its command, if the browser allows it.
const offerCopies = () => {
  for (const button of document.querySelectorAll(".command button")) button.hidden = !navigator.clipboard;
};
on("click", ".command button", async button => {
  await navigator.clipboard.writeText(button.parentNode.querySelector("pre").textContent);
  button.textContent = "Copied";
});
offerCopies();
