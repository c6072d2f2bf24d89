// Chromium, and what every test of a page looks at. PORTICO_URL, PORTICO_PASSWORD (of the users root, an
// administrator, and grace, who is none) and CHROMIUM say what to test with; tests/server/console/browser.rs sets them.

import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { chromium } from "playwright-core";

const { CHROMIUM } = process.env;
export const url = process.env.PORTICO_URL;
export const password = process.env.PORTICO_PASSWORD;

/** Far more than any page takes on a machine that does other work as well. */
const PATIENCE = 120_000;

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

export async function launch(args = []) {
  return chromium.launch({
    executablePath: CHROMIUM,
    headless: true,
    timeout: PATIENCE,
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      ...args,
    ],
  });
}

/**
 * A window of one person. `page.assertQuiet()` says that the browser had nothing to complain about, besides what is
 * `expected`, and asked nothing of hosts but `home`.
 */
export async function open(browser, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, locale: "en-US", ...options });
  context.setDefaultTimeout(PATIENCE);
  const page = await context.newPage();
  const complaints = [];
  const origins = new Set();
  page.on("console", (message) => {
    if (!["error", "warning"].includes(message.type())) return;
    // An icon that cannot be had, and a page that says what was refused, are answers as they should be.
    if (/the server responded with a status of 4(04|22)/.test(message.text())) return;
    complaints.push(message.text());
  });
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("request", (request) => {
    if (/^https?:/.test(request.url())) origins.add(new URL(request.url()).origin);
  });
  await context.addInitScript(() => {
    addEventListener("securitypolicyviolation", ({ violatedDirective, blockedURI, sourceFile, lineNumber, columnNumber }) => {
      console.error(`policy: ${violatedDirective} ${blockedURI} at ${sourceFile}:${lineNumber}:${columnNumber}`);
    });
  });
  page.assertQuiet = ({ home = url, expected = /^$/ } = {}) => {
    assert.deepEqual(complaints.filter((complaint) => !expected.test(complaint)), []);
    assert.ok(origins.size > 0, "nothing was asked");
    for (const origin of origins) assert.equal(new URL(origin).port, new URL(home).port, `a request to ${origin}`);
  };
  return page;
}

/** Runs an action, and waits until htmx has put the page of its answer in place. */
export async function settled(page, action) {
  await page.evaluate(() => {
    window.settled = new Promise((resolve) => {
      // Parts of the page, such as marks, may be put in place before.
      document.addEventListener("htmx:afterSettle", ({ target }) => target === document.body && setTimeout(resolve));
    });
  });
  await action();
  await page.evaluate(() => window.settled);
}

/** Notes what moves in each page that this window opens from now on, besides what follows a press. */
export function watchShifts(page) {
  return page.addInitScript(() => {
    const moved = [];
    const place = ({ x, y, width, height }) => `${width} x ${height} at ${x}, ${y}`;
    const say = ({ node, previousRect, currentRect }) =>
      `${node?.outerHTML?.slice(0, 100) ?? node?.nodeName}: ${place(previousRect)}, then ${place(currentRect)}`;
    const note = (entries) => {
      for (const { value, sources, hadRecentInput } of entries) {
        if (!hadRecentInput) moved.push([value, ...sources.map(say)]);
      }
    };
    const observer = new PerformanceObserver((list) => note(list.getEntries()));
    observer.observe({ type: "layout-shift", buffered: true });
    window.moved = () => {
      note(observer.takeRecords());
      return moved;
    };
  });
}

/** What has moved in the page: how far, and which elements. */
export async function shifts(page) {
  // Two frames later, what was laid out last has been noted.
  await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
  return page.evaluate(() => window.moved());
}

/** Waits until the script that only this page has, has run. */
export async function enriched(page) {
  await page.waitForLoadState();
  await page.evaluate(() => import(document.querySelector("[data-script]").dataset.script));
}

/** The sessions that have begun, by service and user. */
const sessions = new Map();

/**
 * Opens the first page as this user. Only the first window of a user signs in; the others get its session, because a password
 * takes more time than all else on the way.
 */
export async function signIn(page, username = "root", { home = url, secret = password } = {}) {
  const who = `${username} at ${home}`;
  if (sessions.has(who)) {
    await page.context().addCookies(sessions.get(who));
    await page.goto(`${home}/`);
  } else {
    await page.goto(`${home}/sign-in`);
    await page.fill("#username", username);
    await page.fill("#password", secret);
    await page.click("main button");
  }
  await page.waitForURL(`${home}/`);
  const cookies = await page.context().cookies(home);
  sessions.set(who, cookies.filter(({ name }) => name === "portico_session"));
}

/** What axe finds on a page, as one line each. */
export async function faults(page) {
  // The policy of the pages forbids a script tag, so axe is evaluated in the page by the debugger.
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(axe);
  const { violations } = await page.evaluate(() =>
    axe.run(document, {
      runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
      // What passes is not described, no rule of these reads style sheets, and the HTML says which element is meant.
      resultTypes: ["violations"],
      preload: { assets: ["media"] },
      selectors: false,
    }),
  );
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`));
}

/** A PNG of this size with noise, which no format makes small. */
export async function noise(page, width, height) {
  const base64 = await page.evaluate(
    ([width, height]) => {
      const canvas = Object.assign(document.createElement("canvas"), { width, height });
      const drawing = canvas.getContext("2d");
      const data = drawing.createImageData(width, height);
      // Xorshift, in 32 bits.
      let seed = 7;
      for (let at = 0; at < data.data.length; at++) {
        seed ^= seed << 13;
        seed ^= seed >>> 17;
        seed ^= seed << 5;
        data.data[at] = at % 4 === 3 ? 255 : seed & 255;
      }
      drawing.putImageData(data, 0, 0);
      return canvas.toDataURL("image/png").split(",")[1];
    },
    [width, height],
  );
  return { name: "large.png", mimeType: "image/png", buffer: Buffer.from(base64, "base64") };
}

/** The code that an app with this secret shows now (RFC 6238). */
export function code(secret) {
  const bits = [...secret].map((letter) => "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".indexOf(letter).toString(2).padStart(5, "0"));
  const key = Buffer.from(bits.join("").match(/.{8}/g).map((byte) => parseInt(byte, 2)));
  const step = Buffer.alloc(8);
  step.writeBigUInt64BE(BigInt(Math.floor(Date.now() / 30_000)));
  const hash = createHmac("sha1", key).update(step).digest();
  const at = hash.at(-1) & 15;
  return String((hash.readUInt32BE(at) & 0x7fffffff) % 1_000_000).padStart(6, "0");
}
