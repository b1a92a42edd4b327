
// A page that lives asks its server what the run does now, and changes only what is different: what the
// reader opened, sorted, filtered, selected and scrolled to stays.
const readers = new Set(["open", "hidden", "aria-sort"]);
const morph = (from, to) => {
  for (const { name } of [...from.attributes]) {
    if (!readers.has(name) && !to.hasAttribute(name)) from.removeAttribute(name);
  }
  for (const attribute of to.attributes) {
    if (!readers.has(attribute.name) && from.getAttribute(attribute.name) !== attribute.value) {
      from.setAttributeNode(attribute.cloneNode());
    }
  }
  const old = [...from.childNodes], wanted = [...to.childNodes];
  wanted.forEach((node, i) => {
    const there = old[i];
    if (!there) from.append(document.importNode(node, true));
    else if (there.nodeType !== node.nodeType || there.nodeName !== node.nodeName || there.id !== node.id) {
      there.replaceWith(document.importNode(node, true));
    } else if (node.nodeType !== Node.ELEMENT_NODE) {
      if (there.nodeValue !== node.nodeValue) there.nodeValue = node.nodeValue;
    } else if (!there.isEqualNode(node)) morph(there, node);
  });
  for (const node of old.slice(wanted.length)) node.remove();
};
const settle = () => {
  for (const head of document.querySelectorAll("th[aria-sort$=scending]")) sort(head);
  for (const box of document.querySelectorAll("input[data-filters]")) if (box.value) filter(box);
  offerCopies();
};
const parsed = text => new DOMParser().parseFromString(text, "text/html");
const exchange = text => {  // all of the page but what the run does now
  const page = parsed(text), main = document.querySelector("main"), given = [...page.querySelectorAll("main > section")];
  morph(document.querySelector("header"), page.querySelector("header"));
  const names = new Set(given.map(section => section.id));
  for (const section of [...main.children]) if (!names.has(section.id)) section.remove();
  given.forEach((section, i) => {
    const there = document.getElementById(section.id);
    if (!there) main.insertBefore(document.importNode(section, true), main.children[i] || null);
    else if (section.id !== "now") morph(there, section);
  });
  document.body.dataset.report = page.body.dataset.report;
  settle();
};
let tag = "", timer = 0, looking = false, updates = 0;
const look = async () => {
  clearTimeout(timer);
  if (looking) return;
  looking = true;
  let wait = 10;
  try {
    const answer = await fetch("now", { cache: "no-store", headers: tag ? { "If-None-Match": tag } : {} });
    if (answer.status === 304) wait = Number(answer.headers.get("X-Wait"));
    else if (answer.ok) {
      const now = await answer.json();
      morph(document.getElementById("now"), parsed(now.html).querySelector("section"));
      document.title = now.title;
      if (now.report !== document.body.dataset.report) {
        const page = await fetch("./", { cache: "no-store" });
        if (page.ok) exchange(await page.text());
      }
      [tag, wait, updates] = [answer.headers.get("ETag"), now.wait, updates + 1];
    } else throw new Error(answer.status);
  } catch {
    tag = "";
    const said = document.querySelector("#now .state");
    if (said && !said.dataset.lost) said.textContent = `tuner watch does not answer since ${new Date().toLocaleTimeString()}; the page shows what was.`;
    if (said) said.dataset.lost = "yes";
  }
  looking = false;
  if (wait && !document.hidden) timer = setTimeout(look, wait * 1000);
};
addEventListener("visibilitychange", () => document.hidden ? clearTimeout(timer) : look());
look();
