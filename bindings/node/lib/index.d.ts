import type { IncomingMessage, ServerResponse } from "node:http";
import type * as apps from "../generated/contract/interfaces/portico-dashboard-apps.js";
import type * as contract from "../generated/contract/interfaces/portico-dashboard-storage.js";
import type * as icons from "../generated/contract/interfaces/portico-dashboard-icons.js";
import type * as log from "../generated/contract/interfaces/portico-dashboard-log.js";
import type * as signIn from "../generated/contract/interfaces/portico-dashboard-sign-in.js";
import type * as types from "../generated/contract/interfaces/portico-dashboard-types.js";
import type * as people from "../generated/ready-contract/interfaces/portico-sql-people.js";
import type * as surroundings from "../generated/ready-contract/interfaces/portico-sql-surroundings.js";
import type * as users from "../generated/contract/interfaces/portico-dashboard-users.js";
import type { AppRouter, ReadyRouter } from "../generated/router.js";
import type { Functions, Input, Output, People, Stored } from "./types.js";

export type { AppRouter, Procedures, ReadyRouter } from "../generated/router.js";
export type { contract, types };

/**
 * Who makes a call. Storage gets the same object, so it may have more: the session, say.
 */
export interface Caller {
  /** The signed-in user, with the permissions that they have now; none for callers who are not signed in. */
  user?: { id: string; permissions: string[] } | null;
}

/** One transaction of the contract (`storage.transaction`). */
export type Transaction<Mode = unknown> = {
  [Name in Exclude<keyof contract.Transaction, typeof Symbol.dispose>]: contract.Transaction[Name] extends (
    ...values: infer Values
  ) => infer Result
    ? (...values: Values) => Settled<Mode, Stored<Result>>
    : never;
} & {
  /** Makes every change of the transaction durable, or none of them. */
  commit(): Settled<Mode, void>;
  /** Ends the transaction without a change: called if it was not committed, also after a `commit` that failed. */
  rollback(): Settled<Mode, void>;
};

type Settled<Mode, Value> = Mode extends "synchronous" ? Value : Mode extends "asynchronous" ? Promise<Value> : Value | Promise<Value>;

/**
 * Where users and apps live. Either all functions return promises, or none does.
 * To refuse, throw a `StorageError`; everything else that is thrown ends the call as a fault.
 */
export interface Storage<Who extends Caller = Caller> {
  /** Begins a transaction of the call that this caller makes. */
  begin(access: contract.Access, caller: Who): Transaction | Promise<Transaction>;
}

/** Who makes a call, as the ready storage knows them: from `people.authenticate` or `people.callerOf`. */
export interface ReadyCaller extends Caller {
  context?: string;
}

/** A connection of better-sqlite3, libsql or node:sqlite. */
export interface SqliteConnection {
  prepare(sql: string): unknown;
  exec(sql: string): unknown;
}
/** A Pool of pg. */
export interface PostgresqlPool {
  connect(): Promise<unknown>;
  query(sql: string): Promise<unknown>;
}

/** The options of a dashboard that has users and apps of its own. */
export interface StorageOptions<Who extends Caller = Caller> extends CommonOptions {
  /** Where users and apps live. */
  storage: Storage<Who>;
  database?: undefined;
}

/** The options of a dashboard that has none, and gives a database. */
export type DatabaseOptions = OptionsOver<SqliteConnection, "synchronous"> | OptionsOver<PostgresqlPool, unknown>;

interface OptionsOver<Database, Mode> extends CommonOptions {
  /** Where Portico makes its tables, upgrades them, and keeps users, apps, sessions, groups, invites and keys. */
  database: Database;
  storage?: undefined;
  /** What the names of the tables begin with: 1 to 20 of `a` to `z` and `_`. Default: `portico_`. */
  prefix?: string;
  /** How long a session lasts without being used. Default: 7 days. */
  sessionIdleMilliseconds?: number;
  /** How long a session lasts at most. Default: 30 days. */
  sessionMostMilliseconds?: number;
  /**
   * Boards and search engines, if the dashboard has any. Without them there are none, and everyone sees all apps. Over SQLite
   * these functions return no promises: a transaction may be open, and nothing else runs until it ends.
   */
  surroundings?: {
    [Name in keyof typeof surroundings]?: (
      ...values: Parameters<(typeof surroundings)[Name]>
    ) => Settled<Mode, ReturnType<(typeof surroundings)[Name]>>;
  };
}

export interface CommonOptions {
  /** Icons by name, for apps that are created without one. Without it no icon is found. */
  icons?: {
    /** See the contract's interface `icons`. */
    find(names: string[]): (string | null | undefined)[] | Promise<(string | null | undefined)[]>;
    /** The icon for names that fit none. */
    defaultIcon(): string | Promise<string>;
  };
  /** The log; standard error unless it is given. */
  log?: (level: log.Level, message: string) => void;
  /** How long a call may take, in milliseconds. Default: 10,000. */
  callMilliseconds?: number;
  /** How long a function of storage that returns a promise may take, in milliseconds. Default: 10,000. */
  operationMilliseconds?: number;
  /** How many threads carry calls that hash passwords or grow with the data. Default: 2. */
  threads?: number;
  /** How many calls of an asynchronous storage run at once in this thread. Default: 32. */
  instances?: number;
  /** How many calls may wait for a thread or an instance. Default: 1,000. */
  waiting?: number;
  /** Random numbers from 0 to 1, for the waits after collisions. */
  random?: () => number;
}

export interface TrpcOptions<Request = any, Who extends Caller = Caller> {
  /**
   * Says who sent a request; nothing for callers who are not signed in. It gets the request of your framework. What it throws
   * goes to the log and not to the client, unless it is a `PorticoError` or a `TRPCError`.
   */
  authenticate(request: Request): Who | null | undefined | Promise<Who | null | undefined>;
  /** The origins of other sites whose pages may change something. Your own pages always may. */
  origins?: string[];
  /**
   * The address of a client, to limit guesses at passwords. Needed where a proxy is in front, and where the request is a
   * `Request`, which does not have it: without it they are limited by account only.
   */
  address?(request: Request): string | undefined | Promise<string | undefined>;
  /**
   * Where people reach the dashboard, if a proxy changes `Host` or ends TLS. With `https:`, or if the request came over TLS,
   * cookies are sent over TLS only.
   */
  publicUrl?: string;
  /** In bytes. Default: 16 MiB. */
  maxBodySize?: number;
  /** How many calls a batch may have. Default: 256. */
  maxBatchSize?: number;
}

/** Serves the procedures, wherever it is mounted. */
export interface Handler {
  /** A function from a `Request` to a `Response`. */
  (request: Request): Promise<Response>;
  /** A listener of node:http, or middleware of Express. */
  (request: IncomingMessage, response: ServerResponse, next?: unknown): Promise<void>;
  /** A handler of Fastify. */
  (request: { raw: IncomingMessage }, reply: { raw: ServerResponse; hijack(): unknown }): Promise<void>;
}

/** A user who was authenticated. */
export interface SignedIn {
  /** The user's id. */
  id: string;
  /** The user's name. */
  name: string;
  /** Begin a session only if the user still has this version of the password. */
  passwordVersion: number;
}

/** The users and apps of a dashboard. */
export class Portico<Who extends Caller = Caller> {
  private constructor();
  /** Opens it over a database, and makes or upgrades the tables. */
  static open(options: DatabaseOptions): Promise<ReadyPortico>;
  /** Opens it over a storage of the dashboard's own. Asks it once whether it has users. */
  static open<Who extends Caller = Caller>(options: StorageOptions<Who>): Promise<Portico<Who>>;

  /** Accounts, profiles, preferences and passwords. */
  readonly users: Functions<typeof users, Who>;
  /** The services shown on boards. */
  readonly apps: Functions<typeof apps, Who>;
  /** Authentication of users. What follows from it (a session, a cookie) is the dashboard's part. */
  readonly signIn: {
    /** Checks name and password. `unauthorized`: they do not fit, or the user is disabled. */
    password(caller: Who, username: string, password: string): Promise<SignedIn>;
    /** Finds the user whom an identity provider vouches for, or creates or links them. */
    external(caller: Who, identity: Input<signIn.Identity>, linking?: signIn.Linking): Promise<SignedIn>;
  };
  /** How names are compared. */
  readonly names: {
    /** The name-key of each name, for records that exist already. */
    keys(names: string[]): Promise<string[]>;
  };
  /** The procedures as a tRPC router whose context is `{ caller }`. */
  readonly router: AppRouter;

  /** Serves the procedures over HTTP. */
  trpc(options: TrpcOptions<any, Who>): Handler;

  /** Ends the threads. Calls after this are refused. */
  close(): Promise<void>;
}

/** The users and apps of a dashboard, over its database. */
export interface ReadyPortico extends Omit<Portico<ReadyCaller>, "router" | "trpc"> {
  /** Sessions, API keys, groups and invites. These functions check no permission. */
  readonly people: People<typeof people, ReadyCaller>;
  /**
   * The procedures as a tRPC router, with `session.signIn`, `session.signOut` and `session.get`. Those need the context that
   * `trpc` makes; `trpc({ authenticate })` serves none of them.
   */
  readonly router: ReadyRouter;
  /** Serves the procedures over HTTP. Callers are known by the cookie or by an API key, unless `authenticate` says so. */
  trpc(options?: Partial<TrpcOptions<any, ReadyCaller>>): Handler;
}

/**
 * A call was refused, or it failed. Nothing was changed, unless its own commit came first: with the code `internal` or
 * `unavailable`, a commit that took too long may have succeeded.
 */
export class PorticoError extends Error {
  constructor(code: PorticoError["code"], message: string, details?: { issues?: PorticoError["issues"]; cause?: unknown });
  /** What kind of refusal it is. See the contract's `types.error-code`. */
  readonly code:
    | "bad-request"
    | "unauthorized"
    | "forbidden"
    | "not-found"
    | "conflict"
    | "too-many-requests"
    | "unavailable"
    | "internal";
  /** Each rule that the input breaks; empty unless the code is `bad-request`. */
  readonly issues: { path: (string | number)[]; message: string }[];
  /** The status of HTTP that fits. */
  readonly httpStatus: number;
}

/** Storage refuses. */
export class StorageError extends Error {
  constructor(payload: contract.Error);
  readonly payload: contract.Error;
  /** Another transaction won: the whole transaction may be tried again. */
  static retry(): StorageError;
  /** A rule that storage itself enforces is violated. */
  static constraint(constraint: "user-name" | "identity" | "reference" | "id"): StorageError;
  /** The records of the answer have more than 100,000,000 bytes of text. */
  static tooLarge(): StorageError;
  /** Storage cannot work now. The text is only for the log. */
  static unavailable(text: string): StorageError;
}

export type { Output };
