import { mask } from "../../errors/masking.ts";
import { isPassing } from "../../errors/passing.ts";
import { EdgewiseError, failureOf } from "../../errors/result.ts";
import { MAX_LINK_FACTS_BYTES } from "../../limits.ts";
import type { LinkedFacts, SealedLink } from "../../links/link.ts";
import type { AppPorts } from "../app-ports.ts";
import { unwrap } from "../errors.ts";
import type { LinkHealth } from "./link-schemas.ts";

/** What to do where a server is not as it should be. */
const START = "Is it running, and does this address lead to it? `python -m edgewise_env NAME` starts one (docs/linked-environments.md).";

/** What the servers of a link say of their environment, all the same. Throws `environment_failed`, which names the server that does not answer, or says something else. */
export async function agreedFacts(ports: AppPorts, urls: readonly string[], token: string): Promise<LinkedFacts> {
  const all = await ports.hiding([token], () =>
    Promise.all(
      urls.map(async (url) => {
        try {
          return { url, facts: await ports.describeServer({ url, token }) };
        } catch (thrown) {
          const { message, hint } = failureOf(thrown);
          throw new EdgewiseError("environment_failed", mask(message.includes(url) ? message : `${url}: ${message}`), { cause: thrown, hint: hint ?? START });
        }
      }),
    ),
  );
  const [first, ...others] = all;
  if (first === undefined) throw new EdgewiseError("invalid_request", "A link names at least one server.");
  const name = ({ id, version, source }: LinkedFacts): string => `${id} ${version} (${source.slice(0, 12)})`;
  const other = others.find(({ facts }) => name(facts) !== name(first.facts) || facts.source !== first.facts.source);
  const bytes = new TextEncoder().encode(JSON.stringify(first.facts)).byteLength;
  if (bytes > MAX_LINK_FACTS_BYTES)
    throw new EdgewiseError("environment_failed", `What ${first.url} says of its environment is ${bytes} bytes; at most ${MAX_LINK_FACTS_BYTES} are stored.`);
  if (other === undefined) return first.facts;
  throw new EdgewiseError(
    "environment_failed",
    `The servers of a link have the same code: ${first.url} has ${name(first.facts)}, ${other.url} has ${name(other.facts)}.`,
    { hint: "Bring the same version to all of them, or link them under two names." },
  );
}

/** How each server of a link is now, and whether it has the code that was linked. */
export async function healthOfLink(ports: AppPorts, { urls, facts, name, ...link }: SealedLink): Promise<readonly LinkHealth[]> {
  const token = unwrap(await ports.tokenOf({ urls, facts, name, ...link }));
  return ports.hiding([token], () => Promise.all(urls.map((url) => healthOf(ports, { url, token }, { facts, name }))));
}

async function healthOf(
  ports: AppPorts,
  server: Parameters<AppPorts["healthOf"]>[0],
  { facts, name }: Pick<SealedLink, "facts" | "name">,
): Promise<LinkHealth> {
  const { url } = server;
  const health = await ports.healthOf(server);
  const told = { ...health, problem: health.problem === null ? null : mask(health.problem) };
  if (health.state !== "healthy") return { url, ...told };
  try {
    const { source, version } = await ports.describeServer(server);
    if (source === facts.source) return { url, ...told };
    const problem = `It has other code than was linked: version ${version}, ${source.slice(0, 20)}, not ${facts.version}, ${facts.source.slice(0, 20)}. \`npx edgewise env link ${name} ${url}\` takes it; runs that began with the other code go on with --accept-code-change.`;
    return { url, ...told, state: "other_code", problem: mask(problem) };
  } catch (thrown) {
    return { url, ...told, state: isPassing(thrown) ? "unreachable" : "refused", problem: mask(failureOf(thrown).message) };
  }
}
