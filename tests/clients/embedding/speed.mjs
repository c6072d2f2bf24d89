// Calls per second of dashboards that took Portico in, of handlers in the same languages and frameworks, and of the
// `portico` binary, in one run: each is started on an empty database and asked for one app, by one signed-in user and
// anonymously, on 32 connections that stay open, by wrk. They take turns for several rounds; the medians count.
//
//     node speed.mjs SECONDS ADAPTER...        (the first one is what the others are compared with,
//                                            unless they name handlers that are among them)

import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";

const ROUNDS = 5;
const CONNECTIONS = 32;
const ACCOUNT = { username: "ada", password: "correct horse" };
/** Of the kernel's clock, in which it counts processor time. */
const TICKS_PER_SECOND = 100;

const [, , seconds, ...adapters] = process.argv;
assert.ok(Number(seconds) > 0 && adapters.length > 0, "usage: node speed.mjs SECONDS ADAPTER...");

/** Starts a dashboard, with an administrator, their session and an app. */
async function start(name) {
  const { path, start, steps, handlers } = await import(`./${name}.mjs`);
  const data = mkdtempSync(join(tmpdir(), "portico-speed-"));
  const { command, args, cwd, env } = start(data);
  const child = spawn(command, args, { cwd, env: { ...process.env, ...env }, stdio: ["ignore", "pipe", "pipe"] });
  let log = "";
  child.stderr.on("data", (text) => (log += text));
  const url = await new Promise((resolve, reject) => {
    createInterface({ input: child.stdout }).on("line", (line) => {
      const [found] = line.match(/http:\/\/127\.0\.0\.1:\d+/) ?? [];
      if (found) resolve(found);
    });
    child.on("exit", () => reject(new Error(`${name} does not start:\n${log}`)));
  });

  let cookie = "";
  const own = async (method, path, body) => {
    const headers = { "content-type": "application/json", ...(cookie && { cookie }) };
    const response = await fetch(url + path, { method, headers, body: JSON.stringify(body) });
    assert.equal(response.status, 200, `${name}: ${method} ${path}`);
    return { ...(await response.json()), cookie: response.headers.getSetCookie().map((cookie) => cookie.split(";")[0]).join("; ") };
  };
  await own("POST", `${path}/user.initUser`, ACCOUNT);
  ({ cookie } = await steps["sign-in"](own, ACCOUNT));
  const app = { name: "Jellyfin", iconUrl: "/jellyfin.svg", description: "Films", href: "https://jellyfin.example/" };
  const { result } = await own("POST", `${path}/app.create`, app);
  const request = `${path}/app.byId?input=${encodeURIComponent(JSON.stringify({ id: result.data.id }))}`;
  const stop = async () => {
    child.removeAllListeners("exit");
    child.kill();
    await once(child, "exit");
    rmSync(data, { recursive: true });
  };
  return { name, handlers, url, request, cookie, stop, pid: child.pid };
}

/** Microseconds of processor time that a process has taken so far. */
function processorTime(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1].split(" ");
  return ((Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND) * 1e6;
}

/** Calls per second, and microseconds of processor time for one. */
async function load({ url, request, pid }, cookie) {
  const before = processorTime(pid);
  const headers = cookie ? ["--header", `cookie: ${cookie}`] : [];
  const { stdout } = await promisify(execFile)("wrk", [
    ...["--threads", "1", "--connections", String(CONNECTIONS), "--duration", `${seconds}s`, "--timeout", "60s"],
    ...headers,
    url + request,
  ]);
  assert.ok(!/Non-2xx|Socket errors/.test(stdout), stdout);
  const [, answers] = stdout.match(/(\d+) requests in/);
  const [, rate] = stdout.match(/Requests\/sec:\s+([\d.]+)/);
  return { rate: Number(rate), processor: (processorTime(pid) - before) / Number(answers) };
}

const median = (values) => [...values].sort((one, other) => one - other)[Math.floor(values.length / 2)];

const dashboards = [];
try {
  for (const name of adapters) dashboards.push(await start(name));
  for (const [work, isSignedIn] of [["by one user", true], ["anonymously", false]]) {
    const samples = new Map(dashboards.map(({ name }) => [name, []]));
    for (let round = 0; round < ROUNDS; round++) {
      for (const dashboard of dashboards) {
        samples.get(dashboard.name).push(await load(dashboard, isSignedIn && dashboard.cookie));
      }
    }
    const rates = dashboards.map(({ name }) => median(samples.get(name).map(({ rate }) => rate)));
    dashboards.forEach(({ name, handlers }, index) => {
      const beside = Math.max(adapters.indexOf(handlers), 0);
      const processor = median(samples.get(name).map(({ processor }) => processor));
      const columns = [`${Math.round(rates[index])}/s`, `${Math.round(processor)} us cpu`, `${(rates[index] / rates[beside]).toFixed(2)} of ${adapters[beside]}`.padStart(24)];
      console.log(`app.byId ${work.padEnd(12)} ${name.padEnd(16)} ${columns.map((text) => text.padStart(14)).join("")}`);
    });
  }
} finally {
  for (const dashboard of dashboards) await dashboard.stop();
}
