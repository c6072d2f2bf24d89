// What `tsc --strict` makes of the types that ship. The lines after @ts-expect-error must not compile.
import { createTRPCClient, httpBatchLink, TRPCClientError } from "@trpc/client";
import { Portico, PorticoError, StorageError, type AppRouter, type Caller, type ReadyRouter, type SqliteConnection, type Storage, type Transaction } from "@portico/dashboard";

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const holds = <T extends true>() => undefined as unknown as T;

const client = createTRPCClient<AppRouter>({ links: [httpBatchLink({ url: "http://127.0.0.1:1/trpc" })] });

export async function outputsAreTyped() {
  const app = await client.app.byId.query({ id: "1" });
  holds<Equal<typeof app.name, string>>();
  holds<Equal<typeof app.description, string | null>>();
  const created = await client.app.create.mutate({ name: "Jellyfin", iconUrl: "/j.svg" });
  holds<Equal<typeof created.appId, string>>();
  const many = await client.app.createMany.mutate([{ name: "Jellyfin" }]);
  holds<Equal<(typeof many)[number]["appId"], string>>();
  const user = await client.user.getById.query({ userId: "1" });
  // A date is a text in JSON.
  holds<Equal<typeof user.emailVerified, string | null>>();
  holds<Equal<typeof user.provider, "credentials" | "oidc" | "ldap">>();
  const deleted = await client.app.delete.mutate({ id: "1" });
  holds<Equal<typeof deleted, undefined>>();
}

export async function inputsAreTyped() {
  await client.user.selectable.query();
  await client.app.all.query();
  await client.user.changeColorScheme.mutate({ colorScheme: "dark" });
  await client.app.update.mutate({ id: "1", href: null });
  // @ts-expect-error an id is a text
  await client.app.byId.query({ id: 1 });
  // @ts-expect-error the icon is missing
  await client.app.create.mutate({ name: "Jellyfin" });
  // @ts-expect-error no such color scheme
  await client.user.changeColorScheme.mutate({ colorScheme: "blue" });
  // @ts-expect-error it is a query
  await client.app.all.mutate();
  // @ts-expect-error there is no such procedure
  await client.app.clear.mutate();
}

export function errorsAreTyped(error: unknown) {
  if (!(error instanceof TRPCClientError)) return;
  const { data } = error as TRPCClientError<AppRouter>;
  holds<Equal<NonNullable<NonNullable<typeof data>["zodError"]>["fieldErrors"], Record<string, string[]>>>();
  // @ts-expect-error there is no such field
  data?.unknown;
}

interface Who extends Caller {
  session?: string;
}

export async function inProcess(storage: Storage<Who>) {
  const portico = await Portico.open({ storage });
  const caller: Who = { user: { id: "1", permissions: ["admin"] }, session: "s" };
  const app = await portico.apps.create(caller, { name: "Jellyfin", iconUrl: "/j.svg" });
  holds<Equal<typeof app.href, string | null>>();
  await portico.apps.update(caller, { id: app.id, href: null, description: "Films" });
  await portico.apps.search(caller, "jelly");
  const user = await portico.users.getById(caller, "1");
  holds<Equal<typeof user.emailVerified, Date | null>>();
  // @ts-expect-error an id is a text
  await portico.apps.byId(caller, 1);
  // @ts-expect-error who calls is missing
  await portico.apps.all();
  try {
    await portico.apps.delete(caller, app.id);
  } catch (error) {
    if (error instanceof PorticoError) holds<Equal<typeof error.httpStatus, number>>();
  }
  portico.trpc({ authenticate: () => caller });
  // @ts-expect-error it has to say who calls
  portico.trpc({});
}

export async function overADatabase(database: SqliteConnection) {
  const portico = await Portico.open({ database, prefix: "my_" });
  const id = await portico.users.initUser({}, { username: "ada", password: "correct horse" });
  const caller = await portico.people.callerOf(id);
  if (!caller) return;
  await portico.apps.all(caller);
  const session = await portico.people.beginSession(id, 0);
  holds<Equal<typeof session.endsAt, Date>>();
  const authenticated = await portico.people.authenticate(session.token);
  if (authenticated) await portico.apps.all(authenticated.caller);
  await portico.people.createInvite(null, new Date());
  // @ts-expect-error there is no such function
  await portico.people.clear();
  portico.trpc();
  const client = createTRPCClient<ReadyRouter>({ links: [] });
  const user = await client.session.signIn.mutate({ username: "ada", password: "correct horse" });
  holds<Equal<typeof user.name, string>>();
  const person = await client.session.get.query();
  holds<Equal<NonNullable<typeof person>["permissions"], string[]>>();
  // @ts-expect-error the router of a dashboard's own storage has no sessions
  createTRPCClient<AppRouter>({ links: [] }).session;
}

export const synchronous: Pick<Transaction<"synchronous">, "getApp" | "hasUsers" | "getAccount"> = {
  hasUsers: () => true,
  getApp: (id) => ({ id, name: "Jellyfin", iconUrl: "/j.svg", description: null }),
  getAccount() {
    throw StorageError.retry();
  },
};
export const wrong: Pick<Transaction, "hasUsers"> = {
  // @ts-expect-error not a truth value
  hasUsers: () => "yes",
};
