import { open, seal } from "../../secrets/envelope.ts";
import { DEFAULT_TEAM, isTeam } from "../../teams/team-name.ts";
import type { AppPorts } from "../app-ports.ts";
import { invalid, unwrap } from "../errors.ts";
import { readTwice } from "../read-twice.ts";

/** Values of one request: each is two operations of AES, and one row that is read and written. */
const SLICE = 100;

export interface Rotated {
  readonly key: string;
  readonly changed: number;
  readonly unreadable: number;
  readonly next: { readonly team: string; readonly after: string } | null;
}

/**
 * Encrypts the next values with the newest master key, team by team in the order of their names, and says where to go on. From its first look at a
 * team on, that team's Registry takes values of this key alone, so that none slips behind. Repeating a slice does nothing twice.
 */
export async function rotateSlice(
  ports: AppPorts,
  { team = "", after = "" }: { readonly team?: string | undefined; readonly after?: string | undefined },
): Promise<Rotated> {
  if (team !== "" && !isTeam(team)) throw invalid(["body", "team"], "must be a team, as the answer before has it");
  const keys = unwrap(await ports.masterKeys());
  const to = keys.newest;
  const name = team === "" ? await teamBehind(ports, "") : team;
  if (name === null) return { key: to.id, changed: 0, unreadable: 0, next: null };
  const { registry } = ports.inTeam(name);
  const stale = await registry.staleValues({ to: to.id, after, limit: SLICE });
  const values: { id: string; from: string; sealed: string }[] = [];
  for (const { id, sealed } of stale) {
    const value = await open(keys, { team: name, id }, sealed, id);
    if (value.ok) values.push({ id, from: sealed, sealed: await seal(to, { team: name, id }, value.value) });
  }
  const changed = values.length === 0 ? 0 : await registry.reseal(to.id, values);
  const last = stale.at(-1);
  const other = stale.length === SLICE && last !== undefined ? null : await teamBehind(ports, name);
  const next = stale.length === SLICE && last !== undefined ? { team: name, after: last.id } : other === null ? null : { team: other, after: "" };
  return { key: to.id, changed, unreadable: stale.length - values.length, next };
}

/** The first team behind `name`; null when there is none. */
async function teamBehind(ports: AppPorts, name: string): Promise<string | null> {
  if (ports.directory === null) return name < DEFAULT_TEAM ? DEFAULT_TEAM : null;
  const [next = null] = await readTwice(
    () => ports.directory,
    async (directory) => (await directory?.teamNames(name, 1)) ?? [],
  );
  return next;
}
