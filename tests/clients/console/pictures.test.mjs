// The sample household (`portico demo`), and a service that begins: with 3, 40 and 300 apps, at two widths, in light and dark,
// nothing moves and nothing goes beyond the screen. Where SCREENSHOTS names a folder, it gets a picture of each; `make pictures`
// chooses those of the docs.

import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { launch, open, password, shifts, signIn, url, watchShifts } from "./browser.mjs";

const { SCREENSHOTS, PORTICO_EMPTY, PORTICO_EMPTY_PASSWORD } = process.env;

// Pictures show all; the test itself is content with less.
const looks = (SCREENSHOTS ? ["light", "dark"] : ["light"]).flatMap((colors) => [1280, 390].map((width) => [colors, width]));

let browser;
before(async () => (browser = await launch()));
after(() => browser?.close());

// An evening of today, in the time zone in which the pages say since when something is down.
const evening = new Date();
evening.setUTCHours(18, 14, 0, 0);

// Services that have no drawing, and apps of the household that are like them.
const LIKE = {
  emby: "Jellyfin", plex: "Jellyfin", komga: "Kavita", photoprism: "Immich", tautulli: "Grafana", bazarr: "Stirling PDF",
  lidarr: "Navidrome", radarr: "Jellyseerr", sonarr: "Radio", prowlarr: "Uptime Kuma", qbittorrent: "Syncthing",
  transmission: "Nextcloud", sabnzbd: "Kopia",
};

/** A person's window at a service. */
async function person(home, name, secret, colorScheme, width) {
  const page = await open(browser, {
    colorScheme,
    viewport: { width, height: 800 },
    deviceScaleFactor: SCREENSHOTS ? 1.5 : 1,
    locale: "en-GB",
    timezoneId: "UTC",
  });
  await page.clock.setFixedTime(evening);
  await watchShifts(page);
  await signIn(page, name, { home, secret });
  await call(page, home, "user.changeColorScheme", { colorScheme: "auto" });
  return page;
}

/** Calls a procedure as the person of a window. */
async function call(page, home, procedure, input) {
  const path = `${home}/api/trpc/${procedure}`;
  const answer = await (input === undefined
    ? page.request.get(path)
    : page.request.post(path, { data: input, headers: { origin: home } }));
  assert.equal(answer.status(), 200, `${procedure}: ${await answer.text()}`);
  return (await answer.json()).result?.data;
}

/** Opens a page, which has to stand still, and takes a picture of it. */
async function show(page, address, name, { until = "main", colors, width }) {
  await page.goto(address);
  await page.locator(until).first().waitFor();
  await page.waitForFunction(() => document.querySelector(".mark.is-unknown") === null);
  // The pictures in view.
  await page.waitForFunction(() =>
    [...document.images].every((image) => image.complete || image.getBoundingClientRect().top > innerHeight),
  );
  assert.deepEqual(await shifts(page), [], `${name} moves`);
  const beyond = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  assert.ok(beyond <= 0, `${name} is ${beyond} px too wide`);
  if (!SCREENSHOTS) return;
  const taken = (await page.screenshot()).toString("base64");
  const blank = await page.context().newPage();
  const webp = await blank.evaluate(async (taken) => {
    const image = new Image();
    image.src = `data:image/png;base64,${taken}`;
    await image.decode();
    const canvas = Object.assign(document.createElement("canvas"), { width: image.width, height: image.height });
    canvas.getContext("2d").drawImage(image, 0, 0);
    return canvas.toDataURL("image/webp", 0.8).split(",")[1];
  }, taken);
  await blank.close();
  mkdirSync(SCREENSHOTS, { recursive: true });
  writeFileSync(`${SCREENSHOTS}/${name}-${colors}-${width}.webp`, Buffer.from(webp, "base64"));
}

test("the household: home, a board in edit, status and looks", async () => {
  for (const [colors, width] of looks) {
    const page = await person(url, "ada", password, colors, width);
    const how = { colors, width };
    await show(page, `${url}/`, "home", { ...how, until: ".mark.is-up" });
    await show(page, `${url}/?all=1`, "all", { ...how, until: ".mark.is-down" });
    const edit = await page.goto(`${url}/`).then(() => page.getByRole("link", { name: "Edit" }).getAttribute("href"));
    await show(page, url + edit, "edit", how);
    await show(page, `${url}/status`, "status", { ...how, until: ".mark.is-down" });
    await show(page, `${url}/manage/looks`, "looks", how);
    page.assertQuiet();
    await page.context().close();
  }
});

test("a first evening: the catalogue, 3 apps and 300", async () => {
  const ada = await person(url, "ada", password, "light", 1280);
  const drawn = await call(ada, url, "app.all");
  await ada.context().close();
  const apps = ["", "Attic", "Cabin", "Lab", "Loft", "Office", "Shed", "Studio"]
    .flatMap((place) => drawn.map((app) => ({ ...app, name: `${place} ${app.name}`.trim() })))
    .map(({ name, description, href, iconUrl }) => ({ name, description, href, iconUrl }))
    .slice(0, 300);
  const each = async (name, path, options) => {
    for (const [colors, width] of looks) {
      const page = await person(PORTICO_EMPTY, "root", PORTICO_EMPTY_PASSWORD, colors, width);
      // No collection of icons is asked: the household's own stand for them, in other colours where they stand for others.
      await page.route(/\/icons\/named\//, (route) => {
        const slug = route.request().url().split("/").at(-1);
        const own = drawn.find(({ name }) => name.toLowerCase().replaceAll(" ", "-") === slug);
        const like = drawn.find(({ name }) => name === LIKE[slug]);
        const sum = [...slug].reduce((sum, letter) => sum * 31 + letter.charCodeAt(0), 7);
        const { iconUrl } = own ?? like ?? drawn[sum % drawn.length];
        const svg = decodeURIComponent(iconUrl.slice("data:image/svg+xml,".length));
        const body = own ? svg : svg.replaceAll(/stop-color='#(..)(..)(..)'/g, "stop-color='#$2$3$1'");
        return route.fulfill({ contentType: "image/svg+xml", body });
      });
      await show(page, PORTICO_EMPTY + path, name, { ...options, colors, width });
      page.assertQuiet({ home: PORTICO_EMPTY });
      await page.context().close();
    }
  };
  await each("first", "/welcome", { until: ".service" });
  const page = await person(PORTICO_EMPTY, "root", PORTICO_EMPTY_PASSWORD, "light", 1280);
  const some = ["Jellyfin", "Immich", "Home Assistant"];
  await call(page, PORTICO_EMPTY, "app.createMany", apps.filter(({ name }) => some.includes(name)));
  await each("three", "/", { until: "a.tile" });
  await call(page, PORTICO_EMPTY, "app.createMany", apps.filter(({ name }) => !some.includes(name)));
  await call(page, PORTICO_EMPTY, "site.update", { density: "icons" });
  await page.goto(`${PORTICO_EMPTY}/`);
  assert.equal(await page.locator("#found .tiles a.tile").count(), 300);
  await page.context().close();
  await each("many", "/", { until: "a.tile" });
});
