/** The link under which a service reaches the processes of one environment while their command lasts. */
import { linkSlug } from "../../links/link-name.ts";
import { ServiceError, type ServiceClient } from "../connection/http-client.ts";

/** A command that was killed leaves its link for so long. */
const LEASE_S = 60;
export const RENEW_MS = 15_000;

export interface LinkBody {
  readonly urls: readonly string[];
  readonly token: string;
  /** Whose link it is. */
  readonly command: string;
}

const pathOf = (name: string): string => `/environments/linked/${encodeURIComponent(linkSlug(name))}`;

/** The service asks the processes what they are before it answers. */
export async function putLink(client: ServiceClient, name: string, body: LinkBody): Promise<void> {
  await client.json("PUT", pathOf(name), { body: { ...body, lease_seconds: LEASE_S }, timeoutMs: 120_000, retries: 2 });
}

/** Makes it anew where it has lapsed: this machine may have slept. */
export async function renewLink(client: ServiceClient, name: string, body: LinkBody): Promise<void> {
  try {
    await client.json("POST", `${pathOf(name)}/lease`, { body: { command: body.command, lease_seconds: LEASE_S } });
  } catch (error) {
    if (!(error instanceof ServiceError) || error.status !== 404) throw error;
    await putLink(client, name, body);
  }
}

/** One that is gone already is as good as removed. */
export async function removeLink(client: ServiceClient, name: string, command: string): Promise<void> {
  try {
    await client.json("DELETE", `${pathOf(name)}?command=${encodeURIComponent(command)}`, { timeoutMs: 5_000 });
  } catch (error) {
    if (!(error instanceof ServiceError) || error.status !== 404) throw error;
  }
}
