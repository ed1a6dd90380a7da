/** What one grant counts of a limit, and what its executor could carry of it. */
export interface Part {
  readonly held: number;
  readonly room: number;
}

/** Of a run without a limit a grant has half of what its executor could carry, the rest is left to others. */
const unlimited = ({ held, room }: Part): number => Math.max(held, Math.ceil(room / 2));

/**
 * A limit among live grants, in their order: what it leaves above what they hold goes to them as evenly as they can carry it; where they hold more than there
 * is, each keeps its part in proportion, perhaps nothing. Together never more than the limit. `limit` Infinity = none.
 */
export function divide(limit: number, parts: readonly Part[]): readonly number[] {
  if (!Number.isFinite(limit)) return parts.map(unlimited);
  const held = parts.reduce((sum, part) => sum + part.held, 0);
  return held > limit ? lessened(limit, parts, held) : raised(limit - held, parts);
}

function raised(free: number, parts: readonly Part[]): readonly number[] {
  // Who can carry least is served first, so that the others have what that leaves.
  const order = parts.map((_, at) => at).sort((a, b) => spare(parts[a]) - spare(parts[b]));
  const shares = parts.map(({ held }) => held);
  let left = free;
  for (const [served, at] of order.entries()) {
    const more = Math.min(spare(parts[at]), Math.ceil(left / (order.length - served)));
    shares[at] = (shares[at] ?? 0) + more;
    left -= more;
  }
  return shares;
}

const spare = (part: Part | undefined): number => (part === undefined ? 0 : Math.max(0, part.room - part.held));

function lessened(limit: number, parts: readonly Part[], held: number): readonly number[] {
  const exact = parts.map((part) => (part.held * limit) / held);
  const shares = exact.map(Math.floor);
  let left = limit - shares.reduce((sum, share) => sum + share, 0);
  const byRest = exact.map((share, at) => ({ at, rest: share - Math.floor(share) })).sort((a, b) => b.rest - a.rest || a.at - b.at);
  for (const { at, rest } of byRest) {
    if (left === 0 || rest === 0) break;
    shares[at] = (shares[at] ?? 0) + 1;
    left--;
  }
  return shares;
}
