// The page on which a board is changed: its parts are moved, sized and removed in place, by buttons, keys, mouse and
// touch. Without this script each button sends the form. Saving sends the parts in the order in which they stand here.
// console.js loads it when such a page is opened.

const find = (selector, root = document) => root.querySelector(selector);
const all = (selector, root = document) => [...root.querySelectorAll(selector)];
const form = () => find("#edit");

const PART = "[data-inner], [data-item], [data-section]";
const SIZES = ["1x1", "2x1", "2x2", "wide"];
/** How far a pointer moves before it drags, and how near to an edge it makes the page scroll. */
const [LEAST, EDGE] = [5, 60];

// What is not saved is not left without a warning.
let isChanged = form()?.hasAttribute("data-changed") ?? false;
const change = () => (isChanged = true);

addEventListener("beforeunload", (event) => {
  if (isChanged && form()) event.preventDefault();
});
document.addEventListener("input", ({ target }) => {
  if (target.closest("#edit") && target.id !== "app-query") change();
});
document.addEventListener("htmx:confirm", (event) => {
  const { elt, target, verb } = event.detail;
  // What is put into a part of the page, such as the search, leaves nothing.
  if (target !== document.body) return;
  const leaves = form() && isChanged && !(form().contains(elt) && verb === "post");
  if (!leaves) return;
  if (confirm(form().dataset.leave)) isChanged = false;
  else event.preventDefault();
});
document.addEventListener("submit", ({ target, submitter }) => {
  // Without htmx the browser leaves the page: that is what saving is for.
  if (target === form() && submitter?.value === "save") isChanged = false;
});
document.addEventListener("htmx:afterSettle", ({ target }) => {
  if (target === document.body) isChanged = form()?.hasAttribute("data-changed") ?? false;
  else if (target.closest?.("#items") && target.id === "items") change();
});

// A field that must be filled in may be in the settings, which begin closed.
document.addEventListener("invalid", ({ target }) => {
  const settings = target.closest("#edit .settings");
  if (settings) settings.open = true;
}, true);

// While all parts are replaced, nothing is done with them: it would be lost.
let focused = null;
document.addEventListener("htmx:beforeRequest", ({ detail }) => {
  if (detail.target.id !== "items") return;
  focused = document.activeElement;
  detail.target.inert = true;
});
document.addEventListener("htmx:afterRequest", ({ detail }) => {
  if (detail.target.id !== "items") return;
  detail.target.inert = false;
  // They are still there if the request failed.
  if (detail.target.isConnected) focused?.focus({ preventScroll: true });
});

// Apps that are ticked while others are searched for stay ticked.
let picked = new Set();
const picks = (root) => all('input[name="pick"]', root);
document.addEventListener("htmx:beforeSwap", ({ detail }) => {
  if (detail.target.id !== "apps-found") return;
  const counts = (pick) => pick.type === "hidden" || pick.checked;
  picked = new Set(picks(detail.target).filter(counts).map((pick) => pick.value));
});
document.addEventListener("htmx:afterSwap", ({ target }) => {
  if (target.id !== "apps-found") return;
  const rest = new Set(picked);
  for (const pick of picks(target)) {
    const isPicked = rest.delete(pick.value);
    if (pick.type !== "hidden") pick.checked = isPicked;
    else if (!isPicked) pick.remove();
  }
  for (const value of rest) {
    const pick = document.createElement("input");
    Object.assign(pick, { type: "hidden", name: "pick", value });
    target.prepend(pick);
  }
});

function titleOf(part) {
  if (!part.matches("[data-section]")) return find("[data-title]", part)?.textContent ?? "";
  return find('input[name^="section-"]', part).value.trim() || part.getAttribute("aria-label");
}

// Says to those who do not see it where a part is now.
function tell(words, ...values) {
  find("#moved").textContent = words.replaceAll("{}", () => values.shift());
}

function tellPlace(part) {
  change();
  const siblings = all(`:scope > ${kindOf(part)}`, part.parentElement);
  tell(find("#items").dataset.moved, titleOf(part), siblings.indexOf(part) + 1, siblings.length);
}

const kindOf = (part) => (part.matches("[data-section]") ? "[data-section]" : part.matches("[data-item]") ? "[data-item]" : "[data-inner]");

function sibling(part, isLater) {
  const step = isLater ? "nextElementSibling" : "previousElementSibling";
  let other = part[step];
  while (other && !other.matches(kindOf(part))) other = other[step];
  return other;
}

/** The list of items of the next section, or of the one before. */
function neighbour(item, isLater) {
  const section = sibling(item.closest("[data-section]"), isLater);
  return section && find("[data-list]", section);
}

// Moves by one place; an item at the end of its section goes into the next one.
function shift(part, isLater) {
  const other = sibling(part, isLater);
  // The neighbour moves, so that the button keeps its focus.
  if (other) isLater ? part.before(other) : part.after(other);
  else if (part.matches("[data-item]")) {
    const list = neighbour(part, isLater);
    if (!list) return;
    keepFocus(() => (isLater ? list.prepend(part) : list.append(part)));
  } else return;
  tellPlace(part);
  part.scrollIntoView({ block: "nearest" });
}

function keepFocus(move) {
  const { activeElement } = document;
  move();
  activeElement?.focus({ preventScroll: true });
}

function moveToNextSection(item) {
  const first = find("#items [data-list]");
  keepFocus(() => (neighbour(item, true) ?? first).append(item));
  tellPlace(item);
  item.scrollIntoView({ block: "nearest" });
}

function resize(item) {
  const field = find('input[name="item"]', item);
  const [kind, key, size, ...id] = field.value.split(" ");
  const next = SIZES[(SIZES.indexOf(size) + 1) % SIZES.length];
  field.value = [kind, key, next, ...id].join(" ");
  item.classList.replace(`size-${size}`, `size-${next}`);
  find("[data-size]", item).textContent = next;
  change();
  tell(find("#items").dataset.sized, titleOf(item), next);
}

function remove(part) {
  const other = sibling(part, true) ?? sibling(part, false);
  if (part.matches("[data-section]")) {
    if (!other) return;
    const target = find("[data-list]", sibling(part, false) ?? other);
    const items = all("[data-item]", part);
    if (sibling(part, false)) target.append(...items);
    else target.prepend(...items);
  }
  part.remove();
  change();
  (find('[data-do="remove"]', other ?? document.createElement("p")) ?? find("#app-query")).focus();
}

const steps = {
  earlier: (part) => shift(part, false),
  later: (part) => shift(part, true),
  next: moveToNextSection,
  size: resize,
  remove,
};

document.addEventListener("click", (event) => {
  const button = event.target.closest?.("#items [data-do]");
  if (!button) return;
  event.preventDefault();
  steps[button.dataset.do](button.closest(PART));
});

// The same by keys, on any button of a part.
document.addEventListener("keydown", (event) => {
  const button = event.target.closest?.("#items [data-do]");
  if (!button || event.ctrlKey || event.metaKey || event.altKey) return;
  const isLater = ["ArrowRight", "ArrowDown"].includes(event.key);
  if (!isLater && !["ArrowLeft", "ArrowUp"].includes(event.key)) return;
  event.preventDefault();
  shift(button.closest(PART), isLater);
});

// Dragging: a mouse takes a tile anywhere, a finger only its grip, because it scrolls the page elsewhere.
let drag = null;

document.addEventListener("pointerdown", (event) => {
  const grip = event.pointerType === "mouse" ? "#items [data-item] > .tile" : "#items [data-grip]";
  const handle = event.target.closest?.(grip);
  if (!handle || event.button !== 0 || drag) return;
  event.preventDefault();
  const item = handle.closest("[data-item]");
  const { left, top } = item.getBoundingClientRect();
  drag = {
    item,
    handle,
    pointer: event.pointerId,
    from: [event.clientX, event.clientY],
    at: [event.clientX, event.clientY],
    grabbed: [event.clientX - left, event.clientY - top],
    home: [item.parentElement, item.nextElementSibling],
    isMoving: false,
    over: null,
  };
  handle.setPointerCapture(event.pointerId);
});

document.addEventListener("pointermove", (event) => {
  if (event.pointerId !== drag?.pointer) return;
  drag.at = [event.clientX, event.clientY];
  if (!drag.isMoving) {
    if (Math.hypot(drag.at[0] - drag.from[0], drag.at[1] - drag.from[1]) < LEAST) return;
    drag.isMoving = true;
    drag.item.classList.add("dragged");
    requestAnimationFrame(scroll);
  }
  follow();
});

// The tile stays under the pointer, and the others make room.
function follow() {
  const { item, at, grabbed } = drag;
  makeRoom();
  item.style.translate = "none";
  const { left, top } = item.getBoundingClientRect();
  item.style.translate = `${at[0] - grabbed[0] - left}px ${at[1] - grabbed[1] - top}px`;
}

function makeRoom() {
  const { item, at } = drag;
  const under = document.elementFromPoint(...at);
  const other = under?.closest("[data-item]") ?? null;
  // Tiles of other sizes come back under the pointer when they have moved: each moves once.
  if (other && other === drag.over) return;
  drag.over = other;
  const list = find("[data-list]", under?.closest("[data-section]") ?? document.createElement("p"));
  if (other && other !== item) {
    const isAfter = item.compareDocumentPosition(other) & Node.DOCUMENT_POSITION_FOLLOWING;
    if (other.parentElement === item.parentElement && isAfter) other.after(item);
    else other.before(item);
  } else if (!other && list && list !== item.parentElement) {
    list.append(item);
  } else if (!other && list && isBelow(list, item, at[1])) {
    list.append(item);
  }
}

function isBelow(list, item, y) {
  const last = all(":scope > [data-item]", list).filter((one) => one !== item).at(-1);
  return last && item.nextElementSibling && y > last.getBoundingClientRect().bottom;
}

// Near the upper and the lower edge of the window the page scrolls.
function scroll() {
  if (!drag?.isMoving) return;
  const y = drag.at[1];
  const bar = find(".editor-bar").getBoundingClientRect().bottom;
  const step = y < bar + EDGE ? y - bar - EDGE : y > innerHeight - EDGE ? y - innerHeight + EDGE : 0;
  if (step !== 0) {
    scrollBy({ top: step / 4, behavior: "instant" });
    follow();
  }
  requestAnimationFrame(scroll);
}

function drop(isDone) {
  const { item, home, isMoving } = drag;
  drag = null;
  item.style.translate = "";
  item.classList.remove("dragged");
  if (!isMoving) return;
  if (!isDone) home[0].insertBefore(item, home[1]);
  // A tile that is where it was changes nothing.
  if (item.parentElement !== home[0] || item.nextElementSibling !== home[1]) tellPlace(item);
}

document.addEventListener("pointerup", ({ pointerId }) => pointerId === drag?.pointer && drop(true));
document.addEventListener("pointercancel", ({ pointerId }) => pointerId === drag?.pointer && drop(false));
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || !drag) return;
  event.preventDefault();
  drag.handle.releasePointerCapture(drag.pointer);
  drop(false);
});
