import type { ArgumentFacts, EnvironmentFacts } from "../environments/definition/describe.ts";
import type { JsonObject } from "../config/plan/run-config.ts";

/** What the server at the other end said of its environment when the link was made; `source` is what its code was made from. */
export interface LinkedFacts extends EnvironmentFacts {
  readonly source: string;
}

/** A link as its team's Registry knows it, without the token that its server asks for. Times are Unix milliseconds. */
export interface Link {
  readonly name: string;
  /** The command that made it for as long as it works; null = it lasts. A name has at most one that lasts, and one of each command. */
  readonly command: string | null;
  /** Of processes with the same code; at least one, without a slash at the end. */
  readonly urls: readonly string[];
  readonly facts: LinkedFacts;
  readonly linked_at: number;
  readonly linked_by: string;
  /** It lapses then; null = it lasts. */
  readonly lease_until: number | null;
}

/** The same for whoever calls the server. */
export interface SealedLink extends Link {
  /** What the token's encryption is bound to, beside the team. */
  readonly id: string;
  /** The token, encrypted (src/secrets/envelope.ts). */
  readonly sealed: string;
}

export const isLive = ({ lease_until }: Pick<Link, "lease_until">, now: number): boolean => lease_until === null || now < lease_until;

/**
 * Which of the links of one name a run is played with: one with its code (`digest`; null = whichever) before others, one that a command made for its own run before
 * the one that lasts, the newest before older ones. Null where none is live.
 */
export function chosenLink<Each extends Link>(links: readonly Each[], now: number, digest: string | null): Each | null {
  const rank = (link: Each): readonly number[] => [link.facts.source === digest ? 1 : 0, link.command === null ? 0 : 1, link.linked_at];
  const [first] = links.filter((link) => isLive(link, now)).sort((a, b) => descending(rank(a), rank(b)));
  return first ?? null;
}

function descending(a: readonly number[], b: readonly number[]): number {
  for (const [at, one] of a.entries()) {
    const more = (b[at] ?? 0) - one;
    if (more !== 0) return more;
  }
  return 0;
}

/** Arguments with the defaults that the server named, so that a run's digest is known where the server is not reached. */
export const filledArgs = (args: readonly ArgumentFacts[], given: JsonObject): JsonObject => ({
  ...Object.fromEntries(args.flatMap(({ name, default: usual }) => (usual === undefined ? [] : [[name, usual]]))),
  ...given,
});

/** How to bring a link back that is gone or lapsed. */
export const BRING_BACK = (name: string): string =>
  `Start it again with its run: npx edgewise eval run ${name} -R; or link a server that stays: npx edgewise env link ${name} URL.`;
