"use strict";
const data = {{data}};
const last = data.steps.length;
const find = (selector) => Array.from(document.querySelectorAll(selector));
const panel = document.getElementById("about");
let selected = -1;

// An element with text in it: whatever the program calls things, it stays text.
function make(name, text, kind) {
  const element = document.createElement(name);
  // A path may be broken after each of its folders.
  if (text !== undefined) String(text).split(/(?<=[/])/).forEach((part, index) => {
    if (index > 0) element.appendChild(document.createElement("wbr"));
    element.appendChild(document.createTextNode(part));
  });
  if (kind) element.className = kind;
  return element;
}

function add(parent, ...children) {
  children.forEach((child) => parent.appendChild(child));
  return parent;
}

// How all stand after a step, what is shown, and which of it is new.
function stateAfter(number) {
  const stands = new Map(), shows = new Map();
  for (let step = 0; step <= number; step++) {
    const from = step === 0 ? data : data.steps[step - 1];
    from.stands.forEach(([actor, how, text]) => stands.set(actor, { how, text, fresh: step === number && step > 0 }));
    from.shows.forEach(([name, value]) => shows.set(name, { value, fresh: step === number && step > 0 }));
  }
  for (const all of [stands, shows]) all.forEach((one) => { if (number === 0) one.fresh = false; });
  return { stands, shows };
}

// The steps that can have led to this one: those before it of the same actor, those it waited for, and theirs.
function pastOf(number) {
  const past = new Set([number]);
  for (let step = number; step >= 1; step--) {
    if (!past.has(step)) continue;
    const { actor, after } = data.steps[step - 1];
    after.forEach((before) => past.add(before));
    if (actor === null) continue;
    for (let before = step - 1; before >= 1; before--) {
      if (data.steps[before - 1].actor === actor) { past.add(before); break; }
    }
  }
  return past;
}

function nameOf(step) {
  return step.actor === null ? "network" : data.actors[step.actor];
}

function sourceOf(source, heading) {
  const [file, line, first, lines] = source;
  const parts = [];
  if (heading) parts.push(make("h3", heading));
  parts.push(make("p", data.files[file] + ":" + line, "file"));
  if (lines.length > 0) {
    const code = make("pre");
    const indent = Math.min(...lines.filter((text) => text.trim()).map((text) => text.length - text.trimStart().length));
    lines.forEach((text, index) => {
      const row = make("span", undefined, first + index === line ? "lit" : "");
      add(code, add(row, make("i", first + index), document.createTextNode(text.slice(indent))));
    });
    parts.push(code);
  }
  return parts;
}

function link(number) {
  const step = data.steps[number - 1];
  const anchor = make("a", "step " + number + ": " + nameOf(step) + " " + step.does);
  anchor.href = "#" + number;
  return add(make("p"), anchor);
}

function show(number) {
  panel.textContent = "";
  const step = number === 0 ? null : data.steps[number - 1];
  if (step) {
    add(panel, make("h2", nameOf(step) + " " + step.does));
    if (step.bytes !== null) add(panel, make("p", step.bytes + " bytes", "file"));
    if (step.fails !== null) add(panel, make("p", "✗ " + step.fails, "fails"));
  } else {
    add(panel, make("h2", "the start"), make("p", "Nobody has taken a step yet."));
  }
  const isEnd = number === (data.differs === null ? last : data.differs);
  if (isEnd && data.what !== null && (!step || step.fails === null)) add(panel, make("p", "✗ " + data.what, "fails"));
  if (isEnd && data.difference.length > 0) {
    const table = make("table");
    data.difference.forEach(([name, text]) => add(table, add(make("tr"), make("td", name), make("td", text))));
    add(panel, make("h3", "how it differs from another execution"), table);
  }
  if (step && step.source) add(panel, ...sourceOf(step.source));
  const wrong = isEnd && data.place;
  if (wrong && !(step && step.source && step.source[0] === wrong[0] && step.source[1] === wrong[1])) {
    add(panel, ...sourceOf(wrong, "where it goes wrong"));
  }
  const said = step ? step.said : data.said;
  if (said.length > 0) {
    add(panel, make("h3", "said"));
    said.forEach(([actor, text]) => add(panel, make("p", data.actors[actor] + ": “" + text + "”", "said")));
  }
  if (step && step.after.length > 0) {
    add(panel, make("h3", "it had to wait for"));
    step.after.forEach((before) => { if (before > 0) add(panel, link(before)); });
  }
  const then = data.steps.filter((other) => other.after.includes(number));
  if (step && then.length > 0) {
    add(panel, make("h3", "what waited for it"));
    then.forEach((other) => add(panel, link(data.steps.indexOf(other) + 1)));
  }
  const { stands, shows } = stateAfter(number);
  if (shows.size > 0) {
    const table = make("table");
    shows.forEach(({ value, fresh }, name) => {
      add(table, add(make("tr", undefined, fresh ? "new" : ""), make("td", name), make("td", value)));
    });
    add(panel, make("h3", "exposed"), table);
  }
  const table = make("table");
  // Those that have ended matter least.
  const order = Array.from(stands).sort(([, one], [, other]) => (one.how === "ended") - (other.how === "ended"));
  order.forEach(([actor, { how, text, fresh }]) => {
    const row = make("tr", undefined, how + (fresh ? " new" : ""));
    add(table, add(row, make("td", data.actors[actor]), make("td", text)));
  });
  add(panel, make("h3", number === 0 ? "how the actors stand" : "how they stand after it"), table);
  if (data.replay !== null && step) {
    add(panel, make("h3", "to look closer"), add(make("p"), make("code", data.replay + " --until " + step.at)),
      add(make("p"), make("code", "gdb --args " + data.replay + " --break-at " + step.at)));
  }
  panel.scrollTop = 0;
}

function select(number, quietly) {
  number = Math.max(0, Math.min(last, number));
  if (number === selected) return;
  selected = number;
  const step = number === 0 ? null : data.steps[number - 1];
  find(".lit").forEach((element) => { element.classList.remove("lit"); element.removeAttribute("aria-selected"); });
  find('[data-step="' + number + '"]').forEach((element) => {
    element.classList.add("lit");
    if (element.classList.contains("step")) {
      element.setAttribute("aria-selected", "true");
      if (!quietly) element.focus({ preventScroll: true });
    }
  });
  find('.arrow[data-from="' + number + '"], .arrow[data-to="' + number + '"]').forEach((arrow) => arrow.classList.add("lit"));
  if (step && step.actor !== null) find('.names [data-actor="' + step.actor + '"]').forEach((name) => name.classList.add("lit"));
  document.getElementById("number").textContent = number === 0 ? "start" : "step " + number + " of " + last;
  document.getElementById("back").disabled = number === 0;
  document.getElementById("on").disabled = number === last;
  fade();
  show(number);
  reveal(number);
  if (location.hash !== "#" + number) history.replaceState(null, "", "#" + number);
}

// Scrolls so that the step and some steps around it can be seen, below the names.
function reveal(number) {
  const view = document.getElementById("diagram");
  const bands = find('.band[data-step="' + number + '"]');
  const names = view.querySelector(".names").offsetHeight;
  const height = Number(bands[0].getAttribute("height"));
  const top = names + Number(bands[0].getAttribute("y"));
  const bottom = names + Number(bands[bands.length - 1].getAttribute("y")) + height;
  const margin = 2 * height;
  if (top - margin - names < view.scrollTop) view.scrollTop = top - margin - names;
  else if (bottom + margin > view.scrollTop + view.clientHeight) view.scrollTop = bottom + margin - view.clientHeight;
  // Who is stuck is more than who took the last step.
  const stuck = find('.stuck[data-step="' + number + '"]');
  const boxes = (stuck.length > 0 ? stuck : find('.step[data-step="' + number + '"]')).map((mark) => mark.getBBox());
  if (boxes.length === 0) return;
  const left = Math.min(...boxes.map((box) => box.x)) - 70, right = Math.max(...boxes.map((box) => box.x + box.width)) + 20;
  if (right > view.scrollLeft + view.clientWidth) view.scrollLeft = right - view.clientWidth;
  if (left < view.scrollLeft) view.scrollLeft = left;
}

function fade() {
  const only = document.getElementById("past").checked && selected > 0;
  const past = only ? pastOf(selected) : null;
  find(".step").forEach((mark) => mark.classList.toggle("faded", only && !past.has(Number(mark.dataset.step))));
  find(".arrow").forEach((arrow) => arrow.classList.toggle("faded", only && !past.has(Number(arrow.dataset.to))));
}

// The next step of the same actor, in one direction or the other.
function sameActor(direction) {
  if (selected === 0) return direction > 0 ? 1 : 0;
  const actor = data.steps[selected - 1].actor;
  for (let step = selected + direction; step >= 1 && step <= last; step += direction) {
    if (data.steps[step - 1].actor === actor) return step;
  }
  return selected;
}

const keys = {
  ArrowUp: () => selected - 1, ArrowDown: () => selected + 1, ArrowLeft: () => sameActor(-1), ArrowRight: () => sameActor(1),
  Home: () => 0, End: () => last, PageUp: () => selected - 10, PageDown: () => selected + 10,
};
document.addEventListener("keydown", (event) => {
  const key = keys[event.key];
  if (!key || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  select(key());
});
document.getElementById("diagram").addEventListener("click", (event) => {
  const target = event.target.closest("[data-step]");
  if (target) select(Number(target.dataset.step));
});
// The numbers of the steps stay at the left.
document.getElementById("diagram").addEventListener("scroll", (event) => {
  event.target.querySelector("svg").style.setProperty("--moved", event.target.scrollLeft + "px");
});
document.getElementById("back").addEventListener("click", () => select(selected - 1));
document.getElementById("on").addEventListener("click", () => select(selected + 1));
document.getElementById("past").addEventListener("change", fade);
const named = () => /^#[0-9]+$/.test(location.hash) ? Number(location.hash.slice(1)) : null;
window.addEventListener("hashchange", () => { if (named() !== null) select(named()); });
// What went wrong first.
const failing = data.differs === null ? data.steps.findIndex((step) => step.fails !== null) + 1 : data.differs;
select(named() !== null ? named() : failing > 0 ? failing : last, true);
