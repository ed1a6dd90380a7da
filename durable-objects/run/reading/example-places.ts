import type { Ledger } from "../state/ledger.ts";
import { relocated } from "../state/relocated.ts";
import type { ExamplePlaces, PinnedInputs } from "./cells-protocol.ts";
import { placeOf } from "./example-place.ts";
import type { FilePages } from "./file-pages.ts";
import { openRolloutsOf } from "./open-rollouts.ts";

/** Neighbours by the block of the final file: there their rows lie side by side. Places of fewer are looked up in the segments, since a block of the file costs all of its units. */
const NEIGHBOURS = 4;

/** Where the rows of these examples (places in the results) are; others than done ones are left out. */
export async function examplePlaces(
  ledger: Ledger,
  files: FilePages,
  examples: readonly number[],
  pause: () => Promise<boolean>,
): Promise<ExamplePlaces | null> {
  const head = ledger.head();
  if (head === null) return null;
  const wanted = [...new Set(examples)].filter((example) => example < (head.n ?? 0));
  const filed = wanted.length >= NEIGHBOURS * files.blocksOf(wanted) && files.applies(head) ? await files.examples(wanted, pause) : null;
  if (ledger.head() === null) return null;
  return filed ?? inSegments(ledger, wanted);
}

function inSegments(ledger: Ledger, examples: readonly number[]): ExamplePlaces {
  const order = ledger.order.get();
  const { rollouts_per_example: rollouts } = ledger.config();
  const units = examples.map((example) => order.positionOf(example));
  const places = relocated(
    ledger,
    ledger.donesOf(units).map((done) => placeOf(done, order.rankOf(done.unit))),
  );
  const done = new Set(places.map(({ example }) => example));
  const rest = units.filter((_, index) => !done.has(examples[index] ?? -1));
  const open = rest.length === 0 ? null : openRolloutsOf(ledger, rest);
  return {
    rollouts,
    places: places.toSorted((a, b) => (a.segment === b.segment ? a.offset - b.offset : a.segment < b.segment ? -1 : 1)),
    ...(open === null ? {} : { open: { ...open, examples: Object.fromEntries(rest.map((unit) => [unit, order.rankOf(unit)])) } }),
  };
}

export function pinnedInputs(ledger: Ledger): PinnedInputs | null {
  const head = ledger.head();
  if (head === null) return null;
  const order = ledger.order.get();
  return { chunks: ledger.chunksIn({ lo: 0, hi: head.n ?? 0 }), seed: order.seed, parts: order.parts.map(({ lo, hi }) => [lo, hi] as const) };
}
