import { parseUrl } from "../config/endpoints/addresses.ts";

/** The secret that pushes to the Hugging Face Hub are made with. */
export const HUB_TOKEN = "HF_TOKEN";

/** A namespace of a Hub that a token may be used for. */
export interface HubGrant {
  /** In lower case, as the Hub compares them. */
  readonly namespace: string;
  /** Whether data sets that everybody sees may be made there, and added to. */
  readonly isPublic: boolean;
}

/** Which namespaces of this Hub a secret was created for: `huggingface.co/me` among its hosts, `huggingface.co/me:public` where everybody may see what is there. */
export function hubGrants(hosts: readonly string[], endpoint: string): readonly HubGrant[] {
  const own = parseUrl(endpoint)?.hostname;
  return hosts.flatMap((each) => {
    const [, host, namespace = "", open] = /^([^/]+)\/([^:]+)(:public)?$/.exec(each) ?? [];
    return host !== undefined && host === own ? [{ namespace, isPublic: open !== undefined }] : [];
  });
}

/** Why the token may not be used for a push there; null when it may. */
export function grantProblem(grants: readonly HubGrant[], owner: string, isPublic: boolean): string | null {
  const found = grants.filter(({ namespace }) => namespace === owner.toLowerCase());
  if (found.length === 0) {
    const known = grants.map(({ namespace }) => namespace).join(", ");
    return `${HUB_TOKEN} of the team was created for ${known === "" ? "no namespace of the Hub" : known}, and not for ${owner}`;
  }
  return isPublic && !found.some((grant) => grant.isPublic) ? `${HUB_TOKEN} of the team may make nothing in ${owner} that everybody sees` : null;
}

/** What to type for one that may. */
export const grantHint = (host: string, owner: string, isPublic: boolean): string =>
  `npx edgewise secret create ${HUB_TOKEN} --host ${host}/${owner}${isPublic ? ":public" : ""} (or \`secret update\`, where there is one).`;
