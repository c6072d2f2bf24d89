// A storage in memory, for tests: synchronous, or with promises. `faults` says what goes wrong in which function.

import { StorageError } from "../lib/index.js";

/** @param {{ isAsynchronous?: boolean, faults?: Record<string, (...values: any[]) => any> }} [options] */
export function memory({ isAsynchronous = false, faults = {} } = {}) {
  let state = { apps: new Map(), users: new Map(), admins: new Set() };
  const seen = { begun: [], open: 0, rolledBack: 0, committed: 0 };
  const clone = () => ({ apps: new Map(state.apps), users: new Map(state.users), admins: new Set(state.admins) });
  const later = (work) => (isAsynchronous ? new Promise((resolve, reject) => setImmediate(() => { try { resolve(work()); } catch (error) { reject(error); } })) : work());
  const byKey = (records) => [...records].sort((one, other) => (one.nameKey < other.nameKey ? -1 : 1));

  function transaction(access) {
    const mine = clone();
    const find = ({ tag, val }) =>
      [...mine.users.values()].find(({ user, nameKey }) => (tag === "id" ? user.id === val : tag === "name" && nameKey === val.nameKey));
    const functions = {
      hasUsers: () => mine.users.size > 0,
      getUser: (id) => mine.users.get(id)?.user ?? null,
      getAccount: (key) => {
        const found = find(key);
        if (!found) return null;
        const { user, passwordHash } = found;
        return { id: user.id, name: user.name, provider: user.provider, disabled: false, passwordHash, passwordVersion: 0 };
      },
      insertUser: (stored) => void mine.users.set(stored.user.id, stored),
      grantAdmin: (id) => void mine.admins.add(id),
      getApp: (id) => mine.apps.get(id)?.app ?? null,
      getApps: (ids) => ids.flatMap((id) => mine.apps.get(id)?.app ?? []),
      listApps: (_, { offset, limit = Infinity }) => byKey(mine.apps.values()).map(({ app }) => app).slice(offset, offset + limit),
      countApps: () => mine.apps.size,
      insertApps: (apps) => apps.forEach((stored) => mine.apps.set(stored.app.id, stored)),
      updateApp: (stored) => mine.apps.has(stored.app.id) && Boolean(mine.apps.set(stored.app.id, stored)),
      deleteApp: (id) => mine.apps.delete(id),
    };
    seen.open++;
    return {
      ...Object.fromEntries(
        Object.entries(functions).map(([name, work]) => [name, (...values) => (faults[name] ?? ((_, go) => later(go)))(values, () => work(...values))]),
      ),
      commit: () =>
        (faults.commit ?? ((_, go) => later(go)))([], () => {
          seen.open--;
          seen.committed++;
          if (access === "write") state = mine;
        }),
      rollback: () => later(() => void (seen.open--, seen.rolledBack++)),
    };
  }

  return {
    seen,
    names: () => byKey(state.apps.values()).map(({ app }) => app.name),
    begin: (access, caller) => {
      seen.begun.push({ access, caller });
      return (faults.begin ?? ((_, go) => later(go)))([access, caller], () => transaction(access));
    },
  };
}

export const retry = () => StorageError.retry();
