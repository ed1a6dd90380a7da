import type { runStub } from "../../durable-objects/stubs.ts";
import { type Grant, PROTOCOL } from "../../durable-objects/run/protocol.ts";
import { planReads } from "../../r2-layout/results-window.ts";
import { mergeSegments } from "../../src/executor/merge.ts";
import type { ExecutorPorts } from "../../src/executor/ports.ts";
import { Slice } from "../../src/executor/slice.ts";
import type { FinalReads, Merges } from "./load.ts";

type RunStub = ReturnType<typeof runStub>;

const UNLIMITED = Number.POSITIVE_INFINITY;
const NO_SLICE = { slice: UNLIMITED, wanted: UNLIMITED, wall: UNLIMITED, rollouts: UNLIMITED, subrequests: UNLIMITED } as ConstructorParameters<
  typeof Slice
>[0];

async function grantOf(run: RunStub, executor: string, boot: string, kind: Grant["task"]["kind"]): Promise<Grant> {
  const answer = await run.join({ protocol: PROTOCOL, executor, seq: 1, free: 5, boot, checks_code: true, merges: true });
  if (answer.kind !== "grant" || answer.task.kind !== kind) throw new Error(`${answer.kind} instead of a grant to ${kind}`);
  return answer;
}

/** Merges all that is to be merged, of rows that are counted and not there. */
export async function mergeAll(run: RunStub, boot: string): Promise<Merges> {
  const from = Date.now();
  let [reads, puts, bytes] = [0, 0, 0];
  const store = {
    read: async (_key: string, _offset: number, length: number) => {
      reads++;
      bytes += length;
      return new Uint8Array(length);
    },
    create: async () => {
      puts++;
      return "stored";
    },
  };
  const ports = { run: () => run, store, log: console.warn } as unknown as ExecutorPorts;
  const grant = await grantOf(run, "merging", boot, "merge");
  await mergeSegments(ports, grant, new AbortController().signal, new Slice(NO_SLICE, Date.now));
  await run.leave({ protocol: PROTOCOL, ticket: grant.ticket, epoch: grant.epoch });
  return { reads, puts, bytes, ms: Date.now() - from };
}

/** Ends the run, and counts the reads that its final file takes. */
export async function finalReads(run: RunStub, boot: string): Promise<FinalReads> {
  await run.cancel();
  const { ticket, epoch } = await grantOf(run, "finishing", boot, "finalise");
  const id = { protocol: PROTOCOL, ticket, epoch } as const;
  await run.upload({ ...id, upload_id: "u" });
  const from = Date.now();
  let [reads, parts] = [0, 0];
  for (;;) {
    const window = await run.window(id);
    if (window.kind !== "part") return { reads, parts, ms: Date.now() - from };
    reads += planReads(window.pointers, window.skip, window.bytes).length;
    parts++;
    await run.part({ ...id, part: window.part, etag: String(parts) });
  }
}
