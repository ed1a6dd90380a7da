import { BodyTooLarge, readText } from "../clients/transport/response-body.ts";
import { EdgewiseError } from "../errors/result.ts";
import type { HubClient } from "./hub-client.ts";
import { refusal } from "./refusals.ts";
import { repositoryAnswer, treeAnswer, type TreeEntry, whoamiAnswer } from "./wire.ts";

/** A data set of the Hub, as it is at one commit. */
export interface Repository {
  /** Null where there is no commit yet. */
  readonly sha: string | null;
  readonly isPrivate: boolean;
  /** Paths. */
  readonly files: readonly string[];
}

const MAX_CARD_BYTES = 4 * 1024 * 1024;
/** Pages of a folder's files, a thousand to a page. */
const MAX_PAGES = 100;

/** Who the token is of. Throws `hub_refused`, `hub_unreachable`. */
export async function whoAmI(client: HubClient): Promise<string> {
  const response = await client.ask("/api/whoami-v2");
  if (!response.ok) throw await refusal(client, "Whose token it is could not be asked", "any data set", response);
  return (await client.read(response, whoamiAnswer)).name;
}

/** Null where there is none, or the token may not see it. */
export async function readRepository(client: HubClient, id: string): Promise<Repository | null> {
  const response = await client.ask(`/api/datasets/${id}`);
  if (response.status === 404) {
    await response.body?.cancel();
    return null;
  }
  if (!response.ok) throw await refusal(client, `The data set ${id} could not be read`, id, response);
  const { sha, private: isPrivate, siblings } = await client.read(response, repositoryAnswer);
  return { sha: sha ?? null, isPrivate, files: siblings.map(({ rfilename }) => rfilename) };
}

/** Makes the data set where there is none. */
export async function requireRepository(client: HubClient, id: string, visibility: "private" | "public"): Promise<{ readonly created: boolean }> {
  if ((await readRepository(client, id)) !== null) return { created: false };
  const [organization, name] = id.split("/");
  const body = JSON.stringify({ name, organization, visibility, type: "dataset" });
  const response = await client.ask("/api/repos/create", { method: "POST", headers: { "content-type": "application/json" }, body: () => body });
  if (response.ok) {
    await response.body?.cancel();
    return { created: true };
  }
  if (response.status !== 409) throw await refusal(client, `The data set ${id} could not be made`, id, response, "Name another one: --to hf:owner/name");
  await response.body?.cancel();
  // Made meanwhile, or by the attempt whose answer was lost.
  if ((await readRepository(client, id)) !== null) return { created: false };
  throw new EdgewiseError("hub_refused", `The name ${id} is taken: there is a data set of it that this token may not see.`, {
    hint: "Name another one: --to hf:owner/name",
  });
}

export async function cardOf(client: HubClient, id: string, { sha }: Repository): Promise<string> {
  const response = await client.ask(`/datasets/${id}/resolve/${sha ?? "main"}/README.md`);
  if (!response.ok) throw await refusal(client, `The card of ${id} could not be read`, id, response);
  return await readText(response, MAX_CARD_BYTES).catch((thrown: unknown) => {
    if (!(thrown instanceof BodyTooLarge)) throw thrown;
    throw new EdgewiseError("hub_refused", `The card of ${id} has ${thrown.message}.`, { hint: "Push to a data set of another name." });
  });
}

/** The files of a folder; none where there is no such folder. */
export async function treeOf(client: HubClient, id: string, { sha }: Repository, folder: string): Promise<readonly TreeEntry[]> {
  const entries: TreeEntry[] = [];
  let next: string | null = `/api/datasets/${id}/tree/${sha ?? "main"}/${encodeURIComponent(folder)}?recursive=true&expand=false`;
  for (let page = 0; next !== null && page < MAX_PAGES; page++) {
    const response: Response = await client.ask(next);
    if (response.status === 404) {
      await response.body?.cancel();
      return [];
    }
    if (!response.ok) throw await refusal(client, `The files of ${id} could not be listed`, id, response);
    entries.push(...(await client.read(response, treeAnswer)).filter(({ type }) => type === "file"));
    next = nextPage(client, response.headers.get("link"));
  }
  return entries;
}

/** Of the Hub itself: the token goes there. */
function nextPage(client: HubClient, link: string | null): string | null {
  const url = /<([^>]+)>\s*;\s*rel="next"/.exec(link ?? "")?.[1] ?? null;
  return url !== null && (url.startsWith("/") || client.isOwn(url)) ? url : null;
}
