// Serves a router over HTTP: as a listener of node:http, as middleware of Express, as a handler of Fastify, and as a function
// from a `Request` to a `Response`. The procedure is what the path ends with, so it serves wherever it is mounted.

import { TRPCError } from "@trpc/server";
import { fetchRequestHandler } from "@trpc/server/adapters/fetch";
import { nodeHTTPRequestHandler } from "@trpc/server/adapters/node-http";
import { toTrpc } from "./router.js";
import { SETTING_COOKIES } from "./sessions.js";

const MEGABYTE = 1024 * 1024;
const DEFAULTS = { maxBodySize: 16 * MEGABYTE, maxBatchSize: 256, origins: /** @type {string[]} */ ([]), publicUrl: undefined };

/**
 * Refuses a change that a page of another site made the browser send. Programs send neither header. A site whose name is made
 * to lead here (DNS rebinding) is `same-origin` to its pages: with `publicUrl` they have to name that host, too.
 * @param {string | undefined} method
 * @param {(name: string) => string | null | undefined} header
 * @param {{ origins: string[], publicUrl?: string }} options
 */
function checkOrigin(method, header, { origins, publicUrl }) {
  if (method === "GET" || method === "HEAD") return;
  const [site, origin] = [header("sec-fetch-site"), header("origin")];
  if (origin && origins.includes(origin)) return;
  if (!site || site === "same-origin" || site === "none") {
    if (!origin || (site && !publicUrl)) return;
    const own = publicUrl ? new URL(publicUrl).host : header("host");
    if (URL.canParse(origin) && new URL(origin).host === own) return;
  }
  throw new TRPCError({ code: "FORBIDDEN", message: "A page of another site sent this request" });
}

/** A stream sends its headers before the calls, so no cookie. @param {any} info of the calls */
function checkStream(info) {
  if (info?.accept !== "application/jsonl") return;
  const path = info.calls.map((/** @type {any} */ call) => call.path).find((/** @type {string} */ path) => SETTING_COOKIES.has(path));
  if (path) throw new TRPCError({ code: "BAD_REQUEST", message: `${path} sets a cookie, which a stream cannot: send it by httpLink or httpBatchLink` });
}

/** @param {any} router @param {any} options @param {(level: string, message: string) => void} log */
export function handler(router, options, log) {
  const { authenticate, identify, cookie, address, ...settings } = { ...DEFAULTS, ...options };
  if (typeof authenticate !== "function" && !identify) {
    throw new TypeError("portico.trpc needs { authenticate }, which says who calls");
  }
  const isPublicSecure = settings.publicUrl?.startsWith("https:") ?? false;
  /**
   * @param {any} request as the framework has it
   * @param {{ method: string | undefined, header: (name: string) => any, from: () => string | undefined, setCookie: (cookie: string) => void,
   *   isSecure: boolean }} parts
   * @param {any} info of the calls
   */
  const contextOf = async (request, { method, header, from, setCookie, isSecure }, info) => {
    checkOrigin(method, header, settings);
    if (!authenticate) checkStream(info);
    const setToken = (/** @type {string} */ token) => setCookie(cookie(token, isPublicSecure || isSecure));
    try {
      const common = { address: address ? await address(request) : from(), setToken };
      if (!authenticate) return { ...common, ...(await identify(header)) };
      return { ...common, caller: (await authenticate(request)) ?? {} };
    } catch (error) {
      throw toTrpc(error, "who calls", log);
    }
  };

  /** @param {any} original what `authenticate` gets @param {any} request @param {any} response */
  const serveNode = (original, request, response) => {
    const [path] = request.url.split("?");
    return nodeHTTPRequestHandler({
      req: request,
      res: response,
      path: path.slice(path.lastIndexOf("/") + 1),
      router,
      createContext: ({ info }) => {
        const parts = {
          method: request.method,
          header: (/** @type {string} */ name) => request.headers[name],
          from: () => request.socket?.remoteAddress,
          setCookie: (/** @type {string} */ value) => response.appendHeader("set-cookie", value),
          isSecure: Boolean(request.socket?.encrypted),
        };
        return contextOf(original, parts, info);
      },
      maxBodySize: settings.maxBodySize,
      maxBatchSize: settings.maxBatchSize,
    });
  };

  /** @param {Request} request */
  const serveFetch = async (request) => {
    const { pathname, protocol } = new URL(request.url);
    const body = await limited(request, settings.maxBodySize);
    if (body === undefined) return new Response("The body is too large", { status: 413 });
    const { method, headers } = request;
    const req = new Request(request.url, { method, headers, ...(body.length > 0 && { body }) });
    return fetchRequestHandler({
      req,
      endpoint: pathname.slice(0, pathname.lastIndexOf("/")),
      router,
      createContext: ({ resHeaders, info }) => {
        const parts = {
          method,
          header: (/** @type {string} */ name) => request.headers.get(name),
          from: () => undefined,
          setCookie: (/** @type {string} */ value) => resHeaders.append("set-cookie", value),
          isSecure: protocol === "https:",
        };
        return contextOf(request, parts, info);
      },
      maxBatchSize: settings.maxBatchSize,
    });
  };

  return (/** @type {any} */ request, /** @type {any} */ response) => {
    if (request instanceof Request) return serveFetch(request);
    if (!request.raw || !response.raw) return serveNode(request, request, response);
    // Fastify: it may have read the body already.
    response.hijack();
    if (request.body !== undefined) request.raw.body = request.body;
    return serveNode(request, request.raw, response.raw);
  };
}

/** The body of a request, or undefined if it is too large. @param {Request} request @param {number} most */
async function limited(request, most) {
  const chunks = [];
  let length = 0;
  for await (const chunk of /** @type {any} */ (request.body ?? [])) {
    length += chunk.length;
    if (length > most) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
