import { linkSlug } from "../../links/link-name.ts";
import { type ServiceClient, ServiceError } from "../connection/http-client.ts";
import type { LinkAnswer, LinkStatusAnswer } from "./link-answers.ts";

/** The service's links, as commands ask for them. */

/** What a link that lasts is made with. Those that a command makes for its own processes are in src/cli/python/link.ts. */
export interface LinkWish {
  readonly name: string;
  readonly urls: readonly string[];
  readonly token: string;
}

/** The server is asked what it is, and may be loading it. */
const ASKING_MS = 120_000;

const LINKED = "/environments/linked";
const pathOf = (name: string, team: string | undefined): string =>
  `${LINKED}/${encodeURIComponent(linkSlug(name))}${team === undefined ? "" : `?team_id=${encodeURIComponent(team)}`}`;

/** Links, or links anew. Rejects with what the server said, or why it was not reached. */
export async function putLink(client: ServiceClient, { name, urls, token }: LinkWish, team?: string): Promise<LinkAnswer> {
  const body = { urls, token };
  return (await client.json<{ data: LinkAnswer }>("PUT", pathOf(name, team), { body, timeoutMs: ASKING_MS, retries: 2 })).data;
}

/** Whether there was one that lasts. */
export async function deleteLink(client: ServiceClient, name: string, team?: string): Promise<boolean> {
  return (await orNull(client.json("DELETE", pathOf(name, team)))) !== null;
}

/** With how its servers are now; null where nothing is linked under the name, and where the service is of a version without links. */
export async function linkStatus(client: ServiceClient, name: string, team?: string): Promise<LinkStatusAnswer | null> {
  const answer = await orNull(client.json<{ data: LinkStatusAnswer }>("GET", pathOf(name, team), { retries: 2, timeoutMs: ASKING_MS }));
  return answer?.data ?? null;
}

export async function listLinks(client: ServiceClient): Promise<readonly LinkAnswer[]> {
  return (await orNull(client.json<{ data: readonly LinkAnswer[] }>("GET", LINKED, { retries: 2 })))?.data ?? [];
}

async function orNull<T>(answer: Promise<T>): Promise<T | null> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof ServiceError && error.status === 404) return null;
    throw error;
  }
}
