// What a page does around a change: colours, focus, going back, waiting, and addresses where there is nothing.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { launch, noise, open, settled, signIn, url } from "./browser.mjs";

let browser;
before(async () => (browser = await launch()));
after(() => browser?.close());

const ground = (page) => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
const focused = (page) => page.evaluate(() => document.activeElement.id || document.activeElement.className);
const button = (page, name) => page.getByRole("button", { name, exact: true });

test("chosen colours are there at once, and what was said of the change is not repeated", async () => {
  const page = await open(browser, { colorScheme: "light" });
  await signIn(page, "grace");
  await page.goto(`${url}/profile`);
  for (const [scheme, color] of [["light", "rgb(245, 246, 248)"], ["dark", "rgb(16, 19, 23)"], ["auto", "rgb(245, 246, 248)"]]) {
    await page.locator(`input[name="colorScheme"][value="${scheme}"]`).check();
    const card = page.locator("section", { has: page.locator('input[name="colorScheme"]') });
    await settled(page, () => card.getByRole("button", { name: "Save" }).click());
    await page.getByText("Saved.").waitFor();
    assert.equal(await ground(page), color, scheme);
    await page.waitForURL(`${url}/profile`);
  }
  await page.reload();
  await page.getByRole("heading", { name: "Profile" }).waitFor();
  assert.equal(await page.getByText("Saved.").count(), 0);
  page.assertQuiet();
});

test("after an error the focus is in the field that has it, and after a change at the beginning of its page", async () => {
  const page = await open(browser);
  await signIn(page);
  await page.goto(`${url}/apps/new`);
  await page.getByText("Fill in everything by hand").click();
  await page.fill("#name", "Music");
  await page.fill("#href", "javascript:alert(1)");
  await page.locator("#href").press("Enter");
  await page.locator("#href-problem").waitFor();
  await page.waitForFunction(() => document.activeElement.id === "href");
  await page.goto(`${url}/groups/new`);
  await page.fill("#name", "readers");
  await settled(page, () => page.locator("#name").press("Enter"));
  await page.getByRole("heading", { name: "readers" }).waitFor();
  assert.equal(await focused(page), "main");
  page.assertQuiet();
});

test("Escape closes the menu of the account, and its button has the focus", async () => {
  const page = await open(browser);
  await signIn(page);
  await page.locator("details.account summary").click();
  await page.keyboard.press("Tab");
  await page.keyboard.press("Escape");
  assert.equal(await page.locator("details.account[open]").count(), 0);
  assert.equal(await page.evaluate(() => document.activeElement.tagName), "SUMMARY");
});

test("saving leads back to the page and search of the list, and Back to where it was scrolled", async () => {
  const page = await open(browser, { viewport: { width: 1280, height: 400 } });
  await signIn(page);
  await page.goto(`${url}/apps`);
  await page.fill("#q", "i");
  await page.waitForURL(`${url}/apps?q=i`);
  await page.locator("th", { hasText: "Nextcloud" }).waitFor({ state: "detached" });
  await page.getByRole("link", { name: "Edit Vaultwarden" }).waitFor({ state: "detached" });
  const edit = page.getByRole("link", { name: "Edit Portainer" });
  await edit.scrollIntoViewIfNeeded();
  const scrolled = await page.evaluate(() => scrollY);
  assert.ok(scrolled > 0);
  await edit.click();
  await page.getByRole("heading", { name: "Edit app" }).waitFor();
  await page.goBack();
  await page.locator("th", { hasText: "Portainer" }).waitFor();
  await page.waitForFunction((scrolled) => scrollY === scrolled, scrolled);
  assert.equal(await page.inputValue("#q"), "i");
  await page.getByRole("link", { name: "Edit Portainer" }).click();
  await button(page, "Save").click();
  await page.getByText("Saved.").waitFor();
  await page.waitForURL(`${url}/apps?q=i`);
  page.assertQuiet();
});

test("a slow answer shows that it is waited for, and a second press changes nothing", async () => {
  const page = await open(browser);
  await signIn(page);
  await page.goto(`${url}/groups/new`);
  let sent = 0;
  let answer;
  const held = new Promise((resolve) => (answer = resolve));
  await page.route("**/groups/new", async (route) => {
    sent++;
    await held;
    await route.continue();
  });
  await page.fill("#name", "slow");
  const create = button(page, "Create group");
  await create.click();
  await page.locator("html.waits").waitFor();
  assert.equal(await create.getAttribute("aria-busy"), "true");
  await create.click();
  await page.locator("#name").press("Enter");
  answer();
  await page.getByRole("heading", { name: "slow" }).waitFor();
  await page.locator("html:not(.waits)").waitFor();
  assert.equal(sent, 1);
  // Also where only a part of the page is replaced.
  await page.goto(`${url}/apps/catalogue`);
  let add;
  const adding = new Promise((resolve) => (add = resolve));
  await page.route("**/apps/catalogue", async (route) => {
    sent++;
    await adding;
    await route.continue();
  });
  const plex = page.locator("button#add-plex");
  await plex.click();
  await page.locator("html.waits").waitFor();
  assert.equal(await plex.getAttribute("aria-busy"), "true");
  await plex.click();
  add();
  await page.locator("a#add-plex").waitFor();
  await page.locator("html:not(.waits)").waitFor();
  assert.equal(sent, 2);
  page.assertQuiet();
});

test("every address has a page or leads to one", async () => {
  const page = await open(browser);
  await signIn(page);
  assert.equal((await page.goto(`${url}/nonsense`)).status(), 404);
  await page.getByRole("heading", { name: "There is nothing here" }).waitFor();
  assert.equal((await page.goto(`${url}/apps/?q=pi`)).status(), 200);
  assert.equal(page.url(), `${url}/apps?q=pi`);
  const icon = await page.context().request.get(`${url}/favicon.ico`);
  assert.equal(icon.headers()["content-type"], "image/svg+xml");
});

test("two tabs that edit one app do not undo each other", async () => {
  const page = await open(browser);
  await signIn(page);
  await page.goto(`${url}/apps?q=Gitea`);
  await page.getByRole("link", { name: "Edit Gitea" }).click();
  await page.getByRole("heading", { name: "Edit app" }).waitFor();
  const other = await page.context().newPage();
  await other.goto(page.url());
  await other.fill("#description", "Repositories");
  await button(other, "Save").click();
  await other.getByText("Saved.").waitFor();
  await page.fill("#name", "Forge");
  await button(page, "Save").click();
  await page.getByText("Saved.").waitFor();
  await page.goto(`${url}/apps?q=Forge`);
  await page.getByText("Repositories").waitFor();
  page.assertQuiet();
});

/** What two tabs say of the page of one record, after it was opened in both. */
async function inTwoTabs(address, work) {
  const page = await open(browser);
  await signIn(page);
  await page.goto(address);
  const other = await page.context().newPage();
  await other.goto(page.url());
  await work(page, other);
  page.assertQuiet();
  await page.context().close();
}

/** Saves the card of a page in which this field is, and waits for the answer. */
async function save(page, field, value) {
  await page.fill(field, value);
  const form = page.locator("form", { has: page.locator(field) });
  await settled(page, () => form.getByRole("button", { name: "Save", exact: true }).click());
}

/** Two tabs change two fields, and then one, of a record. `reopen` leads to its page. */
async function changeTogether(page, other, [first, second], reopen) {
  await save(other, first, "changed there");
  await save(page, second, "changed-here@example.com");
  await reopen(page);
  assert.equal(await page.inputValue(first), "changed there");
  assert.equal(await page.inputValue(second), "changed-here@example.com");
  await reopen(other);
  await save(other, first, "again there");
  await save(page, first, "again here");
  // What is stored is shown, and not overwritten.
  assert.match(await page.locator(`${first}-problem`).innerText(), /changed meanwhile, to: again there/);
  assert.equal(await page.inputValue(first), "again here");
  await reopen(other);
  assert.equal(await other.inputValue(first), "again there");
  await save(page, first, "again here");
  await reopen(other);
  assert.equal(await other.inputValue(first), "again here");
}

test("two tabs that edit one search engine do not undo each other", async () => {
  const page = await open(browser);
  await signIn(page);
  await page.goto(`${url}/engines`);
  const edit = await page.getByRole("link", { name: "Edit Library" }).getAttribute("href");
  await inTwoTabs(url + edit, (page, other) =>
    changeTogether(page, other, ["#name", "#description"], (tab) => tab.goto(url + edit)),
  );
});

test("two tabs that edit one user do not undo each other", async () => {
  const page = await open(browser);
  await signIn(page);
  await page.goto(`${url}/users/new`);
  await page.fill("#username", "hopper");
  await page.fill("#password", "correct horse battery");
  await page.locator("#password").press("Enter");
  const link = page.getByRole("link", { name: "hopper", exact: true });
  const address = url + (await link.getAttribute("href"));
  await inTwoTabs(address, (page, other) =>
    changeTogether(page, other, ["#name", "#email"], (tab) => tab.goto(address)),
  );
});

test("two tabs that edit one group do not undo each other", async () => {
  const page = await open(browser);
  await signIn(page);
  await page.goto(`${url}/groups/new`);
  await page.fill("#name", "cooks");
  await page.locator("#name").press("Enter");
  await page.getByRole("heading", { name: "cooks" }).waitFor();
  await inTwoTabs(page.url(), async (page, other) => {
    const address = page.url();
    const tick = async (tab, permission) => {
      const box = tab.locator(`input[name="permissions"][value="${permission}"]`);
      await box.check();
      const form = tab.locator("form", { has: box });
      await settled(tab, () => form.getByRole("button", { name: "Save", exact: true }).click());
    };
    await tick(other, "app-create");
    await tick(page, "board-create");
    await page.goto(address);
    for (const permission of ["app-create", "board-create"]) {
      assert.ok(await page.locator(`input[name="permissions"][value="${permission}"]`).isChecked(), permission);
    }
    await other.goto(address);
    await save(other, "#name", "bakers");
    await save(page, "#name", "brewers");
    assert.match(await page.locator("#name-problem").innerText(), /changed meanwhile, to: bakers/);
    await other.goto(address);
    assert.equal(await other.inputValue("#name"), "bakers");
    await save(page, "#name", "brewers");
    await other.goto(address);
    assert.equal(await other.inputValue("#name"), "brewers");
  });
});

/** Chooses in the field of a card, saves the card, and waits for the answer. */
async function choose(page, field, label) {
  const form = page.locator("form", { has: page.locator(field) });
  await form.locator(field).selectOption({ label });
  await settled(page, () => form.getByRole("button", { name: "Save", exact: true }).click());
}

test("two tabs that choose preferences do not undo each other", async () => {
  await inTwoTabs(`${url}/profile`, async (page, other) => {
    const dark = page.locator('input[name="colorScheme"][value="dark"]');
    await dark.check();
    await choose(page, "#firstDayOfWeek", "Sunday");
    await choose(other, "#firstDayOfWeek", "Saturday");
    const said = await other.locator("#appearance-title ~ form .problems").innerText();
    assert.match(said, /First day of the week: This was changed meanwhile, to: Sunday/);
    assert.ok(await other.locator('input[name="colorScheme"][value="dark"]').isChecked(), "what was not edited is what is stored");
    await choose(other, "#firstDayOfWeek", "Saturday");
    await choose(page, "#homeBoardId", "Kitchen");
    await choose(other, "#mobileHomeBoardId", "Kitchen");
    await page.goto(`${url}/profile`);
    assert.ok(await dark.isChecked());
    assert.equal(await page.locator("#firstDayOfWeek option:checked").innerText(), "Saturday");
    for (const field of ["#homeBoardId", "#mobileHomeBoardId"]) {
      assert.equal(await page.locator(`${field} option:checked`).innerText(), "Kitchen", field);
      await page.locator(field).selectOption({ label: "No choice of your own" });
    }
    // The other tests begin without a home board, and with the colours of the device.
    await choose(page, "#homeBoardId", "No choice of your own");
    await page.locator('input[name="colorScheme"][value="auto"]').check();
    await choose(page, "#firstDayOfWeek", "Monday");
  });
});

test("two tabs that share one board do not undo each other", async () => {
  const page = await open(browser);
  await signIn(page);
  await page.goto(`${url}/manage/boards`);
  const address = url + (await page.getByRole("link", { name: "Share Kitchen" }).getAttribute("href"));
  await inTwoTabs(`${address}?q=grace`, async (page, other) => {
    await settled(page, () => button(page, "Add grace").click());
    await page.goto(address);
    await other.goto(address);
    await settled(other, () => other.getByRole("button", { name: /change.*grace|grace.*change/i }).click());
    // This tab still shows that grace may only see it.
    await settled(page, () => button(page, "Remove grace").click());
    assert.match(await page.locator("main").innerText(), /changed meanwhile/);
    await other.goto(address);
    assert.equal(await button(other, "Remove grace").count(), 1, "nothing was removed");
    await settled(page, () => button(page, "Remove grace").click());
    await other.goto(address);
    assert.equal(await button(other, "Remove grace").count(), 0);
  });
});

test("saving on the page of a user or a group stays there, and their list stays as it was", async () => {
  const page = await open(browser, { viewport: { width: 1280, height: 500 } });
  await signIn(page);
  await page.goto(`${url}/users?q=gra`);
  await page.getByRole("link", { name: "grace", exact: true }).click();
  await page.getByRole("heading", { name: "grace" }).waitFor();
  const email = page.locator("#email");
  await email.fill("grace@example.org");
  await email.scrollIntoViewIfNeeded();
  const scrolled = await page.evaluate(() => scrollY);
  assert.ok(scrolled > 0);
  await settled(page, () => email.press("Enter"));
  assert.equal(await page.evaluate(() => scrollY), scrolled);
  const note = page.getByText("Saved.");
  await note.waitFor();
  const box = await note.boundingBox();
  assert.ok(box.y >= 0 && box.y < 500, "what was said of the change is in view");
  // Also after a change, the list is where it was.
  await page.getByRole("link", { name: "Delete user" }).click();
  await page.getByRole("link", { name: "Cancel" }).click();
  await page.getByRole("heading", { name: "grace" }).waitFor();
  await page.getByRole("main").getByRole("link", { name: "Users", exact: true }).click();
  await page.waitForURL(`${url}/users?q=gra`);
  page.assertQuiet();
});

test("a search engine is one click, and one of one's own an address", async () => {
  const page = await open(browser);
  await signIn(page);
  await page.goto(`${url}/engines`);
  await button(page, "DuckDuckGo").click();
  await page.getByText("Created.").waitFor();
  await page.locator("th", { hasText: "DuckDuckGo" }).waitFor();
  await page.fill("#instance", "search.home.lan");
  await page.locator("#instance").press("Enter");
  await page.locator("th", { hasText: "SearXNG" }).waitFor();
  await page.getByText("https://search.home.lan/search?q=%s").waitFor();
  assert.equal(await page.locator("#instance").count(), 0);
  page.assertQuiet();
});

test("a picture of any size is fitted before it is sent", async () => {
  const page = await open(browser);
  await signIn(page, "grace");
  await page.goto(`${url}/profile`);
  const picture = await noise(page, 1500, 1000);
  assert.ok(picture.buffer.length > 1_000_000);
  const field = page.locator('input[type="file"]');
  await field.setInputFiles(picture);
  await page.waitForFunction(() => document.querySelector('input[type="file"]').files[0].size < 262_000);
  await button(page, "Upload").click();
  await page.getByText("Saved.").waitFor();
  const shown = page.locator("img.face.large");
  await shown.waitFor();
  const [width, height] = await shown.evaluate(async (image) => {
    await image.decode();
    return [image.naturalWidth, image.naturalHeight];
  });
  assert.ok(width <= 512 && width > height, `${width} x ${height}`);
  page.assertQuiet();
});

test("a black icon gives way to its variant in dark colours, and has a light plate without one", async () => {
  const page = await open(browser, { colorScheme: "dark" });
  await signIn(page);
  const disc = (color) =>
    `<svg xmlns="http://www.w3.org/2000/svg" width="40" height="40"><circle cx="20" cy="20" r="14" fill="${color}"/></svg>`;
  await page.goto(`${url}/apps/new`);
  await page.getByText("Fill in everything by hand").click();
  await page.fill("#name", "Coal");
  await page.fill("#iconUrl", `data:image/svg+xml,${encodeURIComponent(disc("black"))}`);
  await page.locator("#name").press("Enter");
  await page.getByText("Created.").waitFor();
  await page.goto(`${url}/`);
  const icon = page.locator(".tile", { hasText: "Coal" }).locator("img");
  await icon.and(page.locator(".on-plate")).waitFor();
  let asked = 0;
  await page.route(/on=dark/, (route) => {
    asked++;
    return route.fulfill({ contentType: "image/svg+xml", body: disc("white") });
  });
  await page.reload();
  const isVariant = ({ src, complete, naturalWidth }) => src.includes("on=dark") && complete && naturalWidth > 0;
  await page.waitForFunction(isVariant, await icon.elementHandle());
  assert.equal(await icon.and(page.locator(".on-plate")).count(), 0);
  assert.equal(asked, 1, "other icons are not asked for again");
  // The ground changes with the device, or in the menu of the account.
  const isItself = ({ src, complete, naturalWidth }) => !src.includes("on=") && complete && naturalWidth > 0;
  await page.emulateMedia({ colorScheme: "light" });
  await page.waitForFunction(isItself, await icon.elementHandle());
  await page.emulateMedia({ colorScheme: "dark" });
  await page.waitForFunction(isVariant, await icon.elementHandle());
  await page.locator("details.account summary").click();
  await settled(page, () => page.locator(".menu").getByRole("button", { name: "Light", exact: true }).click());
  await page.waitForFunction(isItself, await icon.elementHandle());
  assert.equal(await icon.and(page.locator(".on-plate")).count(), 0);
  await page.locator("details.account summary").click();
  await settled(page, () => page.locator(".menu").getByRole("button", { name: "As the device", exact: true }).click());
  await page.waitForFunction(isVariant, await icon.elementHandle());
  page.assertQuiet();
});
