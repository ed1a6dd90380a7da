import { parseUrl } from "../../../config/endpoints/addresses.ts";

/** Where a link of a text leads. */
export interface OutsideLink {
  readonly href: string;
  /** Where it goes, as the browser reads it: `xn--` where letters only look like others. For `mailto:` the address. */
  readonly host: string;
}

const ALLOWED: readonly string[] = ["http:", "https:", "mailto:"];
/** A longer address is shown to nobody whole, so nobody can say yes to it. */
const MOST_CHARACTERS = 2_000;

/** A link that may be opened, by a click on a question that shows its host; null for any other (scripts, data, relative ones, those with a name and password before the host). */
export function outsideLink(address: string): OutsideLink | null {
  if (address.length > MOST_CHARACTERS) return null;
  const url = parseUrl(address);
  if (url === null || !ALLOWED.includes(url.protocol) || url.username !== "" || url.password !== "") return null;
  const host = url.protocol === "mailto:" ? url.pathname : url.host;
  return host === "" ? null : { href: url.href, host };
}

/** Of what is not loaded: its host, else its kind. */
export function addressText(address: string): string {
  const url = parseUrl(address.slice(0, MOST_CHARACTERS));
  return url === null ? "relative address" : url.host === "" ? url.protocol.slice(0, 40) : url.host;
}
