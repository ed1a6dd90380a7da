import { type Context, Hono } from "hono";
import { isRunId } from "../../../r2-layout/keys.ts";
import { EdgewiseError } from "../../errors/result.ts";
import { LINE_FORMATS } from "../../traces/trace-line.ts";
import { TracesUpload } from "../../traces/traces-upload.ts";
import { portsWith } from "../access/team-of-request.ts";
import type { AppContext } from "../app-context.ts";
import { invalid } from "../errors.ts";
import { readTwice } from "../read-twice.ts";
import { found } from "../runs/run-of.ts";
import { type Announced, PassingTraces, receiveTraces } from "./receive-traces.ts";
import { mustBeKnown, mustBePushed, refusalOf, roomOf, tellRun } from "./taking-in.ts";

/**
 * `/traces`, where `vf-eval` of verifiers 0.4 streams its episodes while it runs: lines of JSON that name the evaluation that they are of, under the digest
 * of their bytes (docs/decisions/episodes-as-they-are.md).
 */
export const traces = new Hono<AppContext>();

/** As `prime-traces` calls an upload by its bytes. */
const KEY = /^sha256:([0-9a-f]{64})$/;
const BUSY_RETRY_S = 10;

traces.post("/", async (c) => {
  const upload = new TracesUpload(c.req.raw.body ?? new ReadableStream({ start: (controller) => controller.close() }), c.req.header("content-type") ?? "");
  try {
    return await taken(c, upload);
  } catch (thrown) {
    await upload.drain();
    throw answerable(refusalOf(thrown));
  }
});

async function taken(c: Context<AppContext>, upload: TracesUpload): Promise<Response> {
  const announced = announcedBy(c);
  const passing = new PassingTraces(upload.bytes(), announced.format);
  const runId = await passing.run();
  if (!isRunId(runId)) throw new EdgewiseError("not_found", "Evaluation not found.");
  const ports = await portsWith(c, runId);
  await c.var.audit.begin(ports);
  c.var.audit.made(runId);
  mustBePushed(
    found(
      await readTwice(
        () => ports.run(runId),
        (run) => run.view(),
      ),
    ),
  );
  const room = await roomOf(ports);
  const refusal = room(0);
  const batch = await receiveTraces(ports.store, runId, passing, { digest: announced.digest, keeps: refusal === null, room });
  if (refusal !== null) await mustBeKnown(ports, runId, batch, refusal);
  const added = refusal === null && (await tellRun(ports, runId, batch, ["traces", "id"]));
  return c.json({ upload_id: announced.digest, status: "committed", samples: batch.samples, added });
}

function announcedBy(c: Context<AppContext>): Announced {
  const type = (c.req.header("content-type") ?? "").split(";")[0]?.trim().toLowerCase();
  if (type !== "multipart/form-data")
    throw new EdgewiseError("not_json", "The body must be multipart/form-data with the parts metadata and traces.", {
      hint: "Send it with prime-traces or prime-runs.",
    });
  const [, digest] = KEY.exec(c.req.header("idempotency-key") ?? "") ?? [];
  if (digest === undefined) throw invalid(["header", "Idempotency-Key"], "must be sha256: and the digest of the lines, in lower-case hex");
  const wanted = c.req.header("x-prime-line-format") ?? "trace";
  const format = LINE_FORMATS.find((known) => known === wanted);
  if (format === undefined) throw invalid(["header", "X-Prime-Line-Format"], `must be one of ${LINE_FORMATS.join(", ")}`);
  return { digest, format };
}

/** Its client takes a 409 for bytes that are wrong, and sends them no more; while files are written it is to try again. */
function answerable(thrown: unknown): unknown {
  if (!(thrown instanceof EdgewiseError) || thrown.code !== "run_busy") return thrown;
  return new EdgewiseError("storage_unavailable", thrown.message, { hint: "Try again in a moment.", retry_after_s: BUSY_RETRY_S });
}
