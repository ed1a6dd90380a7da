import type { OpenRollouts } from "../control.ts";
import type { Piece } from "../protocol.ts";
import type { RunHead } from "../state/head.ts";
import type { Ledger } from "../state/ledger.ts";

/** Those among the generated rollouts of unfinished units that follow the first `skip`, at most `limit`, in the order of units and rollouts; null where there are none at all. */
export function openRollouts(ledger: Ledger, skip: number, limit: number): OpenRollouts | null {
  const head = ledger.head();
  const total = head === null ? 0 : ledger.keptRollouts();
  if (head === null || total === 0) return null;
  const pieces = partOf(ledger.piecesIn({ lo: 0, hi: head.n ?? 0 }), skip, limit);
  return { total, pieces, ...madeWith(ledger, head, pieces) };
}

/** All of these units; null where there are none. */
export function openRolloutsOf(ledger: Ledger, units: readonly number[]): OpenRollouts | null {
  const head = ledger.head();
  const pieces = units.flatMap((unit) => partOf(ledger.piecesIn({ lo: unit, hi: unit + 1 }), 0, Number.POSITIVE_INFINITY));
  if (head === null || pieces.length === 0) return null;
  return { total: pieces.reduce((sum, { rollouts }) => sum + rollouts.length, 0), pieces, ...madeWith(ledger, head, pieces) };
}

/** What rows are made with of these pieces. */
function madeWith(ledger: Ledger, head: RunHead, pieces: readonly Piece[]): Omit<OpenRollouts, "total" | "pieces"> {
  const { state_columns, results_shape } = ledger.config();
  const units = [...new Set(pieces.map(({ unit }) => unit))];
  const chunks = new Map(units.flatMap((unit) => ledger.chunksIn({ lo: unit, hi: unit + 1 })).map((chunk) => [chunk.digest, chunk]));
  return {
    chunks: [...chunks.values()],
    tools: head.tools ?? [],
    ...(head.env_digest === null ? {} : { code: head.env_digest }),
    state_columns,
    results_shape,
  };
}

function partOf(pieces: readonly Piece[], skip: number, limit: number): Piece[] {
  const each = pieces.flatMap((piece) => piece.rollouts.map((rollout) => ({ piece, rollout })));
  each.sort((a, b) => a.piece.unit - b.piece.unit || a.rollout - b.rollout);
  const wanted = new Map<Piece, number[]>();
  for (const { piece, rollout } of each.slice(skip, skip + limit)) {
    const known = wanted.get(piece);
    if (known === undefined) wanted.set(piece, [rollout]);
    else known.push(rollout);
  }
  return [...wanted].map(([{ begun: _, unscored: __, ...piece }, rollouts]) => ({ ...piece, rollouts }));
}
