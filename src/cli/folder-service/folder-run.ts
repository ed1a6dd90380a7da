import type { RunControl } from "../../../durable-objects/run/control.ts";
import type { ColumnsPage, ColumnsRequest, ExamplePlaces, ScanPage } from "../../../durable-objects/run/reading/cells-protocol.ts";
import type { PushControl } from "../../../durable-objects/run/pushed/pushed-protocol.ts";
import type { SamplePage } from "../../../durable-objects/run/control.ts";
import type { MetricDistribution, ErrorPlace } from "../../../durable-objects/run/reading/row-answers.ts";
import { RowValues } from "../../../durable-objects/run/reading/row-values.ts";
import { folderEvents } from "./folder-events.ts";
import { folderView } from "./folder-view.ts";
import type { Folder } from "./folder.ts";
import type { ReadRows } from "./folder-rows.ts";
import { only } from "./refusing.ts";
import { placeOfExample } from "./row-places.ts";

/** Examples and rollouts of one page of numbers, as of a Run. */
const PAGE_EXAMPLES = 4_096;
const PAGE_ROLLOUTS = 32_768;
/** Examples of one page of a search. */
const SCANNED = 4_096;

/** What the door asks of a run, answered of a folder; what would change it is refused. `folder`: null where there is none. */
export function folderRun(folder: Folder | null, now: () => number): RunControl & PushControl {
  const ask =
    <Args extends readonly unknown[], Answer>(answer: (folder: Folder, ...args: Args) => Promise<Answer>) =>
    async (...args: Args): Promise<Answer | null> =>
      folder === null ? null : await answer(folder, ...args);
  return only<RunControl & PushControl>({
    view: ask(async (of) => {
      const rows = await of.look();
      return folderView(of, rows, now());
    }),
    events: async (after, limit) => (folder === null ? [] : (await folderEvents(folder.path)).slice(after, after + limit)),
    logTail: ask(async (of, limit: number) => (await folderEvents(of.path)).slice(-limit)),
    metadata: ask(async (of) => of.facts.metadata),
    columns: ask((of, request: ColumnsRequest) => columnsPage(of, request, now())),
    examplePlaces: ask((of, examples: readonly number[]) => examplePlaces(of, examples)),
    scan: ask((of, from: number, bytes: number) => scanPage(of, from, bytes)),
    pinnedInputs: ask(async () => ({ chunks: [], seed: 0, parts: [] })),
    samples: ask((of, offset: number, limit: number) => samplePage(of, offset, limit)),
    distribution: ask((of, metric: string, bins: number) => distribution(of, metric, bins)),
    firstErrors: ask((of) => firstErrors(of)),
    timeline: ask(async () => "none" as const),
    uploads: async () => ({ digests: [], manifest: null }),
  });
}

async function columnsPage(folder: Folder, { after, from }: ColumnsRequest, now: number): Promise<ColumnsPage> {
  const rows = await folder.look();
  const { index, generation } = rows;
  const rollouts = folder.rolloutsOf(rows);
  const places: number[] = [];
  const most = Math.min(PAGE_EXAMPLES, Math.max(1, Math.floor(PAGE_ROLLOUTS / rollouts)));
  let at = from ?? 0;
  for (; at < index.examples && places.length < most; at++) if (after === null || index.changedAt(at) > after) places.push(at);
  const packed = places.map((example) => index.packedOf(example));
  return {
    generation,
    seq: index.rows,
    examples: index.examples,
    rollouts,
    settled: folder.isSettled(rows, now),
    metrics: index.metrics,
    places,
    ids: places.map((example) => index.idOf(example)),
    missing: places.map((example) => missingText(index.rowsOf(example).length, rollouts)),
    packed,
    open: [],
    next: at < index.examples ? at : null,
  };
}

const missingText = (rows: number, rollouts: number): string | null =>
  rows >= rollouts ? null : JSON.stringify(Array.from({ length: rollouts - rows }, (_, index) => rows + index));

async function examplePlaces(folder: Folder, examples: readonly number[]): Promise<ExamplePlaces> {
  const rows = await folder.look();
  const rollouts = folder.rolloutsOf(rows);
  const there = [...new Set(examples)].filter((example) => example < rows.index.examples);
  const places = there.map((example) => placeOfExample(rows, example, rollouts));
  return { rollouts, places: places.toSorted((a, b) => (a.segment === b.segment ? a.offset - b.offset : a.segment < b.segment ? -1 : 1)) };
}

async function scanPage(folder: Folder, from: number, bytes: number): Promise<ScanPage> {
  const rows = await folder.look();
  const { index } = rows;
  const rollouts = folder.rolloutsOf(rows);
  const places: ScanPage["places"][number][] = [];
  let named = 0;
  let at = from;
  for (; at < index.examples && places.length < SCANNED; at++) {
    const place = placeOfExample(rows, at, rollouts);
    if (places.length > 0 && named + place.length > bytes) break;
    places.push(place);
    named += place.length;
  }
  return { rollouts, places, next: at < index.examples ? at : null };
}

async function samplePage(folder: Folder, offset: number, limit: number): Promise<SamplePage> {
  const rows = await folder.look();
  const { index } = rows;
  const count = Math.max(0, Math.min(limit, index.rows - offset));
  const places: SamplePage["places"][number][] = [];
  let [skip, passed] = [0, 0];
  for (let example = 0; count > 0 && passed < offset + count; example++) {
    const { length } = index.rowsOf(example);
    if (passed + length > offset) {
      if (places.length === 0) skip = offset - passed;
      const { segment, offset: start, length: bytes } = placeOfExample(rows, example, length);
      places.push({ unit: example, segment, offset: start, length: bytes, rows: length });
    }
    passed += length;
  }
  return { total: index.rows, skip, count, places };
}

/** Of each folder that somebody looks at: the rows are gone through anew when there are others. */
const counted = new WeakMap<ReadRows, { readonly rows: number; readonly values: RowValues }>();

function valuesOf(rows: ReadRows): RowValues {
  const known = counted.get(rows);
  if (known !== undefined && known.rows === rows.index.rows) return known.values;
  const values = new RowValues();
  for (let unit = 0; unit < rows.index.examples; unit++) values.add({ unit, rollouts: rows.index.summariesOf(unit) }, unit);
  counted.set(rows, { rows: rows.index.rows, values });
  return values;
}

async function distribution(folder: Folder, metric: string, bins: number): Promise<MetricDistribution | { readonly metrics: readonly string[] }> {
  const values = valuesOf(await folder.look());
  return values.distribution(metric, bins) ?? { metrics: values.metrics };
}

async function firstErrors(folder: Folder): Promise<readonly ErrorPlace[]> {
  const rows = await folder.look();
  const values = valuesOf(rows);
  return Object.keys(rows.index.totals.errors).flatMap((code) => {
    const first = values.first(code);
    if (first === null) return [];
    const { segment, offset, length } = placeOfExample(rows, first.example, 0);
    return [{ code, ...first, segment, offset, length }];
  });
}
