import { sentTraces } from "../../../test/support/door/traces-upload.ts";
import { startService, type Workplace } from "../../edgewise-process.ts";
import { settled } from "../../http-run.ts";
import type { Measure } from "../../measure.ts";
import type { Scenario } from "../../scenario.ts";

const MIB = 1024 * 1024;
/** As the clients cut batches, and how many of them they send at once. */
const BATCH_BYTES = 25 * MIB;
const AT_ONCE = 4;
const SMALL = 3;
const LARGE = 12;
const ROLLOUTS = 4;
/** Batches are not sent in the order of what is in them. */
const STRIDE = 7;
const LOOK_MS = 250;

/** An evaluation that was made elsewhere, handed in as the clients do: door and executor, which are one process here, must not hold more of a larger one. */
export const pushing: Scenario = async (places) => {
  const few = await pushed(places("pushing-few"), SMALL, SAMPLES);
  const many = await pushed(places("pushing-many"), LARGE, SAMPLES);
  const traces = await pushed(places("pushing-traces"), LARGE, TRACES);
  const measure = (name: string, value: number, unit: string): Measure => ({ scenario: "pushing", name, value, unit });
  return [
    measure(`${many.rows} rows in ${mib(LARGE)}, ${AT_ONCE} batches at once: sent`, (LARGE * BATCH_BYTES) / MIB / many.sentSeconds, "MiB/s"),
    measure(`${mib(LARGE)}: from the first batch until it has settled`, many.seconds, "s"),
    measure("runtime before anything", many.before / MIB, "MiB"),
    measure(`runtime at its highest, ${mib(SMALL)}`, few.peak / MIB, "MiB"),
    measure(`runtime at its highest, ${mib(LARGE)}`, many.peak / MIB, "MiB"),
    { ...measure(`highest of ${mib(LARGE)} beside that of ${mib(SMALL)}`, many.peak / few.peak, "ratio"), target: { at_most: 1.3 } },
    measure(`${traces.rows} episodes in ${mib(LARGE)}, gzipped, ${AT_ONCE} uploads at once: sent`, (LARGE * BATCH_BYTES) / MIB / traces.sentSeconds, "MiB/s"),
    measure(`${mib(LARGE)} of episodes: from the first upload until it has settled`, traces.seconds, "s"),
    { ...measure(`highest of ${mib(LARGE)} of episodes beside that of ${mib(LARGE)} of samples`, traces.peak / many.peak, "ratio"), target: { at_most: 1.3 } },
  ];
};

const mib = (batches: number): string => `${(batches * BATCH_BYTES) / MIB} MiB`;

/** How rows are sent: as `prime eval push` does, or as `vf-eval` of verifiers 0.4. */
interface Form {
  row(row: number, evaluation: string): string;
  send(url: string, evaluation: string, rows: readonly string[]): Promise<unknown>;
}

interface Cost {
  readonly rows: number;
  readonly sentSeconds: number;
  readonly seconds: number;
  /** Resident memory of the runtime in bytes. */
  readonly before: number;
  readonly peak: number;
}

async function pushed(place: Workplace, batches: number, form: Form): Promise<Cost> {
  const service = await startService(place);
  try {
    const before = service.memory();
    const body = JSON.stringify({ name: "large", environments: [{ id: "elsewhere" }], model_name: "m" });
    const { evaluation_id: id } = (await post(`${service.url}/api/v1/evaluations/`, body)) as { evaluation_id: string };
    const perBatch = Math.floor(BATCH_BYTES / (form.row(batches * BATCH_BYTES, id).length + 1));
    const began = performance.now();
    let next = 0;
    const send = async (): Promise<void> => {
      for (let at = next++; at < batches; at = next++) {
        const batch = (at * STRIDE) % batches;
        const rows = Array.from({ length: perBatch }, (_, row) => form.row(batch * perBatch + row, id));
        await form.send(service.url, id, rows);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, send));
    const sentSeconds = (performance.now() - began) / 1000;
    await post(`${service.url}/api/v1/evaluations/${id}/finalize`, "{}");
    const { status, total_samples } = (await settled(service.url, id, LOOK_MS)) as unknown as { status: string; total_samples: number };
    const rows = batches * perBatch;
    if (status !== "COMPLETED" || total_samples !== rows) throw new Error(`${status} with ${total_samples} of ${rows} samples`);
    return { rows, sentSeconds, seconds: (performance.now() - began) / 1000, before, peak: service.peakMemory() };
  } finally {
    await service.close();
  }
}

async function post(
  url: string,
  body: string | Uint8Array,
  headers: Readonly<Record<string, string>> = { "content-type": "application/json" },
): Promise<unknown> {
  const response = await fetch(url, { method: "POST", headers, body: body as string | Uint8Array<ArrayBuffer> });
  if (!response.ok) throw new Error(`${url}: ${response.status} ${await response.text()}`);
  return response.json();
}

const question = (row: number): string => `what is ${row}? ${"lorem ipsum ".repeat(60)}`;
const answer = (row: number): string => `${"dolor sit amet ".repeat(180)}${row}`;

/** Some 3.6 KB each, as an episode a little more. */
const SAMPLES: Form = {
  row: (row) =>
    JSON.stringify({
      example_id: Math.floor(row / ROLLOUTS),
      prompt: [{ role: "user", content: question(row) }],
      completion: [{ role: "assistant", content: answer(row) }],
      reward: row % 2,
      metrics: { correct: row % 2, length: row % 100 },
      error: null,
      info: { row },
    }),
  send: (url, id, rows) => post(`${url}/api/v1/evaluations/${id}/samples`, `{"samples":[${rows.join(",")}]}`),
};

const TRACES: Form = {
  row: (row, id) => {
    const task = { type: "Sum", data: { idx: Math.floor(row / ROLLOUTS) } };
    const nodes = [
      { message: { role: "user", content: question(row) }, sampled: false },
      { parent: 0, message: { role: "assistant", content: answer(row) }, sampled: true },
    ];
    const rewards = { correct: { score: row % 2, weight: 1 } };
    const trace = { id: `t${row}`, task, agent: { trainable: true }, nodes, rewards, metrics: { length: row % 100 }, is_completed: true };
    return JSON.stringify({ id: `e${row}`, task, run: { type: "eval", id }, ok: true, errors: [], traces: [trace] });
  },
  send: async (url, _, rows) => {
    const { headers, body } = await sentTraces(`${rows.join("\n")}\n`);
    return await post(`${url}/api/v1/traces`, body, headers);
  },
};
