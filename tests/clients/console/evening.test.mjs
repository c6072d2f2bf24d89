// A first evening, from an empty service to a shared board, a disabled user and the audit log. It begins without a user.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { launch, open, password, url } from "./browser.mjs";

let browser;
before(async () => (browser = await launch()));
after(() => browser?.close());

const button = (page, name) => page.getByRole("button", { name, exact: true });

test("a first evening", async (evening) => {
  const page = await open(browser);
  const other = await open(browser, { locale: "de-DE" });
  let link;

  await evening.test("the first start makes an administrator", async () => {
    await page.goto(url);
    await page.getByRole("heading", { name: "Welcome to Portico" }).waitFor();
    await page.fill("#username", "ada");
    await page.fill("#password", password);
    await button(page, "Create administrator").click();
    await page.getByRole("heading", { name: "Portico is ready" }).waitFor();
  });

  await evening.test("an app is made by keyboard alone", async () => {
    await page.locator("body").press("Tab");
    for (let step = 0; step < 120; step++) {
      if ((await page.evaluate(() => document.activeElement.getAttribute("href"))) === "/apps/new") break;
      await page.keyboard.press("Tab");
    }
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "New app" }).waitFor();
    await page.waitForFunction(() => document.activeElement.id === "address");
    await page.keyboard.type("nextcloud.invalid");
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => document.activeElement.id === "name");
    assert.equal(await page.inputValue("#name"), "Nextcloud");
    assert.equal(await page.inputValue("#href"), "https://nextcloud.invalid");
    await page.keyboard.press("Enter");
    await page.getByText("Created.").waitFor();
    await page.locator("th", { hasText: "Nextcloud" }).waitFor();
  });

  await evening.test("many apps are made from a list", async () => {
    await page.goto(`${url}/apps/many`);
    await page.locator("main textarea").fill("Jellyfin | https://jellyfin.example\nGrafana | https://grafana.example");
    await button(page, "Look at it first").click();
    await button(page, "Add all").click();
    await page.getByText("Created.").waitFor();
    await page.locator("th", { hasText: "Grafana" }).waitFor();
  });

  await evening.test("an invite's link is shown once", async () => {
    await page.goto(`${url}/invites`);
    await button(page, "Create link").click();
    link = await page.locator("#invite-link").inputValue();
    assert.ok(link.startsWith(`${url}/register?invite=`), link);
    await page.reload();
    assert.ok(!(await page.content()).includes(link.split("token=")[1]));
  });

  await evening.test("a link that is cut or has expired says so before anything is typed", async () => {
    await other.goto(link.split("&token=")[0]);
    await other.getByText("Dieser Link ist unvollständig.").waitFor();
    assert.equal(await other.locator("#username").count(), 0);
    let short;
    // Far enough ahead for this machine, whatever else it does.
    for (let ahead = 1_000; !short?.ok(); ahead *= 2) {
      const data = { expirationDate: new Date(Date.now() + ahead).toISOString() };
      short = await page.request.post(`${url}/api/trpc/invite.createInvite`, { data, headers: { origin: url } });
      assert.ok([200, 400].includes(short.status()), await short.text());
    }
    const { id, token } = (await short.json()).result.data;
    const expired = other.getByText("Diese Einladung ist abgelaufen.");
    do await other.goto(`${url}/register?invite=${id}&token=${token}`);
    while ((await expired.count()) === 0);
    assert.equal(await other.locator("#username").count(), 0);
  });

  await evening.test("a second person registers in another browser, in German", async () => {
    // Some programs write the link as HTML.
    await other.goto(link.replace("&token=", "&amp;token="));
    await other.getByRole("heading", { name: "Konto anlegen" }).waitFor();
    await other.fill("#username", "grace");
    await other.fill("#email", "grace@example.com");
    await other.fill("#password", password);
    await button(other, "Konto anlegen").click();
    await other.waitForURL(`${url}/`);
    await other.goto(link);
    await other.getByText("Diese Einladung gilt nicht.").waitFor();
    assert.equal(await other.locator("#username").count(), 0);
    await other.goto(`${url}/apps/new`);
    await other.getByRole("heading", { name: "Das ist Ihnen nicht erlaubt" }).waitFor();
  });

  await evening.test("a board is made, filled and shared", async () => {
    await page.goto(`${url}/manage/boards/new`);
    await page.fill("#name", "Evening");
    await button(page, "Create").click();
    await page.getByRole("heading", { name: "Edit board" }).waitFor();
    for (const app of ["Jellyfin", "Nextcloud"]) {
      await page.fill("#app-query", app);
      await button(page, "Search").click();
      await page.locator("#apps-found").getByLabel(app).check();
      await button(page, "Add the selected apps").click();
      await button(page, `Move ${app} one place back`).waitFor();
    }
    await button(page, "Move Nextcloud one place back").click();
    await button(page, "Save").click();
    await page.getByText("Saved.").waitFor();
    const names = await page.locator(".board .tile .name").allInnerTexts();
    assert.deepEqual(names, ["Nextcloud", "Jellyfin"]);
    await page.getByRole("link", { name: "Edit" }).click();
    await page.locator(".settings summary").click();
    await page.getByRole("link", { name: "Share" }).click();
    await page.fill("#q", "grace");
    await button(page, "Search").click();
    await button(page, "Add grace").click();
    await button(page, "Remove grace").waitFor();
  });

  await evening.test("the second person sees it, makes it their home, and loses nothing by reloading", async () => {
    await other.goto(`${url}/profile`);
    await other.locator("#homeBoardId").selectOption({ label: "Evening" });
    await other.locator("form", { has: other.locator("select#homeBoardId") }).getByRole("button").first().click();
    await other.getByText("Gespeichert.").waitFor();
    await other.goto(url);
    await other.locator(".tile .name", { hasText: "Jellyfin" }).waitFor();
    assert.equal(await other.locator(".tile .name").count(), 2);
  });

  await evening.test("disabling ends the second person's session at once", async () => {
    await page.goto(`${url}/users`);
    await page.getByRole("link", { name: "grace", exact: true }).first().click();
    await button(page, "Disable").click();
    await button(page, "Enable").waitFor();
    await other.goto(url);
    await other.getByText("Anmelden").first().waitFor();
    assert.ok(other.url().includes("/sign-in"));
  });

  await evening.test("deleting says what goes along", async () => {
    await page.getByRole("link", { name: "Delete user" }).click();
    await page.getByText("What goes with the user").waitFor();
    await button(page, "Delete user").click();
    await page.getByText("Deleted.").waitFor();
  });

  await evening.test("the audit log has it all", async () => {
    await page.goto(`${url}/audit`);
    const log = await page.locator("main").innerText();
    for (const what of ["Delete a user", "Disable or enable a user", "Share a board", "Register with an invite", "Create apps"]) {
      assert.ok(log.includes(what), `${what} is missing in ${log}`);
    }
    await page.getByRole("link", { name: "Evening", exact: true }).first().click();
    await page.waitForURL(/\/boards\//);
  });
  page.assertQuiet();
});
