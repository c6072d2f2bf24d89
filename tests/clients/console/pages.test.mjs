// Every page: what axe finds in light and dark, at two widths, and that nothing goes beyond the screen.

import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { after, before, test } from "node:test";
import { faults, launch, open, signIn, url } from "./browser.mjs";

const { PORTICO_PAGES, SCREENSHOTS } = process.env;

let browser;
before(async () => (browser = await launch()));
after(() => browser?.close());

test("every page is accessible in light and dark and fits, on a desk and on a phone", async () => {
  // Colours change at once.
  const page = await open(browser, { reducedMotion: "reduce" });
  const found = [];
  const look = async (path) => {
    await page.setViewportSize({ width: 1280, height: 800 });
    const answer = await page.goto(url + path);
    assert.equal(answer.status(), 200, path);
    // Pages follow the machine without being loaded anew.
    for (const width of [1280, 390]) {
      await page.setViewportSize({ width, height: 800 });
      const grounds = new Set();
      for (const colorScheme of ["light", "dark"]) {
        await page.emulateMedia({ colorScheme });
        grounds.add(await page.evaluate(() => getComputedStyle(document.body).backgroundColor));
        for (const fault of await faults(page)) found.push(`${path} ${colorScheme} ${width} wide: ${fault}`);
        if (SCREENSHOTS) {
          mkdirSync(SCREENSHOTS, { recursive: true });
          const name = path.replace(/[0-9a-f-]{36}/g, "ID").replace(/[^A-Za-z]+/g, "-").replace(/^-|-$/g, "") || "home";
          await page.screenshot({ path: `${SCREENSHOTS}/${name}-${colorScheme}-${width}.png` });
        }
      }
      assert.equal(grounds.size, 2, path);
      const beyond = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      if (beyond > 0) found.push(`${path} is ${beyond} px too wide at ${width} px`);
    }
  };
  await look("/sign-in");
  await signIn(page);
  const session = await page.context().request.post(`${url}/api/trpc/user.changeColorScheme`, {
    data: { colorScheme: "auto" },
    headers: { origin: url },
  });
  assert.equal(session.status(), 200);
  for (const path of JSON.parse(PORTICO_PAGES)) await look(path);
  assert.deepEqual(found, []);
  page.assertQuiet();
});
