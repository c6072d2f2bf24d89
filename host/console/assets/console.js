// What pages do beyond links and forms. Everything works without it. icons.js is read before.
"use strict";

const find = (selector, root = document) => root.querySelector(selector);
const all = (selector, root = document) => [...root.querySelectorAll(selector)];
// What is in a section that is closed is not shown, either.
const shown = (element) => element.checkVisibility();

// What the frame of a page says to this script. htmx replaces the content of BODY, but no attributes of BODY and HTML.
const frame = () => find("#frame")?.dataset ?? {};

// htmx puts any answer into the page as HTML. Only pages may do so: JSON and other text can hold markup that an
// attacker chose.
document.addEventListener("htmx:beforeSwap", (event) => {
  const { xhr, requestConfig } = event.detail;
  const isPage = (xhr.getResponseHeader("content-type") ?? "").startsWith("text/html");
  if (!isPage) {
    event.detail.shouldSwap = false;
    location.assign(xhr.responseURL);
    return;
  }
  // A part of a page is replaced only by what was asked for, not by a page that says why it cannot be shown.
  if (requestConfig.verb === "get" && event.detail.target !== document.body) {
    const asked = new URL(requestConfig.path, location.href).pathname;
    if (xhr.status !== 200 || new URL(xhr.responseURL).pathname !== asked) {
      event.detail.shouldSwap = false;
      giveUp(event.detail.target);
      return;
    }
  }
  if (event.detail.target === document.body) remember();
  // A change leads back to the page on which it was made: it stays where it was scrolled.
  const isChange = requestConfig.verb !== "get" && xhr.status < 400;
  const isHere = new URL(xhr.responseURL).pathname === location.pathname;
  stays = isChange && isHere && event.detail.target === document.body ? scrollY : 0;
  // What was typed stays if it could not be sent.
  if (requestConfig.verb === "get") return;
  const hasEnded = new URL(xhr.responseURL).pathname === "/sign-in" && requestConfig.path !== "/sign-in";
  // The form for a board comes back with everything that it held, whatever failed; no other page takes its place.
  const isForm = xhr.responseText.includes('id="edit"');
  const losesForm = find("#edit") !== null && xhr.status >= 400 && !isForm;
  if (isForm || (!hasEnded && !losesForm && xhr.status < 500 && ![403, 408, 413, 429].includes(xhr.status))) return;
  event.detail.shouldSwap = false;
  const answer = new DOMParser().parseFromString(xhr.responseText, "text/html");
  const said = [find("main h1", answer), find("main .lead", answer)].map((part) => part?.textContent ?? "");
  tell(hasEnded ? frame().signIn : said.join(": "));
});

// The host cannot be reached: a page that was asked for says so by the browser's own words.
document.addEventListener("htmx:sendError", ({ detail }) => {
  giveUp(detail.target);
  if (detail.requestConfig.verb === "get" && detail.boosted) location.assign(detail.pathInfo.finalRequestPath);
  else tell(frame().unreachable);
});

// A press has one effect, and what takes longer than a moment is seen to go on.
const waits = new Map();
document.addEventListener("htmx:beforeRequest", (event) => {
  const { elt, xhr, boosted, requestConfig } = event.detail;
  requestConfig.typed = find("#find")?.value.trim();
  const { type, submitter } = requestConfig.triggeringEvent ?? {};
  // What is typed is searched for meanwhile.
  if (!boosted && !["click", "submit"].includes(type)) return;
  if (elt.dataset.sent) {
    event.preventDefault();
    return;
  }
  const button = submitter ?? elt.closest("button");
  elt.dataset.sent = "yes";
  button?.setAttribute("aria-busy", "true");
  const timer = setTimeout(() => document.documentElement.classList.add("waits"), 200);
  waits.set(xhr, () => {
    clearTimeout(timer);
    delete elt.dataset.sent;
    button?.removeAttribute("aria-busy");
  });
});
document.addEventListener("htmx:afterRequest", ({ detail }) => {
  waits.get(detail.xhr)?.();
  waits.delete(detail.xhr);
  if (waits.size === 0) document.documentElement.classList.remove("waits");
});

// Going back leads to where people were: how far a page was scrolled, and what was typed into its search box, is kept by
// its address. htmx loads the page anew.
let goesBack = false;
const places = () => JSON.parse(sessionStorage.getItem("places") ?? "[]");

function remember() {
  const others = places().filter(([address]) => address !== location.href).slice(-49);
  const place = [location.href, scrollY, find("#find")?.value ?? ""];
  sessionStorage.setItem("places", JSON.stringify([...others, place]));
}

function returnToPlace() {
  const isBack = sessionStorage.getItem("back") === location.href;
  sessionStorage.removeItem("back");
  if (!isBack && performance.getEntriesByType("navigation")[0]?.type !== "back_forward") return;
  const [, top, text] = places().find(([address]) => address === location.href) ?? [];
  const box = find("#find");
  if (text && box) {
    box.value = text;
    box.dispatchEvent(new Event("input", { bubbles: true }));
  }
  if (top) scrollTo({ top, behavior: "instant" });
}

addEventListener("popstate", ({ state }) => {
  if (!state?.htmx) return;
  goesBack = true;
  history.scrollRestoration = "manual";
  sessionStorage.setItem("back", location.href);
});
addEventListener("pagehide", () => goesBack || remember());

// Loading a page again does not repeat what was said of a change.
function forgetNote() {
  const here = new URL(location.href);
  if (!here.searchParams.has("note")) return;
  here.searchParams.delete("note");
  history.replaceState(history.state, "", here);
}

// Shows a problem above the page.
function tell(text) {
  const box = find("#told") ?? document.createElement("p");
  box.id = "told";
  box.className = "problems";
  box.setAttribute("role", "alert");
  box.textContent = text;
  find("#main").prepend(box);
  box.scrollIntoView({ block: "nearest" });
}

// The search box of the first page: filters tiles, chooses one with the arrow keys, opens it with Enter.
const tiles = () => all("#found a.tile").filter(shown);
const chosen = () => find("#found .tile.chosen");
// Whether the reader has moved to what is chosen, since they typed.
let isMoved = false;

function choose(tile) {
  chosen()?.classList.remove("chosen");
  tile?.classList.add("chosen");
  tile?.scrollIntoView({ block: "nearest" });
}

// What is searched for a text: the name, the description, and the host of an app's link.
function wordsOf(tile) {
  const parts = [".name", ".about"].map((part) => find(part, tile)?.textContent ?? "");
  const host = tile.matches(".destination") ? "" : (tile.host ?? "");
  return [...parts, host].join("\n").toLocaleLowerCase();
}

function filter(box) {
  const typed = box.value.trim();
  const text = typed.toLocaleLowerCase();
  // Those that the server has found fit what was typed.
  for (const item of all("#found .tiles > li")) {
    if (item.closest("[data-found]")) continue;
    let some = false;
    for (const tile of all(".tile", item)) {
      const matches = wordsOf(tile).includes(text);
      tile.parentElement.hidden = !matches && tile.parentElement !== item;
      some ||= matches;
    }
    item.hidden = text !== "" && !some;
  }
  // A section that begins closed is open while something in it is found.
  for (const part of all("#found details.part")) {
    if (text === "") {
      part.hidden = false;
      if (part.dataset.closed) part.open = false;
      delete part.dataset.closed;
      continue;
    }
    part.hidden = !all("li", part).some((item) => !item.hidden);
    if (!part.open) part.open = part.dataset.closed = true;
  }
  for (const section of all("#found section.others")) {
    section.hidden = text === "" || !all("li", section).some((item) => !item.hidden);
  }
  offerSearch(typed);
  showFound(text);
}

// What the server found for an earlier text is not shown, while it searches again.
function dropFound(part) {
  part.dataset.waits = "";
  find("ul", part).replaceChildren();
}

// What could not be had is not waited for any more.
function giveUp(part) {
  if (!part.matches("#others, #destinations")) return;
  if (part.matches("div")) part.remove();
  else delete part.dataset.waits;
  const box = find("#find");
  if (box) showAgain(box);
}

function showAgain(box) {
  if (box.dataset.filter === "tile") filter(box);
  else {
    offerSearch(box.value.trim());
    showFound(box.value.trim());
  }
}

// The link that searches the web: with the engine whose short name comes first, otherwise with the reader's own.
function offerSearch(typed) {
  const link = find("#web");
  if (!link) return;
  const [short, ...rest] = typed.split(/\s+/);
  const named = rest.length > 0 && engineOf(short);
  const { name, template } = named ? { name: named.title, template: named.dataset.template } : link.dataset;
  link.parentElement.hidden = typed === "" || !template;
  if (link.parentElement.hidden) return;
  const text = named ? rest.join(" ") : typed;
  link.href = template.trim().replaceAll("%s", () => encodeURIComponent(text));
  const values = [name, text];
  find(".name", link).textContent = link.dataset.words.replaceAll("{}", () => values.shift());
}

function engineOf(short) {
  return all(".engines [data-template]").find(
    (engine) => find("kbd", engine).textContent.toLowerCase() === short.toLowerCase(),
  );
}

// Counts the apps that are shown, and chooses the first of what is, unless the reader has moved to another one.
function showFound(text) {
  const found = all("#found .tile").filter((tile) => tile.id !== "web" && shown(tile));
  const list = found.filter((tile) => !tile.matches(".destination"));
  const count = find("#found .total[data-words]");
  const isWhole = find("#find")?.dataset.filter === "tile";
  if (count && isWhole) {
    const [one, many] = count.dataset.words.split("|");
    const isBoard = find("#found .board") !== null;
    count.textContent = isBoard && text === "" ? "" : list.length === 1 ? one : many.replace("{}", list.length);
  }
  const nothing = find("#found .no-match");
  if (nothing) nothing.hidden = found.length > 0 || text === "";
  // A search engine's site is chosen by hand: what is typed is rather to be searched for.
  const first = tiles().find((tile) => !tile.matches("[data-engine]"));
  const held = isMoved && chosen() && shown(chosen()) ? chosen() : null;
  choose(text === "" ? null : (held ?? (isSearch(text) ? find("#web") : first)));
}

document.addEventListener("input", ({ target }) => {
  if (target.id !== "find") return;
  isMoved = false;
  if (target.dataset.filter === "tile") {
    all("#found [data-found]").forEach(dropFound);
    filter(target);
  }
  // The server searches; until it has answered, nothing is chosen.
  else choose(null);
});

// After the server has searched.
document.addEventListener("htmx:afterSettle", ({ target, detail }) => {
  const box = find("#find");
  if (!box || target === document.body || !target.closest?.("#found")) return;
  if (detail.requestConfig && detail.requestConfig.typed !== box.value.trim()) {
    // What was about to ask for the later text is gone with the element that was replaced: the new one asks.
    if (target.matches("[data-found]")) {
      dropFound(target);
      box.dispatchEvent(new Event("input"));
    }
    // The box itself asks again.
    if (box.dataset.filter !== "tile") return;
  }
  showAgain(box);
});

document.addEventListener("keydown", (event) => {
  const box = find("#find");
  if (!box || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target !== box) {
    const types = event.target.closest("input, textarea, select, [contenteditable]");
    if (event.key === "/" && !types) {
      event.preventDefault();
      box.focus();
      box.select();
    }
    return;
  }
  const list = tiles();
  const at = list.indexOf(chosen());
  const across = Math.max(1, list.filter((tile) => tile.offsetTop === list[0].offsetTop).length);
  const steps = { ArrowDown: at < 0 ? 1 : across, ArrowUp: -across };
  if (at >= 0 && box.selectionStart === box.value.length) Object.assign(steps, { ArrowRight: 1 });
  if (at > 0 && box.selectionStart === box.value.length) Object.assign(steps, { ArrowLeft: -1 });
  if (event.key in steps && list.length > 0) {
    event.preventDefault();
    isMoved = true;
    choose(list[Math.min(Math.max(at + steps[event.key], 0), list.length - 1)]);
  } else if (event.key === "Enter") {
    // Where the server searches and has not answered yet, the form asks it.
    if (box.value.trim() === "" || chosen() || box.dataset.filter === "tile") event.preventDefault();
    // Other apps, boards and pages may still be on their way: the web is offered after them.
    if (chosen()?.id === "web" && find("div#others, div#destinations, #found [data-waits]") && !isSearch(box.value)) return;
    chosen()?.click();
  } else if (event.key === "Escape" && box.value !== "") {
    event.preventDefault();
    box.value = "";
    box.dispatchEvent(new Event("input", { bubbles: true }));
  }
});

// The search, from any page: the one of the first page, in a dialog.
async function openSearch() {
  const here = find("#find");
  if (here) {
    here.focus();
    here.select();
    return;
  }
  const dialog = document.createElement("dialog");
  dialog.id = "quick";
  dialog.setAttribute("closedby", "any");
  dialog.setAttribute("aria-label", frame().search);
  // What is typed before the rest is there is kept.
  const first = document.createElement("input");
  Object.assign(first, { id: "find", type: "search", autocomplete: "off" });
  first.setAttribute("aria-label", frame().search);
  const form = document.createElement("p");
  form.className = "find";
  form.append(first);
  dialog.append(form);
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  first.focus();
  const answer = await fetch("/?all=1").catch(() => null);
  const text = await answer?.text().catch(() => null);
  if (!dialog.open) return;
  if (!text || !answer.ok || new URL(answer.url).pathname !== "/") {
    location.assign("/search");
    return;
  }
  const page = new DOMParser().parseFromString(text, "text/html");
  const parts = all("form.find, .engines, #found", page).map((part) => document.importNode(part, true));
  find("#find", parts[0]).value = first.value;
  dialog.replaceChildren(...parts);
  htmx.process(dialog);
  enrich();
  find("#find").focus();
  if (first.value !== "") find("#find").dispatchEvent(new Event("input", { bubbles: true }));
}

document.addEventListener("keydown", (event) => {
  if (event.altKey || event.shiftKey || frame().search === undefined) return;
  const hasModifier = event.ctrlKey || event.metaKey;
  const isK = hasModifier && event.key.toLowerCase() === "k";
  const types = event.target.closest("input, textarea, select, [contenteditable]");
  const isSlash = event.key === "/" && !hasModifier && !types && !find("#find");
  if (!isK && !isSlash) return;
  event.preventDefault();
  openSearch();
});

document.addEventListener("click", (event) => {
  if (!event.target.closest?.("[data-opens-search]") || event.ctrlKey || event.metaKey) return;
  event.preventDefault();
  event.stopPropagation();
  openSearch();
}, true);

// Whether a text begins with the short name of a search engine.
function isSearch(text) {
  const [short, ...rest] = text.trim().split(/\s+/);
  return rest.length > 0 && engineOf(short) !== undefined;
}

document.addEventListener("keydown", (event) => {
  const menu = event.key === "Escape" && find("details.account[open]");
  if (!menu) return;
  menu.open = false;
  find("summary", menu).focus();
});

// A button that copies the text of a field.
document.addEventListener("click", ({ target }) => {
  const button = target.closest?.("[data-copy]");
  if (!button) {
    // Menus close when something else is clicked.
    for (const menu of all("details.account[open]")) if (!menu.contains(target)) menu.open = false;
    return;
  }
  const field = document.getElementById(button.dataset.copy);
  field.select();
  navigator.clipboard?.writeText(field.value).then(() => (button.textContent = button.dataset.done));
});

// After htmx has put a new page in place of this one. Its icons are looked at as soon as they are there, on its own ground.
document.addEventListener("htmx:afterSwap", ({ target }) => {
  if (target !== document.body) return;
  document.documentElement.dataset.colors = frame().colors ?? "auto";
  document.documentElement.lang = frame().lang ?? "en";
});
document.addEventListener("htmx:afterSettle", ({ target }) => {
  if (target !== document.body) return;
  wearTheme();
  foldSections();
  enrich();
  clearTimeout(nextLook);
  nextLook = setTimeout(renewMarks, 2_000);
  // htmx puts the focus into the field with the same id, which on another page is another field.
  const isOther = location.pathname !== path;
  path = location.pathname;
  forgetNote();
  const { activeElement } = document;
  const isLost = !activeElement || activeElement === document.body;
  if (isLost || (isOther && !activeElement.autofocus)) find("#main")?.focus({ preventScroll: stays > 0 });
  // After htmx has scrolled to the top.
  const top = stays;
  stays = 0;
  if (top > 0) queueMicrotask(() => scrollTo({ top, behavior: "instant" }));
});
let path = location.pathname;
let stays = 0;

// htmx leaves HEAD as it was.
function wearTheme() {
  const { theme, icon } = frame();
  const tab = find('link[rel="icon"]');
  if (icon && tab.getAttribute("href") !== icon) {
    tab.removeAttribute("type");
    tab.href = icon;
  }
  const worn = find("#theme");
  if (worn?.getAttribute("href") === theme) return;
  if (theme) {
    const link = document.createElement("link");
    Object.assign(link, { id: "theme", rel: "stylesheet", href: theme });
    document.head.append(link);
  }
  worn?.remove();
}

// The menu for managing begins closed on phones.
function foldSections() {
  const menu = find("details.sections");
  if (!menu) return;
  if (matchMedia("(max-width: 56rem)").matches) menu.open = false;
  menu.dataset.folds = "";
}
foldSections();

// An icon that is chosen, or typed, is shown next to its field and on the tile of the preview.
function previewIcon(address) {
  for (const picture of all("#icon-preview, #preview .picture")) {
    delete picture.dataset.initial;
    picture.replaceChildren();
    if (!address) continue;
    const image = new Image(40, 40);
    image.alt = "";
    image.dataset.initial = "?";
    image.src = address;
    picture.append(image);
  }
}

// The tile of the preview says what is typed.
document.addEventListener("input", ({ target }) => {
  const preview = find("#preview");
  if (!preview || !["name", "description"].includes(target.id)) return;
  if (target.id === "name") find(".name", preview).textContent = target.value.trim() || preview.dataset.noName;
  else find(".about", preview).textContent = target.value.trim();
});

document.addEventListener("change", ({ target }) => {
  if (target.id === "iconUrl") {
    const url = target.value.trim();
    if (url.startsWith("data:image/") || url.startsWith("/api/pictures/")) previewIcon(url);
    else previewIcon(/^https?:/i.test(url) ? `/icons/preview?url=${encodeURIComponent(url)}` : "");
  } else if (target.name === "icon-choice" && target.value !== "") {
    find("#iconUrl").value = target.value;
    previewIcon(target.dataset.preview);
  }
});

// What is typed into the field counts, and no icon that was chosen before.
document.addEventListener("input", ({ target }) => {
  const typed = find('input[name="icon-choice"][value=""]');
  if (target.id === "iconUrl" && typed) typed.checked = true;
});

// Clocks show the time of day where they are, or where the reader is.
function tick() {
  for (const clock of all(".hour")) {
    const timeZone = clock.dataset.zone || undefined;
    const say = (options) => new Intl.DateTimeFormat(document.documentElement.lang, { ...options, timeZone }).format();
    try {
      clock.textContent = say({ hour: "numeric", minute: "2-digit" });
      clock.nextElementSibling.textContent = say({ weekday: "short", day: "numeric", month: "long" });
    } catch {
      // A time zone that this browser does not know.
      clock.textContent = "?";
    }
  }
}
setInterval(tick, 5_000);

// What a page without scripts does not have: buttons that copy, times in the reader's own time zone, clocks that go, and
// what moves the parts of a board.
function enrich() {
  tick();
  const script = find("[data-script]")?.dataset.script;
  if (script) import(script);
  // Icons that failed before this script ran.
  for (const image of all("img[data-initial]")) {
    if (image.complete) plate(image);
    if (image.complete && image.naturalWidth === 0) image.decode().catch(() => replaceIcon(image));
  }
  for (const button of all("[data-copy][hidden]")) button.hidden = false;
  const say = (moment, options) => new Intl.DateTimeFormat(document.documentElement.lang, options).format(moment);
  for (const time of all("time[datetime]:not([title])")) {
    const moment = new Date(time.dateTime);
    if (Number.isNaN(moment.getTime())) continue;
    time.title = time.textContent;
    // Where there is little room.
    const isToday = time.closest(".mark, .brief") && moment.toDateString() === new Date().toDateString();
    const day = time.closest(".tile") ? { day: "numeric", month: "short" } : { dateStyle: "medium", timeStyle: "short" };
    time.textContent = say(moment, isToday ? { timeStyle: "short" } : day);
  }
}
enrich();
returnToPlace();
forgetNote();

// Whether apps can be reached: the marks on tiles, and what the page of all says, are renewed while the page is looked at.
const HALF_A_MINUTE = 30_000;
let nextLook = setTimeout(renewMarks, 2_000);
let lastLook = Date.now();

async function renewMarks() {
  clearTimeout(nextLook);
  nextLook = setTimeout(renewMarks, HALF_A_MINUTE);
  const from = find("[data-status-from]")?.dataset.statusFrom;
  if (!from || document.visibilityState !== "visible") return;
  lastLook = Date.now();
  const answer = await fetch(from).catch(() => null);
  // Those whose session has ended see the page as it was.
  if (!answer?.ok || new URL(answer.url).pathname !== new URL(from, location).pathname) return;
  const marks = new DOMParser().parseFromString(await answer.text(), "text/html");
  for (const mark of all("[data-status-of]", marks)) {
    for (const old of all(`[data-status-of="${CSS.escape(mark.dataset.statusOf)}"]`)) {
      old.replaceWith(document.importNode(mark, true));
    }
  }
  enrich();
  // The first checks have just begun.
  if (find(".mark.is-unknown")) {
    clearTimeout(nextLook);
    nextLook = setTimeout(renewMarks, 5_000);
  }
}
document.addEventListener("visibilitychange", () => Date.now() - lastLook > HALF_A_MINUTE && renewMarks());

// A proxy may not tell the host at which address the page was opened; the browser knows.
for (const link of all(".elsewhere a")) if (link.origin === location.origin) link.parentElement.remove();

// A picture that is larger than the field takes is drawn smaller before it is sent.
document.addEventListener("change", async ({ target }) => {
  const most = Number(target.dataset?.fit);
  const [file] = (most && target.files) || [];
  if (!file) return;
  const picture = await createImageBitmap(file).catch(() => null);
  // What cannot be drawn is sent as it is, and refused with the reason.
  if (!picture) return;
  const side = Number(target.dataset.side ?? 512);
  // Few bytes can hold many pixels.
  const isSmall = file.size <= most && Math.max(picture.width, picture.height) <= Math.max(2048, side);
  for (const part of isSmall ? [] : [1, 0.75, 0.5, 0.25, 0.125]) {
    const smaller = await drawn(picture, side * part);
    if (smaller && smaller.size <= most && target.files[0] === file) {
      const files = new DataTransfer();
      files.items.add(new File([smaller], file.name, { type: smaller.type }));
      target.files = files.files;
      break;
    }
  }
  picture.close();
});

function drawn(picture, side) {
  const scale = Math.min(1, side / Math.max(picture.width, picture.height));
  const canvas = document.createElement("canvas");
  canvas.width = Math.max(1, Math.round(picture.width * scale));
  canvas.height = Math.max(1, Math.round(picture.height * scale));
  canvas.getContext("2d").drawImage(picture, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve) => canvas.toBlob(resolve, "image/webp", 0.9));
}
