import { singleLine } from "../../report/text/printable.ts";
import { type ServiceClient, ServiceError } from "../connection/http-client.ts";
import type { NamedPath } from "../connection/named-path.ts";
import type { Wanted } from "./file-tables.ts";

/** What a file changes of what there is, of one kind of things: planned, shown, carried out. */

/** What becomes, or would become, of one that is put, as the service tells it. */
export interface Planned {
  readonly change: "add" | "change" | "none";
  readonly fields: readonly string[];
}
type Change = Planned["change"];

/** Of refusals that are about what was sent. */
const OF_ONE: readonly number[] = [404, 409, 413, 422];

/** Schedules, alerts or evaluators. */
export interface Kind<Answer extends Planned> {
  readonly path: NamedPath;
  called(name: string): string;
  /** What follows the line of one that is new or changed. */
  more(answer: Answer): string;
  /** What goes with one that is deleted, or stays. */
  readonly gone: string;
  /** Key of the file that would say that there are to be none. */
  readonly unsaid: string;
}

export interface Plan<Answer extends Planned> {
  readonly kind: Kind<Answer>;
  readonly changes: readonly (Wanted<object> & Answer)[];
  /** Those that the file does not have. */
  readonly others: readonly string[];
  /** The file says which there are to be. */
  readonly speaks: boolean;
  /** Others are deleted. */
  readonly prunes: boolean;
}

/** `wanted`: null = the file says nothing of them: all stay, and a service that has no such things is as good. */
export async function planOf<Answer extends Planned>(
  client: ServiceClient,
  kind: Kind<Answer>,
  wanted: readonly Wanted<object>[] | null,
  { team, prune }: { readonly team?: string | undefined; readonly prune: boolean },
): Promise<Plan<Answer>> {
  const changes: (Wanted<object> & Answer)[] = [];
  for (const each of wanted ?? []) changes.push({ ...each, ...(await put<Answer>(client, kind, each, kind.path(each.name, team, "", { dry_run: "true" }))) });
  const there = await namesOf(client, kind.path(null, team), wanted === null);
  return {
    kind,
    changes,
    others: there.filter((name) => !changes.some((each) => each.name === name)),
    speaks: wanted !== null,
    prunes: prune && wanted !== null,
  };
}

/** What is refused is told with the name of what it is wrong with: a file may have many. */
async function put<Answer>(client: ServiceClient, kind: Kind<Planned>, { name, given }: Wanted<object>, path: string): Promise<Answer> {
  try {
    return await client.json<Answer>("PUT", path, { body: given, retries: 2 });
  } catch (error) {
    if (!(error instanceof ServiceError) || !OF_ONE.includes(error.status)) throw error;
    throw new ServiceError(error.status, error.code, `${kind.called(name)}: ${error.message}`, error.hint);
  }
}

async function namesOf(client: ServiceClient, path: string, mayLack: boolean): Promise<readonly string[]> {
  try {
    return (await client.json<{ data: readonly { name: string }[] }>("GET", path, { retries: 2 })).data.map(({ name }) => name);
  } catch (error) {
    if (mayLack && error instanceof ServiceError && error.code === "not_found") return [];
    throw error;
  }
}

/** `Put`: what the service answers to one that is put. `tell`: hears of each that was new or changed, at once. */
export async function carryOut<Put>(
  client: ServiceClient,
  { kind, changes, others, prunes }: Plan<Planned>,
  team: string | undefined,
  tell: (name: string, answer: Put) => void,
): Promise<void> {
  for (const each of changes) if (each.change !== "none") tell(each.name, await put<Put>(client, kind, each, kind.path(each.name, team)));
  if (prunes) for (const name of others) await client.json("DELETE", kind.path(name, team));
}

const SIGNS: Readonly<Record<Change, string>> = { add: "+", change: "~", none: "=" };

export function planLines<Answer extends Planned>({ kind, changes, others, speaks, prunes }: Plan<Answer>): readonly string[] {
  const goes = speaks ? "--prune deletes it" : `the file says nothing of them; ${kind.unsaid} = [] says that there are to be none`;
  const lines = changes.map((each) => {
    const { name, change, fields } = each;
    const what = change === "none" ? "unchanged" : `${change === "add" ? "new" : `${fields.join(", ")} changed`}${kind.more(each)}`;
    return singleLine(`${SIGNS[change]} ${kind.called(name)}: ${what}`);
  });
  const left = others.map((name) =>
    singleLine(prunes ? `- ${kind.called(name)}: deleted, ${kind.gone}` : `? ${kind.called(name)}: not in the file, left as it is (${goes})`),
  );
  return [...lines, ...left];
}

/** As JSON tells of it. */
export const toldOf = <Answer extends Planned, More>({ changes, others, prunes }: Plan<Answer>, more: (each: Wanted<object> & Answer) => More) => ({
  changes: changes.map((each) => ({ name: each.name, change: each.change, fields: each.fields, ...more(each) })),
  deleted: prunes ? others : [],
  left: prunes ? [] : others,
});
