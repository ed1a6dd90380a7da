import { type Context, Hono } from "hono";
import type { ColumnsPage } from "../../../durable-objects/run/reading/cells-protocol.ts";
import { unpackUnit } from "../../../r2-layout/done-codec.ts";
import { columnsBlock, type ColumnsEnd, columnsHead, type ColumnsLine, type ExampleId, type ExampleNumbers } from "../../cells/column-lines.ts";
import { readColumns, usualColumns } from "../../cells/column-names.ts";
import type { RolloutSummary } from "../../metrics/rollout-summary.ts";
import { streamOf } from "../../stream-of.ts";
import type { AppContext } from "../app-context.ts";
import { check } from "../body.ts";
import { invalid, unwrap } from "../errors.ts";
import { found, runIdOf } from "../runs/run-of.ts";
import { columnsQuery } from "./cell-schemas.ts";
import { ExampleIds } from "./example-ids.ts";
import { askRun } from "./ask-run.ts";

/** `/evaluations/{id}/columns`: the numbers of a run for a grid. A page of the Run is held at a time. */
export const columns = new Hono<AppContext>();

/** Pages of one answer: a million examples, and no more calls than an invocation may make. */
const MOST_PAGES = 256;

interface Question {
  readonly names: readonly string[] | null;
  readonly after: number | null;
}

columns.get("/:id/columns", async (c) => {
  const { names, after = null, from = null } = check(columnsQuery, c.req.query(), "query");
  const wanted = names === undefined ? null : readColumns(names);
  if (typeof wanted === "string") throw invalid(["query", "names"], wanted);
  // The first page is there before the status is sent: what cannot be read is then an error, not half an answer.
  const first = found(await askRun(c, (run) => run.columns({ after, from })));
  return c.body(streamOf(textOf(linesOf(c, { names: wanted, after }, first))), 200, { "content-type": "application/x-ndjson", "cache-control": "no-store" });
});

async function* textOf(lines: AsyncGenerator<ColumnsLine>): AsyncGenerator<string> {
  for await (const line of lines) yield `${JSON.stringify(line)}\n`;
}

async function* linesOf(c: Context<AppContext>, { names, after }: Question, first: ColumnsPage): AsyncGenerator<ColumnsLine> {
  const { generation, seq, examples, rollouts, settled, metrics } = first;
  const shown = names ?? usualColumns(metrics);
  yield columnsHead({ generation, seq, examples, rollouts, settled, columns: shown, metrics });
  const ids = new IdsOfRun(c);
  let page = first;
  let open = page.open;
  for (let pages = 1; ; pages++) {
    if (page.places.length > 0) yield columnsBlock(numbersOf(page, page.ids ?? (await ids.of(page.places))), rollouts, shown);
    open = page.open;
    if (page.next === null || pages === MOST_PAGES) break;
    const next = await askRun(c, (run) => run.columns({ after, from: page.next }));
    // Deleted, resumed or opened again meanwhile: what was told is of before, and nothing says that it is whole.
    if (next === null || next.generation !== generation || next.rollouts !== rollouts) return;
    page = next;
  }
  if (open.length > 0) yield { kind: "open", places: open };
  const end: ColumnsEnd = { kind: "end", seq, next: page.next };
  yield end;
}

/** What is packed is several times as large unpacked: an example at a time is. */
function* numbersOf({ places, packed, missing, metrics }: ColumnsPage, ids: readonly ExampleId[]): Iterable<ExampleNumbers> {
  const ascending = places.map((_, index) => index).sort((a, b) => (places[a] ?? 0) - (places[b] ?? 0));
  for (const index of ascending) {
    const rollouts = withHoles(unwrap(unpackUnit(packed[index] ?? "", metrics)), missing[index] ?? null);
    yield { example: places[index] ?? 0, id: ids[index] ?? null, rollouts };
  }
}

function withHoles(present: readonly RolloutSummary[], missing: string | null): readonly (RolloutSummary | null)[] {
  if (missing === null) return present;
  const rollouts: (RolloutSummary | null)[] = [...present];
  for (const index of JSON.parse(missing) as number[]) rollouts.splice(index, 0, null);
  return rollouts;
}

/** Asked for at the first example that nobody pushed. */
class IdsOfRun {
  readonly #c: Context<AppContext>;
  #ids: Promise<ExampleIds> | null = null;

  constructor(c: Context<AppContext>) {
    this.#c = c;
  }

  async of(examples: readonly number[]): Promise<readonly ExampleId[]> {
    this.#ids ??= this.#inputs();
    return (await this.#ids).of(examples);
  }

  async #inputs(): Promise<ExampleIds> {
    const inputs = found(await askRun(this.#c, (run) => run.pinnedInputs()));
    return new ExampleIds(this.#c.var.ports.store, runIdOf(this.#c), inputs);
  }
}
