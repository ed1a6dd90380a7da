import { REFUSAL_HEADER } from "../refusal.ts";

const platformFetch = fetch;

/** What the platform says to who has no network at all, in its own words. */
const NO_NETWORK = /not permitted to access the internet/;

const hostOf = ([asked]: Parameters<typeof fetch>): string => {
  const url = asked instanceof Request ? asked.url : String(asked);
  return URL.canParse(url) ? new URL(url).host : "an address";
};

/** A request that was not sent is an error of `fetch`, as a network's; it says what would have it sent. */
async function outwardFetch(...asked: Parameters<typeof fetch>): Promise<Response> {
  const answer = await platformFetch(...asked).catch((thrown: unknown): never => {
    if (!(thrown instanceof Error && NO_NETWORK.test(thrown.message))) throw thrown;
    const host = hostOf(asked);
    throw new TypeError(`this environment has no network: to call ${host}, its definition declares hosts: [${JSON.stringify(host)}]`);
  });
  if (answer.headers.has(REFUSAL_HEADER)) throw new TypeError(await answer.text());
  return answer;
}
globalThis.fetch = outwardFetch as typeof fetch;
