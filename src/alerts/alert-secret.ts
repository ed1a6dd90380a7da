import type { SigningSecrets } from "./signature.ts";

/**
 * What an alert has that nobody is shown: kept among the secrets of its team, encrypted like them, under a name that no environment can have
 * (docs/decisions/secrets-of-teams.md), and so with them when the master key is replaced.
 */
export interface AlertSecret {
  readonly version: 1;
  /** Where it is posted to; null = nowhere: it goes by email. */
  readonly url: string | null;
  /** Of a webhook; null = messages of its kind are not signed. */
  readonly signing: SigningSecrets | null;
}

/** In the place of an environment's name. `id`: of the alert. */
export const alertEnvironment = (id: string): string => `alert:${id}`;
export const ALERT_SECRET_NAME = "ALERT";

/** Everything in it that may stand in no text. The path of an address is as secret as the whole. */
export function hiddenIn({ url, signing }: AlertSecret): readonly string[] {
  const { pathname = "", search = "" } = url === null ? {} : new URL(url);
  const parts = url === null ? [] : [url, `${pathname}${search}`, pathname, ...pathname.split("/"), search.slice(1)];
  const secrets = [signing?.secret, signing?.before?.secret].filter((secret) => secret !== undefined);
  return [...parts.filter((part) => part.length >= 8), ...secrets, ...secrets.map((secret) => secret.slice("whsec_".length))];
}
