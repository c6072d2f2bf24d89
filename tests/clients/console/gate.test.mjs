// Two apps behind a proxy that asks the gate, in a browser: one sign-in for both, a right that is lost, signing out; and
// WebSockets, uploads and headers. The apps are servers of this file, which say what reached them.
// tests/server/gate.rs sets GATE_PORT, APP_PORTS and PORTICO_BOARD, a board with the second app.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { createServer, request } from "node:http";
import { after, before, test } from "node:test";
import { faults, launch, open, password, url } from "./browser.mjs";

// BELIEVES_PORTS: the proxy says the port that the client names. DENIED: a path that the proxy itself refuses.
const { GATE_PORT, APP_PORTS, PORTICO_BOARD, BELIEVES_PORTS, DENIED } = process.env;

const at = (name) => `http://${name}.home.example:${GATE_PORT}`;
const [portico, wiki, files] = ["portico", "wiki", "files"].map(at);

/** The last requests that reached the apps: their names and headers. */
const reached = [];
let apps = [];
let browser;

function app(name, port) {
  const server = createServer((asked, answer) => {
    let bytes = 0;
    asked.on("data", (part) => (bytes += part.length));
    asked.on("end", () => {
      // Browsers ask for it when they like.
      if (asked.url === "/favicon.ico") {
        answer.writeHead(404).end();
        return;
      }
      reached.push({ name, path: asked.url, headers: asked.headers, bytes });
      answer.setHeader("content-type", "text/html");
      answer.end(`<!doctype html><title>${name}</title><h1>This is ${name}</h1><p id="user">${asked.headers["remote-user"]}</p>`);
    });
  });
  // A WebSocket that says one word, and any other upgrade that is asked for.
  server.on("upgrade", (asked, socket) => {
    reached.push({ name, path: asked.url, headers: asked.headers });
    const key = createHash("sha1").update(`${asked.headers["sec-websocket-key"]}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest("base64");
    socket.write(`HTTP/1.1 101 Switching Protocols\r\nupgrade: ${asked.headers.upgrade}\r\nconnection: upgrade\r\nsec-websocket-accept: ${key}\r\n\r\n`);
    socket.write(Buffer.from([0x81, 5, ...Buffer.from("hello")]));
    socket.on("error", () => {});
    socket.on("data", () => socket.end());
  });
  return new Promise((listening) => server.listen(Number(port), "127.0.0.1", () => listening(server)));
}

before(async () => {
  apps = await Promise.all(APP_PORTS.split(",").map((port, index) => app(["wiki", "files"][index], port)));
  browser = await launch(["--host-resolver-rules=MAP *.home.example 127.0.0.1"]);
});
after(async () => {
  await browser?.close();
  for (const server of apps) server.closeAllConnections(), server.close();
});

/** Signs this user in at Portico itself. */
async function signedIn(username) {
  const headers = { "content-type": "application/json" };
  const answer = await fetch(`${url}/api/auth/sign-in`, { method: "POST", headers, body: JSON.stringify({ username, password }) });
  return { ...(await answer.json()), cookie: answer.headers.get("set-cookie").split(";")[0] };
}

/** Shares the board with the second app with these users alone. */
async function share(users) {
  const { token } = await signedIn("root");
  const headers = { "content-type": "application/json", authorization: `Bearer ${token}` };
  const body = JSON.stringify({ boardId: PORTICO_BOARD, users, groups: [] });
  const answer = await fetch(`${url}/api/trpc/board.share`, { method: "POST", headers, body });
  assert.equal(answer.status, 200, await answer.text());
}

/** A request of a program through the proxy. */
function ask(host, { path = "/", method = "GET", headers = {}, body } = {}) {
  return new Promise((resolve, reject) => {
    const asked = request({ host: "127.0.0.1", port: GATE_PORT, path, method, headers: { host: `${host}.home.example:${GATE_PORT}`, ...headers } }, (answer) => {
      let text = "";
      answer.on("data", (part) => (text += part));
      answer.on("end", () => resolve({ status: answer.statusCode, headers: answer.headers, text }));
    });
    asked.on("upgrade", (answer, socket) => {
      socket.destroy();
      resolve({ status: answer.statusCode, headers: answer.headers, text: "" });
    });
    asked.on("error", reject);
    asked.end(body);
  });
}

async function signIn(page) {
  await page.fill("#username", "grace");
  await page.fill("#password", password);
  await page.click("main button");
}

const heading = (page, text) => page.getByRole("heading", { name: text }).waitFor();

for (const javaScriptEnabled of process.env.WITHOUT_JAVASCRIPT ? [true, false] : [true]) {
  test(`one sign-in opens both apps, until it ends ${javaScriptEnabled ? "" : "without JavaScript"}`, async () => {
    const page = await open(browser, { javaScriptEnabled });
    await page.goto(`${wiki}/a/page?x=1`);
    assert.ok(page.url().startsWith(`${portico}/sign-in`), page.url());
    await signIn(page);
    await page.waitForURL(`${wiki}/a/page?x=1`);
    await heading(page, "This is wiki");
    assert.equal(await page.locator("#user").innerText(), "grace");
    await page.goto(files);
    await heading(page, "This is files");
    // No app gets the pass.
    for (const { headers } of reached) assert.ok(!/portico/.test(headers.cookie ?? ""), headers.cookie);

    if (javaScriptEnabled) {
      const said = await page.evaluate((address) => new Promise((resolve, reject) => {
        const socket = new WebSocket(address);
        socket.onmessage = ({ data }) => resolve(data);
        socket.onerror = () => reject(new Error("refused"));
      }), `${files.replace("http", "ws")}/socket`);
      assert.equal(said, "hello");
      assert.equal(reached.at(-1).headers["remote-user"], "grace");
      const uploaded = await page.evaluate(async () => (await fetch("/upload", { method: "POST", body: new Uint8Array(5_000_000) })).status);
      assert.equal(uploaded, 200);
      assert.equal(reached.at(-1).bytes, 5_000_000);
    }

    // The right to one of them is lost.
    await share([]);
    const before = reached.length;
    const refused = await page.goto(`${files}/secret`);
    assert.equal(refused.status(), 403);
    await heading(page, "You cannot open this");
    if (javaScriptEnabled) assert.deepEqual(await faults(page), []);
    assert.equal(reached.length, before, "nothing reached the app");
    await page.goto(wiki);
    await heading(page, "This is wiki");
    await share([(await signedIn("grace")).user.id]);
    await page.goto(files);
    await heading(page, "This is files");

    // Signing out at Portico ends it everywhere.
    await page.goto(portico);
    await page.locator("details.account summary").click();
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.waitForURL(`${portico}/sign-in*`);
    await page.goto(wiki);
    assert.ok(page.url().startsWith(`${portico}/sign-in`), page.url());
    await page.context().close();
  });
}

test("programs are told, and say nothing of themselves that reaches an app", async () => {
  const session = (await signedIn("grace")).cookie;
  const given = await ask("portico", { path: `/api/auth/gate?next=${encodeURIComponent(`${wiki}/`)}`, headers: { cookie: session } });
  assert.equal(given.status, 200, given.text);
  const pass = given.headers["set-cookie"][0].split(";")[0];

  const told = await ask("wiki", { headers: { accept: "application/json" } });
  assert.equal(told.status, 401);
  assert.match(told.headers["www-authenticate"], /^Portico realm="home\.example"/);
  const outside = reached.length;
  await ask("unknown", { headers: { cookie: pass } });
  assert.equal(reached.length, outside, "a host of no app reached one");
  // The question is the proxy's alone.
  assert.equal((await ask("portico", { path: "/api/auth/verify", headers: { cookie: pass } })).status, 404);

  const claims = {
    "remote-user": "root", "Remote_User": "root", "remote-groups": "admins", "remote-email": "root@example.com", "remote-name": "root",
    "x-original-url": `${wiki}/`, "x-rewrite-url": "/admin", "x-forwarded-uri": "/public", "x-forwarded-method": "GET",
  };
  const before = reached.length;
  const passed = await ask("wiki", { path: "/real", headers: { cookie: `a=b; ${pass}; c=d`, ...claims } });
  assert.equal(passed.status, 200, passed.text);
  assert.equal(reached.length, before + 1);
  const { path, headers } = reached.at(-1);
  assert.equal(path, "/real");
  assert.equal(headers["remote-user"], "grace");
  assert.equal(headers["remote-name"], "grace");
  assert.equal(headers.cookie, "a=b; c=d");
  for (const name of ["remote_user", "x-original-url", "x-rewrite-url"]) assert.equal(headers[name], undefined, name);
  for (const name of ["remote-groups", "remote-email"]) assert.equal(headers[name] ?? "", "", name);

  // The pass alone leaves no cookie, many cookies pass, and Connection takes nothing out.
  for (const [cookie, left] of [[pass, ""], [`a=${"x".repeat(6000)}; ${pass}`, `a=${"x".repeat(6000)}`]]) {
    const again = await ask("wiki", { headers: { connection: "close, Remote-User", cookie } });
    assert.equal(again.status, 200, again.text);
    const last = reached.at(-1).headers;
    assert.equal(last["remote-user"], "grace");
    assert.equal(last.cookie ?? "", left);
  }
  // No upgrade but that to a WebSocket is asked of an app: in its tunnel the client would write headers itself.
  for (const upgrade of ["h2c", "websocket, h2c", ["h2c", "websocket"]]) {
    const connection = "Upgrade, HTTP2-Settings";
    const before = reached.length;
    await ask("wiki", { path: "/tunnel", headers: { cookie: pass, connection, upgrade, "http2-settings": "AAMAAABkAAQAAP__" } });
    const { path, headers } = reached.at(before);
    assert.equal(path, "/tunnel");
    assert.ok([undefined, "websocket"].includes(headers.upgrade), `${upgrade}: ${headers.upgrade}`);
    assert.equal(headers["http2-settings"], undefined);
  }
  // A body that is encoded is the app's matter.
  const encoding = { cookie: pass, "content-encoding": "gzip" };
  const encoded = await ask("wiki", { method: "POST", headers: encoding, body: Buffer.alloc(20) });
  assert.equal(encoded.status, 200, encoded.text);
  assert.deepEqual([reached.at(-1).bytes, reached.at(-1).headers["content-encoding"]], [20, "gzip"]);
  // Whom another rule of the proxy keeps out gets no answer of the gate.
  if (DENIED) {
    const denied = await ask("wiki", { path: DENIED, headers: { cookie: pass } });
    assert.equal(denied.status, 403);
    assert.equal(denied.headers["remote-user"], undefined);
  }
  // A port that the client names leads to no other app.
  const elsewhere = await ask("wiki", { headers: { host: "wiki.home.example:1", cookie: pass } });
  assert.equal(elsewhere.status, BELIEVES_PORTS ? 403 : 200, elsewhere.text);
});
