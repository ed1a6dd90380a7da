import { z } from "zod";
import { isPlainText } from "../plain-text.ts";

/** Headers a run adds to its model requests. They are stored in plain text with the run, so none may carry a credential. */

const MAX_HEADERS = 32;
const MAX_VALUE = 2048;
const MAX_STATE_KEY = 128;
/** Characters of a wrong name that its refusal repeats. */
const MAX_SHOWN = 64;
/** A field name of RFC 9110. */
const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/;
/** Visible ASCII with blanks in between: what every server and both runtimes take unchanged. */
const VALUE = /^(?:[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?)?$/;

/** Belong to the connection and the body, which the client makes. */
const TRANSPORT = new Set(
  "host connection content-length content-type content-encoding transfer-encoding accept-encoding te trailer upgrade expect keep-alive range via".split(" "),
);
/** Names whose words say that the value is a secret: `Authorization`, `X-Api-Key`, `Cookie`, `X-Auth-Token`, `Ocp-Apim-Subscription-Key`. */
const CREDENTIAL =
  /(?:^|[-_])(?:authorization|auth|token|secret|password|passwd|credentials?|cookie|jwt|apikey|(?:api|app|access|auth|private|subscription|functions|x)[-_]key)(?:$|[-_])/i;

const CREDENTIAL_ADVICE =
  "would carry a credential, and headers are stored in plain text: make the key a secret or a variable of the service and name that in api_key_var";

/** What is wrong with the name of a header that a run wants to send; null when nothing is. */
export function headerNameProblem(name: string): string | null {
  // The one name that an object cannot hold.
  if (!NAME.test(name) || name === "__proto__") return "is no header name: letters, digits and - only, at most 128";
  if (CREDENTIAL.test(name)) {
    return CREDENTIAL_ADVICE;
  }
  if (TRANSPORT.has(name.toLowerCase()) || /^(?:proxy|sec|cf)-/i.test(name)) return "belongs to the connection or the body and cannot be set";
  return null;
}

/** What servers take as a proof in some header of their own: a token of three parts (JWT), a key as providers begin theirs, a scheme of RFC 9110 with its text. */
const PROOF = /^(?:eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*|(?:sk|pk|rk|pit|gsk|csk|xai|hf|ghp|gho|glpat|nvapi|r8|tgp|pplx|AIza)[-_A-Za-z0-9]{20,})$/;
const SCHEME = /^(?:bearer|basic|token)\s+\S{8,}$/i;

const headerValueProblem = (value: string): string | null => {
  if (!VALUE.test(value) || value.length > MAX_VALUE)
    return `must have at most ${MAX_VALUE} characters of ASCII, no control characters, and no blank at either end`;
  return PROOF.test(value) || SCHEME.test(value) ? CREDENTIAL_ADVICE : null;
};

const stateKeyProblem = (key: string): string | null =>
  key !== "" && key.length <= MAX_STATE_KEY && isPlainText(key) ? null : `must name a state key of 1 to ${MAX_STATE_KEY} characters`;

/** `N: v` → its two halves without blanks around them; null when there is no colon. */
function halves(line: string): readonly [string, string] | null {
  const colon = line.indexOf(":");
  return colon < 0 ? null : [line.slice(0, colon).trim(), line.slice(colon + 1).trim()];
}

/**
 * A table of headers, given as an object or as a list of `"Name: value"` lines, in which a later line wins.
 * Names are compared without case: two spellings of one name would be sent as two values.
 */
function headerTable(valueProblem: (value: string) => string | null, example: string) {
  const lines = z.array(z.string()).max(MAX_HEADERS);
  const table = z.record(z.string(), z.string()).refine((given) => Object.keys(given).length <= MAX_HEADERS, `must have at most ${MAX_HEADERS} entries`);
  return z
    .union([table, lines], { error: `must be an object of texts or a list of ${JSON.stringify(example)}, at most ${MAX_HEADERS}` })
    .transform((given, context): Record<string, string> => {
      const entries = Array.isArray(given)
        ? given.map((line, index) => [index, halves(line)] as const)
        : Object.entries(given).map((pair) => [pair[0], pair] as const);
      const byName = new Map<string, readonly [string, string]>();
      for (const [place, pair] of entries) {
        if (pair === null) {
          context.issues.push({ code: "custom", message: `must be of the form ${JSON.stringify(example)}`, input: given, path: [place] });
          continue;
        }
        const [name, value] = pair;
        const problem = headerNameProblem(name) ?? valueProblem(value);
        if (problem === null) byName.set(name.toLowerCase(), pair);
        else context.issues.push({ code: "custom", message: `${JSON.stringify(name.slice(0, MAX_SHOWN))} ${problem}`, input: given, path: [place] });
      }
      return Object.fromEntries(byName.values());
    });
}

/** Sent with every model request. */
export const staticHeaders = headerTable(headerValueProblem, "Name: value");
/** Header name → state key, whose value is sent when it is not null. */
export const stateHeaderNames = headerTable(stateKeyProblem, "Name: state_key");
